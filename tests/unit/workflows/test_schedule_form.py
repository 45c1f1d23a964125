"""The key `schedule:` of a workflow: accepted forms and mistakes."""

from pathlib import Path

import pytest

from gofer.values.schedules.nominal_times import expression, zone_name
from gofer.values.schedules.planned import planned
from gofer.workflows.form import fill
from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.yaml_source import read_source


@pytest.mark.parametrize(
    ("text", "told", "zone", "catch_up"),
    [
        ('cron: "0 9 ? * MON *"', "cron(0 9 ? * MON *)", "UTC", False),
        ("cron: 0 9 * * 1", "cron(0 9 ? * MON *)", "UTC", False),
        ("{cron: 0 9 ? * MON *, zone: Europe/Berlin}", "cron(0 9 ? * MON *)", "Europe/Berlin", False),
        ("{every: 10 minutes, missed: catch_up}", "rate(10 minutes)", "UTC", True),
        ("{at: 2026-12-01T09:00, zone: Asia/Tokyo, missed: skip}", "at(2026-12-01T09:00:00)", "Asia/Tokyo", False),
        ("{every: 2 weeks, first: 2026-01-05T09:00}", "cron(0 9 ? * MON *)", "UTC", False),
        ("{every: 3 days, first: 2026-01-05 09:30, zone: Asia/Tokyo}", "cron(30 9 * * ? *)", "Asia/Tokyo", False),
        ("{every: 5 hours, first: 2026-01-05T09:00, zone: Asia/Tokyo}", "rate(5 hours)", "Asia/Tokyo", False),
        ("every: 2 weeks", "rate(14 days)", "UTC", False),
        ("at: 2026-12-01 09:00:00", "at(2026-12-01T09:00:00)", "UTC", False),
    ],
)
def test_schedule_key_is_compiled_to_the_schedule_that_fires(
    tmp_path: Path, text: str, told: str, zone: str, catch_up: bool
) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(text)
    form, mistakes = fill(read_source(path), ScheduleForm)
    assert form is not None, mistakes
    plan = planned("w", form.compiled())
    assert (expression(plan.schedule), zone_name(plan.schedule), plan.catch_up) == (told, zone, catch_up)
    assert plan.schedule == form.schedule()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "zone: UTC",
            "1:1: A schedule has exactly one of `cron`, `every` and `at`. Write `schedule: {every: 10 minutes}`.",
        ),
        ("{every: 1 hour, at: 2026-12-01T09:00}", "1:1: A schedule has exactly one of `cron`, `every` and `at`."),
        ("{every: 1 day, zone: UTC}", "1:1: An interval without a first time is the same in every time zone."),
        ("{cron: 0 9 * * 1, first: 2026-01-05T09:00}", "1:1: `first` is the first time of an interval. Write it with"),
        ("{every: 2 weeks, first: Monday}", "1:1: `Monday` is not a date and time. Write `2026-12-01T09:00`"),
        (
            "{every: 2 weeks, from: 2026-01-05T09:00}",
            "1:18: `from` is not a key here. Write `first`, the first time of",
        ),
        ("every: 2 months", "1:1: `2 months` is not an interval, because months differ in length. Write a cron, such"),
        ("every: 5 months", "1:1: `5 months` is not an interval, because months differ in length. Write a cron, such"),
        ("cron: 0 9 ? * MONDAY *", "1:1: The day of the week cannot be `MONDAY`. Write a value of 1-7 or SUN-SAT"),
        ("cron: 0 9 1 * 1", "1:1: The day of the month and the day of the week are both restricted."),
        ("{cron: 0 9 ? * MON *, zone: Berlin}", "1:1: `Berlin` is not a time zone of the IANA database. Write `Eu"),
        ("every: often", "1:1: `often` is not an interval. Write `10 minutes`, `1 hour`, `7 days` or"),
        ("every: 10", "1:8: `every` is the number `10`, not text."),
        ("at: tomorrow", "1:1: `tomorrow` is not a date and time."),
        ("{every: 1 day, missed: catch-up}", "1:24: `missed` cannot be `catch-up`. Write `catch_up`."),
        ("every: 1 day\nuntil: 2027", "2:1: `until` is not a key here."),
    ],
)
def test_schedule_key_mistake_is_reported_at_the_place(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(text)
    form, mistakes = fill(read_source(path), ScheduleForm)
    assert form is None
    assert [str(mistake).removeprefix(f"{path}:")[: len(line)] for mistake in mistakes] == [line]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('cron: "0 9 */14 * *"', "`*/14` in the day of the month means 1, 15, 29, and starts again with 1."),
        ('cron: "0 9 1/14 * ? *"', "`1/14` in the day of the month means 1, 15, 29, and starts again with 1."),
        ('cron: "0 9 */2 * *"', "`*/2` in the day of the month means 1, 3, 5, …, 31, and starts again with 1."),
        ('cron: "0 9 1,*/31 * *"', "`*/31` in the day of the month means 1, and starts again with 1."),
        ('cron: "0 */5 * * *"', "`*/5` in the hours means 0, 5, 10, 15, 20, and starts again with 0."),
        ('cron: "*/7 * * * *"', "`*/7` in the minutes means 0, 7, 14, …, 56, and starts again with 0."),
        ('cron: "0 9 1 */5 *"', "`*/5` in the month means JAN, JUN, NOV, and starts again with JAN."),
        ('cron: "0 9 * * */2"', "`*/2` in the day of the week means SUN, TUE, THU, SAT, and starts again with SUN."),
        ("every: 14 days", "`14 days` is counted on a Thursday at 00:00 UTC."),
        ("every: 2 days", "`2 days` is counted from Thursday, 1970-01-01 at 00:00 UTC."),
        ('cron: "*/15 */6 * */3 */7"', ""),
        ('cron: "0/20 0/12 1 1/2 ? *"', ""),
        ('cron: "0 9-17/3 1-31 * *"', ""),
        ("{every: 14 days, first: 2026-01-05T09:00}", ""),
        ("every: 1 day", ""),
        ("at: 2026-12-01T09:00", ""),
    ],
)
def test_step_that_the_end_of_its_field_cuts_short_gets_a_hint(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(text)
    form, mistakes = fill(read_source(path), ScheduleForm)
    assert form is not None, mistakes
    hints = list(form.uneven())
    assert [message for message, _ in hints] == [said][: len(said)]
    assert all(hint.endswith(".") for _, hint in hints)
