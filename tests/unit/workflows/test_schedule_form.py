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
        ("{every: 1 day, zone: UTC}", "1:1: An interval is the same in every time zone."),
        ("cron: 0 9 ? * MONDAY *", "1:1: The day of the week cannot be `MONDAY`. Write a value of 1-7 or SUN-SAT"),
        ("cron: 0 9 1 * 1", "1:1: The day of the month and the day of the week are both restricted."),
        ("{cron: 0 9 ? * MON *, zone: Berlin}", "1:1: `Berlin` is not a time zone. Write one such as `Europe/Berlin`"),
        ("every: often", "1:1: `often` is not an interval. Write `10 minutes`, `1 hour` or `7 days`."),
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
