"""The minutes of the wall clock at which a cron expression fires.

Six fields follow EventBridge Scheduler: minutes, hours, day of the month, month, day of the week, year. Sunday is 1,
and one of the two days is `?`. Syntax that EventBridge does not document is refused, so that every accepted expression
works on EventBridge too. Five fields follow crontab (`crontab.py`) and are stored as six.
"""

import calendar
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias, assert_never

from gofer.values.schedules.crontab import six_fields, without_nickname
from gofer.values.schedules.fields import LONGEST_SHOWN, MONTHS, WEEK, Field, NoSchedule


@dataclass(frozen=True, slots=True)
class MonthDays:
    """Days of the month."""

    days: Sequence[int]


@dataclass(frozen=True, slots=True)
class LastDay:
    """`L`: the last day of the month."""


@dataclass(frozen=True, slots=True)
class NearestWeekday:
    """`15W`: the weekday from Monday to Friday nearest to a day of the month, in the same month."""

    day: int


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Days of the week; Sunday is 1."""

    days: Sequence[int]


@dataclass(frozen=True, slots=True)
class LastWeekday:
    """`6L`: the last Friday of the month."""

    day: int


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`2#1`: the first Monday of the month."""

    day: int
    nth: int


Days: TypeAlias = MonthDays | LastDay | NearestWeekday | Weekdays | LastWeekday | NthWeekday


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed cron expression."""

    text: str
    """The six fields in EventBridge's notation."""
    times: Sequence[int]
    """Minutes of the day, in order."""
    days: Days
    months: Sequence[int]
    years: Sequence[int]


FIELDS = (
    Field("minutes", 0, 59, ", - * /"),
    Field("hours", 0, 23, ", - * /"),
    Field("day of the month", 1, 31, ", - * / ? L W"),
    Field("month", 1, 12, ", - * /", MONTHS),
    Field("day of the week", 1, 7, ", - * ? L #", WEEK, "Six fields count as EventBridge does: 1 is Sunday."),
    Field("year", 1970, 2199, ", - * /", counting="Six fields begin with the minutes and end with the year."),
)
_MINUTES, _HOURS, _MONTH_DAY, _MONTH, _WEEK_DAY, _YEAR = FIELDS
_BEGINNING = datetime(1969, 12, 31)  # noqa: DTZ001 (a wall clock has no zone)
_RANGE = re.compile(r"([0-9]{1,4})-([0-9]{1,4})", re.ASCII)
_STEP = re.compile(r"(\*|[0-9]{1,4})/([0-9]{1,4})", re.ASCII)
_NEAREST = re.compile(r"([0-9]{1,2})W", re.ASCII)
_LAST = re.compile(r"([0-9])L", re.ASCII)
_NTH = re.compile(r"([0-9])#([0-9])", re.ASCII)


def parse_cron(text: str) -> Cron:
    """Return the parsed cron of five or six fields. Raises NoSchedule that names the wrong field."""
    match len(without_nickname(text).split()):
        case 5:
            cron = _parse_six(six_fields(text))
        case 6:
            cron = _parse_six(text)
        case count:
            raise NoSchedule(
                f"A cron has five fields, as crontab, or six, as EventBridge, and this one has {count}.",
                "Write minutes, hours, day of the month, month and day of the week, such as `0 9 * * MON-FRI`.",
            )
    if next_wall(cron, _BEGINNING) is None:
        raise NoSchedule(f"`{text[:80]}` never fires.", "Correct its day or its months.")
    return cron


def _parse_six(text: str) -> Cron:
    words = text.upper().split()
    minutes, hours, month_day, month, week_day, year = words
    years = _values(year, _YEAR)
    if (month_day == "?") == (week_day == "?"):
        raise _both_days(words)
    days = _week_days(week_day) if month_day == "?" else _month_days(month_day)
    if isinstance(days, LastWeekday | NthWeekday):
        week_day = _WEEK_DAY.numbered(week_day)
    times = [60 * hour + minute for hour in _values(hours, _HOURS) for minute in _values(minutes, _MINUTES)]
    normal = " ".join((minutes, hours, month_day, month, week_day, year))
    return Cron(normal, tuple(times), days, _values(month, _MONTH), years)


def _both_days(words: Sequence[str]) -> NoSchedule:
    """Return the error for six fields if both days are `?`, or neither is."""
    minutes, hours, month_day, month, week_day, year = words
    by_month = f"{minutes} {hours} {month_day.replace('?', '*')} {month} ? {year}"
    by_week = f"{minutes} {hours} ? {month} {week_day} {year}"
    message = "One of the day of the month and the day of the week must be `?`, and the other must not."
    if max(len(by_month), len(by_week)) > LONGEST_SHOWN:
        return NoSchedule(message, "Write `?` for one of them, or two schedules for either day.")
    if week_day in ("*", "?"):
        return NoSchedule(message, f"Write `{by_month}`; the first of six fields is the minutes.")
    if month_day == "*":
        return NoSchedule(message, f"Write `{by_week}`; the first of six fields is the minutes.")
    return NoSchedule(message, f"Write two schedules for either day, `{by_month}` and `{by_week}`.")


def next_wall(cron: Cron, after: datetime) -> datetime | None:
    """Return the first firing minute after a naive wall time, or None if there is none."""
    for year in cron.years[bisect_left(cron.years, after.year) :]:
        for month in cron.months:
            if (year, month) < (after.year, after.month):
                continue
            for day in days_of(cron.days, year, month):
                midnight = datetime(year, month, day)  # noqa: DTZ001
                if midnight.date() < after.date():
                    continue
                if midnight.date() == after.date():
                    at = bisect_right(cron.times, _minute(after))
                else:
                    at = 0
                if at < len(cron.times):
                    return midnight + timedelta(minutes=cron.times[at])
    return None


def previous_wall(cron: Cron, before: datetime) -> datetime | None:
    """Return the last firing minute before a naive wall time, or None if there is none."""
    minute = before.replace(second=0, microsecond=0)
    minute_has_begun = before > minute
    for year in reversed(cron.years[: bisect_right(cron.years, before.year)]):
        for month in reversed(cron.months):
            if (year, month) > (before.year, before.month):
                continue
            for day in reversed(days_of(cron.days, year, month)):
                midnight = datetime(year, month, day)  # noqa: DTZ001
                if midnight.date() > before.date():
                    continue
                # A minute that has already begun counts as before.
                limit = _minute(before) + minute_has_begun if midnight.date() == before.date() else 24 * 60
                if at := bisect_left(cron.times, limit):
                    return midnight + timedelta(minutes=cron.times[at - 1])
    return None


def days_of(days: Days, year: int, month: int) -> Sequence[int]:
    """Return the days of a month on which the cron fires, in order."""
    length = calendar.monthrange(year, month)[1]
    match days:
        case MonthDays(days=chosen):
            return [day for day in chosen if day <= length]
        case LastDay():
            return [length]
        case NearestWeekday(day=day):
            if day <= length:
                return [_nearest(year, month, day, length)]
            return []
        case Weekdays(days=chosen):
            return [day for day in range(1, length + 1) if _week_day(year, month, day) in chosen]
        case LastWeekday(day=weekday):
            return [day for day in range(length - 6, length + 1) if _week_day(year, month, day) == weekday]
        case NthWeekday(day=weekday, nth=nth):
            week = range(7 * nth - 6, min(7 * nth, length) + 1)
            return [day for day in week if _week_day(year, month, day) == weekday]
        case _:
            assert_never(days)


def _nearest(year: int, month: int, day: int, length: int) -> int:
    match _week_day(year, month, day):
        case 7:
            if day > 1:
                return day - 1
            return day + 2
        case 1:
            if day < length:
                return day + 1
            return day - 2
        case _:
            return day


def _week_day(year: int, month: int, day: int) -> int:
    return date(year, month, day).isoweekday() % 7 + 1


def _minute(time: datetime) -> int:
    return 60 * time.hour + time.minute


def _month_days(word: str) -> Days:
    if word == "L":
        return LastDay()
    if (found := _NEAREST.fullmatch(word)) and 1 <= int(found[1]) <= 31:
        return NearestWeekday(int(found[1]))
    return MonthDays(_values(word, _MONTH_DAY))


def _week_days(word: str) -> Days:
    number = _WEEK_DAY.numbered(word)
    if number == "L":
        return Weekdays((7,))
    if (found := _LAST.fullmatch(number)) and 1 <= int(found[1]) <= 7:
        return LastWeekday(int(found[1]))
    if (found := _NTH.fullmatch(number)) and 1 <= int(found[1]) <= 7 and 1 <= int(found[2]) <= 5:
        return NthWeekday(int(found[1]), int(found[2]))
    return Weekdays(_values(word, _WEEK_DAY))


def _values(word: str, field: Field) -> tuple[int, ...]:
    """Return the values that a field selects, in order. Raises NoSchedule."""
    if word == "*":
        return tuple(range(field.low, field.high + 1))
    return tuple(sorted({value for item in field.numbered(word).split(",") for value in _item(item, word, field)}))


def _item(item: str, word: str, field: Field) -> Sequence[int]:
    if found := _STEP.fullmatch(item):
        first = field.low if found[1] == "*" else _within(found[1], word, field)
        step = int(found[2])
        if "/" in field.signs and 1 <= step <= field.high:
            return range(first, field.high + 1, step)
    elif found := _RANGE.fullmatch(item):
        first = _within(found[1], word, field)
        last = _within(found[2], word, field)
        if first <= last:
            return range(first, last + 1)
    elif re.fullmatch(r"[0-9]{1,4}", item, re.ASCII):
        return [_within(item, word, field)]
    raise field.refused(word)


def _within(number: str, word: str, field: Field) -> int:
    if not field.low <= int(number) <= field.high:
        raise field.refused(word)
    return int(number)
