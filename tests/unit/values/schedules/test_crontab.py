"""Crontab expressions of five fields: times, translation for EventBridge, and refused expressions."""

from calendar import monthrange
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.schedules.cron import next_wall, parse_cron, previous_wall
from gofer.values.schedules.fields import NoSchedule
from support.property_examples import examples


@pytest.mark.parametrize(
    ("five", "six"),
    [
        ("0 9 * * 1", "0 9 ? * MON *"),
        ("0 9 * * 0", "0 9 ? * SUN *"),
        ("0 9 * * 7", "0 9 ? * SUN *"),
        ("0 9 * * 0,7", "0 9 ? * SUN *"),
        ("0 9 * * 1-5", "0 9 ? * MON,TUE,WED,THU,FRI *"),
        ("0 9 * * mon-fri", "0 9 ? * MON,TUE,WED,THU,FRI *"),
        ("0 9 * * 5-7", "0 9 ? * SUN,FRI,SAT *"),
        ("0 9 * * 6-1", "0 9 ? * SUN,MON,SAT *"),
        ("0 9 * * FRI-SUN", "0 9 ? * SUN,FRI,SAT *"),
        ("0 9 * * 7-2", "0 9 ? * SUN,MON,TUE *"),
        ("0 9 * * */2", "0 9 ? * SUN,TUE,THU,SAT *"),
        ("0 9 * * 1-5/2", "0 9 ? * MON,WED,FRI *"),
        ("0 9 * * 5-7/2", "0 9 ? * SUN,FRI *"),
        ("0 9 * * 0-7", "0 9 ? * SUN,MON,TUE,WED,THU,FRI,SAT *"),
        ("0 9 * * *", "0 9 * * ? *"),
        ("0 9 */1 * 1", "0 9 ? * MON *"),
        ("*/15 8-17 * * *", "0,15,30,45 8-17 * * ? *"),
        ("0 9-17/4 * * *", "0 9,13,17 * * ? *"),
        ("0 9 1,15 jan-mar *", "0 9 1,15 1-3 ? *"),
        ("0 9 */10 * *", "0 9 1,11,21,31 * ? *"),
        ("* * * * *", "* * * * ? *"),
    ],
)
def test_crontab_expression_is_translated_for_eventbridge(five: str, six: str) -> None:
    assert parse_cron(five).text == six


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "0 9 1 * 1",
            "The day of the month and the day of the week are both restricted.",
            "Write `*` for one of them; for either day write two, `0 9 1 * *` and `0 9 * * 1`.",
        ),
        ("0 9 1-7 * 1", "are both restricted", "For one week of the month write `0 9 ? * MON#1 *`."),
        ("0 9 15-21 2 tue", "are both restricted", "For one week of the month write `0 9 ? 2 TUE#3 *`."),
        ("0 9-17/4 1-7 * 5", "are both restricted", "For one week of the month write `0 9,13,17 ? * FRI#1 *`."),
        ("0 9 */2 * 1-5", "are both restricted", "`0 9 */2 * *` and `0 9 * * 1-5`."),
        ("0 9 * * 8", "The day of the week cannot be `8`.", "Five fields count as crontab does: 0 and 7 are Sunday."),
        ("0 9 ? * 2", "`?` belongs to the six fields of EventBridge", "Write `*` for a day that does not matter"),
        ("0 9 * * 2#1", "`2#1` belongs to the six fields", "add the year as a sixth field"),
        ("0 9 * * 5L", "`5L` belongs to the six fields", "add the year"),
        ("0 9 L * *", "`L` belongs to the six fields", "add the year"),
        ("0 9 15W * *", "`15W` belongs to the six fields", "add the year"),
        ("5/15 * * * *", "a step must follow `*` or a range", "Write `5-59/15`."),
        ("0 22-2 * * *", "The hours cannot be `22-2`.", "Write a value of 0-23, with , - * /."),
        ("*/0 * * * *", "The minutes cannot be `*/0`.", "0-59"),
        ("0 9 * * MONDAY", "The day of the week cannot be `MONDAY`.", "SUN-SAT"),
        ("0 9 30 2 *", "never fires", "Correct its day"),
        ("@daily", "`@daily` is not supported.", "Write fields, such as `0 0 * * *`."),
        ("@reboot", "`@reboot` is not supported.", "Write fields"),
    ],
)
def test_unsupported_crontab_expression_is_refused_with_a_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(NoSchedule) as refused:
        parse_cron(text)
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize("text", ["0 9 1 * {}", "0 9 1 * {} *"])
def test_error_of_a_long_cron_expression_stays_short(text: str) -> None:
    with pytest.raises(NoSchedule) as refused:
        parse_cron(text.format("1," * 10_000 + "1"))
    assert len(str(refused.value)) < 300
    assert "two schedules for either day" in refused.value.hint


NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def field(low: int, high: int) -> st.SearchStrategy[tuple[str, frozenset[int]]]:
    """Draw the text of a field and the values that crontab reads from it."""
    number = st.integers(low, high)
    ordered = st.tuples(number, number).map(sorted)
    steps = st.integers(1, high)
    item = st.one_of(
        number.map(lambda n: (str(n), {n})),
        ordered.map(lambda ends: (f"{ends[0]}-{ends[1]}", set(range(ends[0], ends[1] + 1)))),
        st.tuples(ordered, steps).map(
            lambda both: (f"{both[0][0]}-{both[0][1]}/{both[1]}", set(range(both[0][0], both[0][1] + 1, both[1])))
        ),
        steps.map(lambda step: (f"*/{step}", set(range(low, high + 1, step)))),
    )
    listed = st.lists(item, min_size=1, max_size=3).map(
        lambda items: (",".join(text for text, _ in items), frozenset[int]().union(*(values for _, values in items)))
    )
    return st.just(("*", frozenset(range(low, high + 1)))) | listed


NAMED_DAY = st.integers(0, 6).map(lambda day: (NAMES[day], frozenset({day})))
DAYS = st.one_of(
    field(1, 31).map(lambda days: (days, ("*", frozenset(range(8))))),
    (field(0, 7) | NAMED_DAY).map(lambda week: (("*", frozenset(range(1, 32))), week)),
)
MOST = 1_500
"""Maximum of times compared from either end of the year."""


def is_day_of_crontab(day: datetime, month_days: frozenset[int], months: frozenset[int], week: frozenset[int]) -> bool:
    """Whether crontab fires on a day: each field is asked by itself, and Sunday is both 0 and 7."""
    week_day = day.isoweekday()
    return day.day in month_days and day.month in months and (week_day in week or (week_day == 7 and 0 in week))


@examples(0.5)
@given(field(0, 59), field(0, 23), DAYS, field(1, 12), st.sampled_from([2026, 2027, 2028]))
def test_crontab_expression_fires_at_every_minute_of_crontab_and_at_no_other(  # type: ignore[no-untyped-def]
    minutes, hours, days, months, year
) -> None:
    month_day, week_day = days
    text = f"{minutes[0]} {hours[0]} {month_day[0]} {months[0]} {week_day[0]}"
    begin = datetime(year, 1, 1)  # noqa: DTZ001 (a wall clock has no zone)
    days_of_year = [begin + timedelta(days=day) for day in range(366)]
    expected = [
        day + timedelta(hours=hour, minutes=minute)
        for day in days_of_year
        if day.year == year and is_day_of_crontab(day, month_day[1], months[1], week_day[1])
        for hour in sorted(hours[1])
        for minute in sorted(minutes[1])
    ]
    if all(days_in(month) < min(month_day[1]) for month in months[1]):
        with pytest.raises(NoSchedule, match="never fires"):
            parse_cron(text)
        return
    cron = parse_cron(text)
    # EventBridge takes 256 characters at most, with `cron(` and `)` around them.
    assert len(cron.text) < 250
    assert parse_cron(cron.text) == cron
    assert following(cron, begin - timedelta(minutes=1), year) == expected[:MOST]
    last = previous_wall(cron, datetime(year + 1, 1, 1))  # noqa: DTZ001
    assert not expected or last == expected[-1]


def days_in(month: int) -> int:
    """Return the days of a month in a leap year."""
    return monthrange(2028, month)[1]


def following(cron, time: datetime, year: int) -> list[datetime]:  # type: ignore[no-untyped-def]
    found: list[datetime] = []
    while (after := next_wall(cron, time)) is not None and after.year == year and len(found) < MOST:
        found.append(after)
        time = after
    return found
