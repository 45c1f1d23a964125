"""Cron expressions of six fields: the times of EventBridge, and errors for invalid expressions."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.schedules.cron import next_wall, parse_cron, previous_wall
from gofer.values.schedules.fields import NoSchedule
from support.property_examples import examples


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def fires(text: str, after: str, count: int) -> list[str]:
    cron, time, found = parse_cron(text), wall(after), list[str]()
    while len(found) < count and (following := next_wall(cron, time)) is not None:
        time = following
        found.append(time.strftime("%a %Y-%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 10 * * ? *", ["Sat 2026-11-21 10:00", "Sun 2026-11-22 10:00"]),
        ("15 12 * * ? *", ["Sat 2026-11-21 12:15", "Sun 2026-11-22 12:15"]),
        ("0 18 ? * MON-FRI *", ["Mon 2026-11-23 18:00", "Tue 2026-11-24 18:00"]),
        ("0 8 1 * ? *", ["Tue 2026-12-01 08:00", "Fri 2027-01-01 08:00"]),
        ("0/10 * ? * mon-fri *", ["Mon 2026-11-23 00:00", "Mon 2026-11-23 00:10"]),
        ("0/5 8-17 ? * 2-6 *", ["Mon 2026-11-23 08:00", "Mon 2026-11-23 08:05"]),
        ("0 9 ? * 2#1 *", ["Mon 2026-12-07 09:00", "Mon 2027-01-04 09:00"]),
        ("0 9 ? * MON#5 *", ["Mon 2026-11-30 09:00", "Mon 2027-03-29 09:00"]),
        ("15 10 ? * 6L 2026-2027", ["Fri 2026-11-27 10:15", "Fri 2026-12-25 10:15"]),
        ("0 9 ? * FRIL *", ["Fri 2026-11-27 09:00", "Fri 2026-12-25 09:00"]),
        ("0 9 ? * L *", ["Sat 2026-11-21 09:00", "Sat 2026-11-28 09:00"]),
        ("0 9 ? * 1 *", ["Sun 2026-11-22 09:00", "Sun 2026-11-29 09:00"]),
        ("0 9 L * ? *", ["Mon 2026-11-30 09:00", "Thu 2026-12-31 09:00"]),
        ("59 23 L 2 ? *", ["Sun 2027-02-28 23:59", "Tue 2028-02-29 23:59"]),
        ("0 9 29 2 ? *", ["Tue 2028-02-29 09:00", "Sun 2032-02-29 09:00"]),
        # 15 November 2026 is a Sunday; 1 August 2026 a Saturday; 31 January 2027 a Sunday.
        ("0 9 15W 11 ? 2026-2027", ["Mon 2027-11-15 09:00"]),
        ("0 9 1W AUG ? *", ["Mon 2027-08-02 09:00", "Tue 2028-08-01 09:00"]),
        ("0 9 31W JAN ? *", ["Fri 2027-01-29 09:00", "Mon 2028-01-31 09:00"]),
        ("0 9 ? JAN,jul TUE,THU 2027/2", ["Tue 2027-01-05 09:00", "Thu 2027-01-07 09:00"]),
        ("*/20 22/1 1 1 ? 2199", ["Tue 2199-01-01 22:00", "Tue 2199-01-01 22:20"]),
        ("0 0 1 1 ? 1970-2020", []),
    ],
)
def test_cron_expression_fires_at_the_times_of_eventbridge(text: str, expected: list[str]) -> None:
    assert fires(text, "2026-11-21T00:00", 2) == expected


def test_nearest_weekday_of_cron_stays_within_the_month() -> None:
    assert fires("0 9 1W * ? 2026", "2026-01-01T00:00", 12) == [
        "Thu 2026-01-01 09:00",
        "Mon 2026-02-02 09:00",
        "Mon 2026-03-02 09:00",
        "Wed 2026-04-01 09:00",
        "Fri 2026-05-01 09:00",
        "Mon 2026-06-01 09:00",
        "Wed 2026-07-01 09:00",
        "Mon 2026-08-03 09:00",
        "Tue 2026-09-01 09:00",
        "Thu 2026-10-01 09:00",
        "Mon 2026-11-02 09:00",
        "Tue 2026-12-01 09:00",
    ]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "has five fields, as crontab, or six, as EventBridge, and this one has 0", "such as `0 9 * * MON-FRI`"),
        ("0 0 9 ? * MON *", "this one has 7", "day of the month, month and day of the week"),
        ("0 9 * * * *", "must be `?`", "Write `0 9 * * ? *`; the first of six fields is the minutes."),
        ("0 9 ? * ? *", "must be `?`", "Write `0 9 * * ? *`; the first of six fields is the minutes."),
        ("0 9 1 * * *", "must be `?`", "Write `0 9 1 * ? *`; the first"),
        ("0 9 * * MON *", "must be `?`", "Write `0 9 ? * MON *`; the first"),
        ("0 9 1 * MON *", "must be `?`", "Write two schedules for either day, `0 9 1 * ? *` and `0 9 ? * MON *`."),
        ("60 9 ? * MON *", "The minutes cannot be `60`.", "Write a value of 0-59, with , - * /."),
        ("0 24 ? * MON *", "The hours cannot be `24`.", "0-23"),
        ("0 9 32 * ? *", "The day of the month cannot be `32`.", "1-31, with , - * / ? L W."),
        ("0 9 0 * ? *", "The day of the month cannot be `0`.", "1-31"),
        ("0 9 32W * ? *", "The day of the month cannot be `32W`.", "1-31"),
        ("0 9 1,L * ? *", "The day of the month cannot be `1,L`.", "Write a list of 1-31"),
        ("0 9 1 13 ? *", "The month cannot be `13`.", "1-12 or JAN-DEC, with , - * /."),
        ("0 9 1 JANUARY ? *", "The month cannot be `JANUARY`.", "JAN-DEC"),
        ("0 9 1 1JAN ? *", "The month cannot be `1JAN`.", "JAN-DEC"),
        (
            "0 9 ? * 0 *",
            "The day of the week cannot be `0`.",
            "with , - * ? L #. Six fields count as EventBridge does: 1 is Sunday.",
        ),
        ("0 9 ? * MON#6 *", "The day of the week cannot be `MON#6`.", "SUN-SAT"),
        ("0 9 ? * FRI-MON *", "The day of the week cannot be `FRI-MON`.", "SUN-SAT"),
        ("0 9 ? * 2/2 *", "The day of the week cannot be `2/2`.", "SUN-SAT"),
        ("0 0 9 * * MON", "The year cannot be `MON`.", "Six fields begin with the minutes and end with the year."),
        ("0 0 12 * * ?", "The year cannot be `?`.", "Six fields begin with the minutes and end with the year."),
        ("0 9 ? * MON 1969", "The year cannot be `1969`.", "1970-2199"),
        ("0 9-17/2 ? * MON *", "The hours cannot be `9-17/2`.", "0-23"),
        ("*/0 9 ? * MON *", "The minutes cannot be `*/0`.", "0-59"),
        ("*,5 9 ? * MON *", "The minutes cannot be `*,5`.", "Write a list of 0-59"),
        ("5, 9 ? * MON *", "The minutes cannot be `5,`.", "0-59"),
        ("٥ 9 ? * MON *", "The minutes cannot be `٥`.", "0-59"),
        ("0 9 30 2 ? *", "`0 9 30 2 ? *` never fires.", "Correct its day"),
    ],
)
def test_invalid_cron_field_is_named_with_a_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(NoSchedule) as refused:
        parse_cron(text)
    assert message in refused.value.message
    assert hint in refused.value.hint


WEEK = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def some(low: int, high: int) -> st.SearchStrategy[tuple[str, set[int]]]:
    """Draw a field and the values that it matches."""
    numbers = st.integers(low, high)
    return st.one_of(
        st.just(("*", set(range(low, high + 1)))),
        st.lists(numbers, min_size=1, max_size=3).map(lambda some: (",".join(map(str, some)), set(some))),
        st.tuples(numbers, numbers).map(
            lambda pair: (f"{min(pair)}-{max(pair)}", set(range(min(pair), max(pair) + 1)))
        ),
        st.tuples(numbers, st.integers(1, max(1, high))).map(
            lambda pair: (f"{pair[0]}/{pair[1]}", set(range(pair[0], high + 1, pair[1])))
        ),
    )


def last_day(day: datetime) -> bool:
    return (day + timedelta(days=1)).month != day.month


def nearest(day: datetime, wanted: int) -> bool:
    """Whether a day is the weekday nearest to a day of its month, found by trying days around that one."""
    try:
        target = day.replace(day=wanted)
    except ValueError:
        return False
    around = [target + timedelta(days=shift) for shift in (0, -1, 1, -2, 2)]
    return next(one for one in around if one.weekday() < 5 and one.month == target.month) == day


DAYS = st.one_of(
    some(1, 31).map(lambda field: ((field[0], "?"), lambda day: day.day in field[1])),
    st.just((("L", "?"), last_day)),
    st.integers(1, 31).map(lambda n: ((f"{n}W", "?"), lambda day: nearest(day, n))),
    st.sets(st.integers(0, 6), min_size=1).map(
        lambda week: (("?", ",".join(WEEK[n] for n in week)), lambda day: (day.weekday() + 1) % 7 in week)
    ),
    st.integers(0, 6).map(
        lambda n: (
            ("?", f"{n + 1}L"),
            lambda day: (day.weekday() + 1) % 7 == n and (day + timedelta(days=7)).month != day.month,
        )
    ),
    st.tuples(st.integers(0, 6), st.integers(1, 5)).map(
        lambda pair: (
            ("?", f"{WEEK[pair[0]]}#{pair[1]}"),
            lambda day: (day.weekday() + 1) % 7 == pair[0] and (day.day - 1) // 7 + 1 == pair[1],
        )
    ),
)


MOST = 1_500
"""Maximum of times compared from either end of a year."""


@examples(0.5)
@given(some(0, 59), some(0, 23), DAYS, some(1, 12), st.sampled_from([2026, 2027, 2028]))
def test_cron_expression_fires_at_every_matching_minute_of_a_year_and_at_no_other(
    minutes, hours, days, months, year
) -> None:  # type: ignore[no-untyped-def]
    (month_day, week_day), meant = days
    expected = [
        day + timedelta(hours=hour, minutes=minute)
        for day in (wall(f"{year}-01-01") + timedelta(days=n) for n in range(366))
        if day.year == year and day.month in months[1] and meant(day)
        for hour in range(24)
        if hour in hours[1]
        for minute in range(60)
        if minute in minutes[1]
    ]
    text = f"{minutes[0]} {hours[0]} {month_day} {months[0]} {week_day} {year}"
    if not expected:
        with pytest.raises(NoSchedule, match="never fires"):
            parse_cron(text)
        return
    cron = parse_cron(text)
    forward, time = [], wall(f"{year}-01-01") - timedelta(minutes=1)
    while (following := next_wall(cron, time)) is not None and len(forward) < MOST:
        time = following
        forward.append(time)
    assert forward == expected[:MOST]
    backward, time = [], wall(f"{year + 1}-01-01")
    while (before := previous_wall(cron, time)) is not None and len(backward) < MOST:
        time = before
        backward.append(time)
    assert backward == expected[::-1][:MOST]


@given(st.text("0123456789*/,-?LW#MONFRIJA ", max_size=30) | st.text(max_size=20))
def test_cron_expression_of_any_text_is_read_or_refused(text: str) -> None:
    try:
        cron = parse_cron(text)
    except NoSchedule as error:
        said = (error.message, error.hint)
    else:
        # The expression for EventBridge means the same.
        said = ("", "") if parse_cron(cron.text) != cron else ("read", "again")
    assert all(said)
