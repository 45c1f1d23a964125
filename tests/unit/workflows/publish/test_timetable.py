"""EventBridge Scheduler entries for the schedules of workflows."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.schedules.nominal_times import Kind, next_after, parse
from gofer.values.schedules.planned import HEARD, NOT_COUNTED, RETRIED, Planned, fired, planned
from gofer.workflows.publish.timetable import Entry, changes, clear, entry_of, write
from support.workflows.publishing import MemoryTimetable

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 21, 12, 3, tzinfo=UTC)


def plan(kind: Kind, text: str, zone: str = "UTC", *, catch_up: bool = False, workflow: str = "digest") -> Planned:
    return Planned(workflow, parse(kind, text, zone), catch_up)


@pytest.mark.parametrize(
    ("planned", "expression", "zone", "starts"),
    [
        (plan("cron", "0 9 ? * MON-FRI *", "Europe/Berlin"), "cron(0 9 ? * MON-FRI *)", "Europe/Berlin", None),
        (plan("cron", "0 9 * * 5-7"), "cron(0 9 ? * SUN,FRI,SAT *)", "UTC", None),
        (plan("cron", "0 9 ? * MON#1 *"), "cron(0 9 ? * 2#1 *)", "UTC", None),
        (plan("every", "10 minutes"), "rate(10 minutes)", "UTC", datetime(2026, 11, 21, 12, 10, tzinfo=UTC)),
        (plan("every", "1 day"), "rate(1 day)", "UTC", datetime(2026, 11, 22, tzinfo=UTC)),
        (plan("at", "2026-12-01T09:00", "Asia/Tokyo"), "at(2026-12-01T09:00:00)", "Asia/Tokyo", None),
    ],
)
def test_schedule_entry_has_expression_zone_and_start(
    planned: Planned, expression: str, zone: str, starts: datetime | None
) -> None:
    entry = entry_of(planned, NOW)
    assert (entry.expression, entry.zone, entry.starts) == (expression, zone, starts)
    told = {"workflow": "digest", "schedule": planned.id, "at": "<aws.scheduler.scheduled-time>"}
    assert json.loads(entry.input) == told


def test_schedule_entry_retries_for_a_day_only_when_missed_times_are_caught_up() -> None:
    assert entry_of(plan("every", "1 hour"), NOW).seconds == 90
    assert entry_of(plan("every", "1 hour", catch_up=True), NOW).seconds == 86_400


@given(st.text("abcxyz-09", min_size=1, max_size=200), st.integers(1, 400))
def test_schedule_entry_name_is_valid_and_unique(workflow: str, minutes: int) -> None:
    name = entry_of(plan("every", f"{minutes} minutes", workflow=workflow), NOW).name
    assert len(name) <= 64
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz-0123456789")
    others = [
        plan("every", f"{minutes + 1} minutes", workflow=workflow),
        plan("every", "1 day", workflow=workflow + "x"),
    ]
    assert name not in [entry_of(other, NOW).name for other in others]


async def settle(timetable: MemoryTimetable, *plans: Planned, now: datetime = NOW) -> tuple[int, int, int]:
    found = await changes(plans, timetable, now)
    await write(found, timetable)
    await clear(found, timetable)
    return len(found.added), len(found.changed), len(found.removed)


async def test_schedule_entry_edited_by_hand_is_corrected() -> None:
    timetable, daily = MemoryTimetable(), plan("cron", "0 9 * * ? *")
    assert await settle(timetable, daily) == (1, 0, 0)
    assert await settle(timetable, daily) == (0, 0, 0)
    (name,) = timetable.entries
    timetable.entries[name] = Entry(name, "cron(0 10 * * ? *)", "UTC", "{}", 60)
    timetable.entries["by-hand"] = timetable.entries[name]
    assert await settle(timetable, daily) == (0, 1, 1)
    assert timetable.entries == {name: entry_of(daily, NOW)}


async def test_republished_interval_keeps_the_same_times() -> None:
    timetable, often = MemoryTimetable(), plan("every", "7 days")
    await settle(timetable, often)
    assert await settle(timetable, often, now=NOW + timedelta(days=30)) == (0, 0, 0)


async def test_past_single_time_is_not_written_and_removed_a_day_later() -> None:
    timetable, once = MemoryTimetable(), plan("at", "2026-11-21T13:00")
    assert await settle(timetable, once) == (1, 0, 0)
    assert await settle(timetable, once, now=NOW + timedelta(hours=2)) == (0, 0, 0)
    assert await settle(timetable, once, now=NOW + timedelta(hours=26)) == (0, 0, 1)
    assert await settle(timetable, once, now=NOW + timedelta(hours=2)) == (0, 0, 0)


def test_removed_schedule_starts_no_run() -> None:
    assert fired([plan("every", "1 hour")], "other", NOW, NOW) == "no workflow has this schedule any more"
    once = plan("at", "2026-12-01T09:00")
    assert fired([once], once.id, NOW, NOW) == "the schedule has no such time"


def test_interval_fired_between_times_starts_the_previous_time() -> None:
    often = plan("every", "10 minutes")
    assert fired([often], often.id, NOW, NOW) == (often, datetime(2026, 11, 21, 12, tzinfo=UTC))


def test_firing_on_a_day_that_an_interval_does_not_count_starts_no_run() -> None:
    compiled = {"kind": "every", "text": "2 weeks", "zone": "Europe/Berlin", "first": "2026-10-12T09:00"}
    fortnight = planned("digest", compiled)
    entry = entry_of(fortnight, NOW)
    assert (entry.expression, entry.zone, entry.starts) == ("cron(0 9 ? * MON *)", "Europe/Berlin", None)
    mondays = [datetime(2026, 10, 5, 7, tzinfo=UTC) + timedelta(days=days) for days in (0, 7, 14)]
    found = [fired([fortnight], fortnight.id, monday, monday) for monday in mondays]
    assert found == [NOT_COUNTED, (fortnight, mondays[1]), NOT_COUNTED]
    after_the_clock_changed = datetime(2026, 10, 26, 8, tzinfo=UTC)
    assert fired([fortnight], fortnight.id, after_the_clock_changed, NOW) == (fortnight, after_the_clock_changed)


@pytest.mark.parametrize("catch_up", [False, True])
def test_scheduled_run_starts_on_a_retry_of_lambda(catch_up: bool) -> None:
    daily = plan("cron", "3 12 * * ? *", catch_up=catch_up)
    retried = NOW + timedelta(seconds=90 + 180)
    assert fired([daily], daily.id, NOW, retried) == (daily, NOW)


def test_scheduled_run_repeated_by_hand_starts_at_any_delay() -> None:
    daily = plan("cron", "3 12 * * ? *")
    assert fired([daily], daily.id, NOW, NOW + timedelta(hours=30)) == (daily, NOW)


SCHEDULES = st.sampled_from(
    [("every", "10 minutes"), ("every", "1 hour"), ("cron", "0/20 * * * ? *"), ("cron", "7 9-17 ? * MON-FRI *")]
)


@given(SCHEDULES, st.booleans(), st.lists(st.integers(0, 7200), min_size=30, max_size=30), st.integers(0, 25))
def test_missed_schedule_times_have_one_run_with_catch_up_and_none_without(
    schedule: tuple[Kind, str], catch_up: bool, delays: list[int], until: int
) -> None:
    """For any delays: each time delivered in time has a run, and of the late ones only the last may have one."""
    one = plan(*schedule, catch_up=catch_up)
    times: list[datetime] = []
    at = next_after(one.schedule, NOW)
    while at is not None and len(times) < len(delays):
        times.append(at)
        at = next_after(one.schedule, at)
    # An outage delays all deliveries up to its end; later deliveries are in time.
    end = times[until] + timedelta(seconds=200)
    heard = [max(time, end) if time < end else time + timedelta(seconds=delays[0] % 60) for time in times]
    # Scheduler drops a delivery after this time.
    patience = entry_of(one, NOW).seconds
    told = [(time, then) for time, then in zip(times, heard, strict=True) if (then - time).total_seconds() <= patience]
    begun = [fired([one], one.id, time, then) for time, then in told]
    in_time = (HEARD + RETRIED if catch_up else HEARD).total_seconds()
    late = [time for time, then in zip(times, heard, strict=True) if (then - time).total_seconds() > in_time]
    runs = {found[1] for found in begun if not isinstance(found, str)}
    assert runs >= set(times) - set(late)
    missed = runs & set(late)
    assert len(missed) <= (1 if catch_up else 0)
    if catch_up:
        assert missed <= {max(late)} if late else not missed
        # The last late time has a run, or the next time is delivered in time.
        assert max(late, default=None) in (runs | {None}) or next_after(one.schedule, max(late)) in runs
