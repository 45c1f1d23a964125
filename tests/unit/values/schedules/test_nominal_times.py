"""Nominal times in time zones with clock changes, and their expressions for EventBridge."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.schedule.receiver import scheduled
from gofer.values.schedules.fields import NoSchedule
from gofer.values.schedules.nominal_times import (
    Kind,
    Schedule,
    expression,
    local,
    next_after,
    parse,
    previous_before,
    zone_name,
)
from gofer.values.schedules.planned import planned
from support.property_examples import examples


def at(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def following(schedule: Schedule, time: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    while len(found) < count and (nominal := next_after(schedule, time)) is not None:
        time = nominal
        found.append(time)
    return found


def shown(schedule: Schedule, after: str, count: int) -> list[str]:
    return [local(schedule, time).strftime("%d %H:%M %z") for time in following(schedule, at(after), count)]


def test_schedule_skips_the_hour_that_spring_skips() -> None:
    half_past_two = parse("cron", "30 2 * * ? *", "Europe/Berlin")
    assert shown(half_past_two, "2026-03-27T12:00", 3) == ["28 02:30 +0100", "30 02:30 +0200", "31 02:30 +0200"]
    hourly = parse("cron", "0 * * * ? *", "America/New_York")
    assert shown(hourly, "2026-03-08T05:30", 3) == ["08 01:00 -0500", "08 03:00 -0400", "08 04:00 -0400"]


def test_schedule_fires_once_in_the_hour_that_autumn_repeats() -> None:
    half_past_two = parse("cron", "30 2 * * ? *", "Europe/Berlin")
    assert shown(half_past_two, "2026-10-24T12:00", 2) == ["25 02:30 +0200", "26 02:30 +0100"]
    often = parse("cron", "0/30 * * * ? *", "Europe/Berlin")
    assert shown(often, "2026-10-24T23:45", 4) == [
        "25 02:00 +0200",
        "25 02:30 +0200",
        "25 03:00 +0100",
        "25 03:30 +0100",
    ]


def test_interval_schedule_ignores_clock_changes() -> None:
    every = parse("every", "6 hours")
    assert shown(every, "2026-03-28T20:00", 3) == ["29 00:00 +0000", "29 06:00 +0000", "29 12:00 +0000"]
    assert previous_before(every, at("2026-03-29T00:00")) == at("2026-03-28T18:00")
    assert previous_before(every, at("2026-03-29T00:01")) == at("2026-03-29T00:00")


def test_every_second_week_keeps_its_weekday_and_the_time_of_the_wall_clock() -> None:
    fortnight = parse("every", "2 weeks", "Europe/Berlin", "2026-03-09T09:00")
    assert shown(fortnight, "2026-01-01", 4) == ["09 09:00 +0100", "23 09:00 +0100", "06 09:00 +0200", "20 09:00 +0200"]
    assert previous_before(fortnight, at("2026-03-09T08:00")) is None
    assert previous_before(fortnight, at("2026-04-06T07:01")) == at("2026-04-06T07:00")
    assert planned("w", {"kind": "every", "text": "2 weeks", "first": "2026-03-09T09:00"}).id == (
        "w rate(14 days) from 2026-03-09T09:00 UTC"
    )


def test_every_second_day_skips_a_time_that_spring_skips_and_takes_the_first_of_two_in_autumn() -> None:
    spring = parse("every", "2 days", "Europe/Berlin", "2026-03-27T02:30")
    assert shown(spring, "2026-03-27T12:00", 2) == ["31 02:30 +0200", "02 02:30 +0200"]
    autumn = parse("every", "1 day", "Europe/Berlin", "2026-10-24T02:30")
    assert shown(autumn, "2026-10-24T12:00", 2) == ["25 02:30 +0200", "26 02:30 +0100"]
    assert previous_before(autumn, at("2026-10-25T01:10")) == at("2026-10-25T00:30")


def test_interval_of_hours_from_a_first_time_ignores_clock_changes() -> None:
    every = parse("every", "12 hours", "Europe/Berlin", "2026-03-28T20:00")
    assert shown(every, "2026-03-01", 3) == ["28 20:00 +0100", "29 09:00 +0200", "29 21:00 +0200"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("right/Europe/Berlin", "Europe/Berlin"),
        ("posix/America/New_York", "America/New_York"),
        ("europe/berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Europe/Berlim", "Europe/Berlin"),
        ("utc", "UTC"),
    ],
)
def test_wrong_time_zone_is_answered_with_the_nearest_name(name: str, meant: str) -> None:
    with pytest.raises(NoSchedule) as refused:
        parse("cron", "0 9 * * *", name)
    assert refused.value.hint == f"Write `{meant}`."


@pytest.mark.parametrize("name", ["US/Eastern", "EST", "Etc/GMT+5", "Europe/Kyiv", "America/Argentina/Ushuaia"])
def test_link_of_the_iana_database_is_a_time_zone(name: str) -> None:
    assert zone_name(parse("cron", "0 9 * * *", name)) == name


def test_single_time_schedule_fires_once() -> None:
    once = parse("at", "2026-12-01T09:00", "Asia/Tokyo")
    assert following(once, at("2026-11-01"), 5) == [at("2026-12-01T00:00")]
    assert previous_before(once, at("2026-12-01T00:00")) is None
    assert previous_before(once, at("2026-12-01T00:01")) == at("2026-12-01T00:00")
    # Of a time that occurs twice, the first.
    assert following(parse("at", "2026-10-25 02:30:00", "Europe/Berlin"), at("2026-10-01"), 2) == [
        at("2026-10-25T00:30")
    ]


@pytest.mark.parametrize(
    ("kind", "text", "zone", "message"),
    [
        ("cron", "0 9 * * MON *", "UTC", "must be `?`"),
        ("cron", "0 9 ? * MON *", "Berlin", "`Berlin` is not a time zone"),
        ("cron", "0 9 ? * MON *", "../../etc/passwd", "is not a time zone"),
        ("cron", "0 9 ? * MON *", "", "is not a time zone"),
        ("cron", "0 9 ? * MON *", "Europe", "is not a time zone"),
        ("cron", "0 9 ? * MON *", "/usr/share/zoneinfo/UTC", "is not a time zone"),
        *(
            ("cron", "0 9 ? * MON *", name, f"`{name}` is not a time zone of the IANA database")
            for name in ("posix/UTC", "localtime", "posixrules", "Factory", "europe/berlin", "GMT+2", "tzdata.zi")
        ),
        ("every", "10", "UTC", "`10` is not an interval"),
        ("every", "0 minutes", "UTC", "is not an interval"),
        ("every", "90 seconds", "UTC", "is not an interval"),
        ("every", "9999999 days", "UTC", "longer than 366 days"),
        ("at", "tomorrow", "UTC", "is not a date and time"),
        ("at", "2026-02-30T09:00", "UTC", "is not a date and time"),
        ("at", "2026-12-01T09:00:30", "UTC", "is not a date and time"),
        ("at", "2026-12-01T09:00+01:00", "UTC", "is not a date and time"),
        ("at", "2026-03-29T02:30", "Europe/Berlin", "is skipped by the clocks of Europe/Berlin"),
    ],
)
def test_invalid_schedule_is_refused_with_a_hint(kind: Kind, text: str, zone: str, message: str) -> None:
    with pytest.raises(NoSchedule) as refused:
        parse(kind, text, zone)
    assert message in refused.value.message
    assert refused.value.hint.startswith("Write")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("cron", "0 9 ? * mon-fri *", "cron(0 9 ? * MON-FRI *)"),
        ("cron", "0 9 * * 1-5", "cron(0 9 ? * MON,TUE,WED,THU,FRI *)"),
        ("cron", "0  9 ? * FRIL *", "cron(0 9 ? * 6L *)"),
        ("cron", "0 9 ? * MON#1 *", "cron(0 9 ? * 2#1 *)"),
        ("every", "1 minutes", "rate(1 minute)"),
        ("every", "10 minute", "rate(10 minutes)"),
        ("every", "2 days", "rate(2 days)"),
        ("at", "2026-12-01 09:00", "at(2026-12-01T09:00:00)"),
    ],
)
def test_schedule_is_translated_for_eventbridge(kind: Kind, text: str, expected: str) -> None:
    assert expression(parse(kind, text)) == expected


ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "Asia/Gaza"]
)
MINUTES = st.sampled_from(["0", "30", "*/7", "59", "0,30", "*/45", "*"])
HOURS = st.sampled_from(["*", "0-3", "1", "2", "0/2", "23,0,1,2,3"])


@examples(0.5)
@given(MINUTES, HOURS, ZONES, st.integers(0, 365 * 4))
def test_schedule_fires_at_the_first_occurrence_of_each_wall_clock_time_only(
    minutes: str, hours: str, zone: str, day: int
) -> None:
    schedule = parse("cron", f"{minutes} {hours} * * ? *", zone)
    every_minute = parse("cron", "* * * * ? *", zone)
    begin = at("2025-01-01") + timedelta(days=day)
    wanted = {(time.hour, time.minute) for n in range(1440) if (time := plain(schedule, n)) is not None}
    expected, seen = [], at("0001-01-02").replace(tzinfo=None)
    for n in range(-2 * 1440, 2 * 1440):
        moment = begin + timedelta(minutes=n)
        wall = local(every_minute, moment).replace(tzinfo=None, fold=0)
        if wall > seen:
            seen = wall
            if n >= 0 and (wall.hour, wall.minute) in wanted:
                expected.append(moment)
    found = following(schedule, begin - timedelta(microseconds=1), len(expected))
    assert found == expected
    back, time = [], begin + timedelta(days=2)
    while (before := previous_before(schedule, time)) is not None and before >= begin:
        time = before
        back.append(time)
    assert back == expected[::-1]


def plain(schedule: Schedule, minute: int) -> datetime | None:
    """Return the time of day at which a daily schedule fires in a zone without clock changes, if any."""
    text = expression(schedule).removeprefix("cron(").removesuffix(")")
    time = at("2026-01-01") + timedelta(minutes=minute)
    return time if next_after(parse("cron", text), time - timedelta(minutes=1)) == time else None


SCHEDULES = st.one_of(
    st.builds(lambda m, h, z: parse("cron", f"{m} {h} * * ? *", z), MINUTES, HOURS, ZONES),
    st.builds(lambda n, unit: parse("every", f"{n} {unit}"), st.integers(1, 300), st.sampled_from(["minutes", "days"])),
    st.builds(lambda z: parse("at", "2026-12-01T09:00", z), ZONES),
    st.builds(
        lambda n, unit, h, m, z: parse("every", f"{n} {unit}", z, f"2020-02-29T{h:02}:{m:02}"),
        st.integers(1, 52),
        st.sampled_from(["minutes", "hours", "days", "weeks"]),
        st.sampled_from([0, 1, 2, 3, 23]),
        st.sampled_from([0, 30, 59]),
        ZONES,
    ),
)


@given(SCHEDULES, st.integers(1_577_836_800, 1_900_000_000))
def test_nominal_times_strictly_increase_and_previous_inverts_next(schedule: Schedule, now: int) -> None:
    time = datetime.fromtimestamp(now, UTC)
    found = following(schedule, time, 20)
    assert all(one < other for one, other in pairwise([time, *found]))
    for one, other in pairwise(found):
        assert previous_before(schedule, other) == one
        assert next_after(schedule, other - timedelta(seconds=1)) == other
    before = previous_before(schedule, time + timedelta(microseconds=1))
    assert before is None or (before <= time and following(schedule, before, 1) == found[:1])


def test_scheduled_event_depends_on_the_nominal_time_only() -> None:
    schedule = parse("cron", "0 9 ? * MON *", "Europe/Berlin")
    (nominal,) = following(schedule, at("2026-11-21"), 1)
    event = scheduled("weekly-digest", schedule, nominal)
    assert event == scheduled("weekly-digest", schedule, nominal.astimezone(UTC))
    assert event.identity == ("weekly-digest", "cron(0 9 ? * MON *) Europe/Berlin", "2026-11-23T08:00:00Z")
    assert event.place == {"scheduled": "2026-11-23T09:00:00+01:00"}
    assert event.text == "Scheduled for Monday, 2026-11-23 09:00 (Europe/Berlin)."
    assert (event.private, event.facts, event.actor.id) == (False, {"workflow": "weekly-digest"}, "schedule")


def test_compiled_schedule_is_read_back_unchanged() -> None:
    plan = planned("w", {"kind": "at", "text": "2026-12-01T09:00", "zone": "Asia/Tokyo", "missed": "catch_up"})
    assert (plan.id, plan.catch_up) == ("w at(2026-12-01T09:00:00) Asia/Tokyo", True)
    assert zone_name(plan.schedule) == "Asia/Tokyo"
