"""At which minutes of the wall clock does a cron expression fire, as EventBridge Scheduler reads its six fields?

Minutes, hours, day of the month, month, day of the week, year. Sunday is 1, and one of the two days is `?`. Other crons
read the same signs otherwise, without an error. What EventBridge does not document is refused here, so that an
expression that works here works there.
"""

import calendar
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias, assert_never


class NoSchedule(ValueError):
    """Text that is no schedule: what is wrong with it, and what to write instead, in a sentence each."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class MonthDays:
    """Days of the month."""

    days: Sequence[int]


@dataclass(frozen=True, slots=True)
class LastDay:
    """`L`: the last day of the month."""


@dataclass(frozen=True, slots=True)
class NearestWeekday:
    """`15W`: the day from Monday to Friday that is nearest to a day, in the same month."""

    day: int


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Days of the week, Sunday 1."""

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
    """A cron expression that was read."""

    text: str
    """The six fields, as EventBridge takes them."""
    times: Sequence[int]
    """Minutes of the day, in order."""
    days: Days
    months: Sequence[int]
    years: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    signs: str
    names: Sequence[str] = ()

    def allowed(self) -> str:
        names = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{self.low}-{self.high}{names}, with {self.signs}"


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEK = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
FIELDS = (
    _Field("minutes", 0, 59, ", - * /"),
    _Field("hours", 0, 23, ", - * /"),
    _Field("day of the month", 1, 31, ", - * / ? L W"),
    _Field("month", 1, 12, ", - * /", _MONTHS),
    _Field("day of the week", 1, 7, ", - * ? L #", _WEEK),
    _Field("year", 1970, 2199, ", - * /"),
)
_MINUTES, _HOURS, _MONTH_DAY, _MONTH, _WEEK_DAY, _YEAR = FIELDS
_BEGINNING = datetime(1969, 12, 31)  # noqa: DTZ001 (a wall clock has no zone)
_RANGE = re.compile(r"([0-9]{1,4})-([0-9]{1,4})", re.ASCII)
_STEP = re.compile(r"(\*|[0-9]{1,4})/([0-9]{1,4})", re.ASCII)
_NEAREST = re.compile(r"([0-9]{1,2})W", re.ASCII)
_LAST = re.compile(r"([0-9])L", re.ASCII)
_NTH = re.compile(r"([0-9])#([0-9])", re.ASCII)


def parse_cron(text: str) -> Cron:
    """A cron expression from its six fields. Raises NoSchedule naming the field that is wrong."""
    words = text.upper().split()
    if len(words) != len(FIELDS):
        raise NoSchedule(
            f"A cron has six fields, and this one has {len(words)}.",
            "Write minutes, hours, day of the month, month, day of the week and year, such as `0 9 ? * MON-FRI *`.",
        )
    minutes, hours, month_day, month, week_day, year = words
    if (month_day == "?") == (week_day == "?"):
        raise NoSchedule(
            "One of the day of the month and the day of the week must be `?`, and the other must not.",
            "Write `?` for the one that does not matter, such as `0 9 ? * MON *` or `0 9 1 * ? *`.",
        )
    days = _week_days(week_day) if month_day == "?" else _month_days(month_day)
    if isinstance(days, LastWeekday | NthWeekday):
        week_day = _numbered(week_day, _WEEK_DAY)
    times = [60 * hour + minute for hour in _values(hours, _HOURS) for minute in _values(minutes, _MINUTES)]
    normal = " ".join((minutes, hours, month_day, month, week_day, year))
    cron = Cron(normal, tuple(times), days, _values(month, _MONTH), _values(year, _YEAR))
    if next_wall(cron, _BEGINNING) is None:
        raise NoSchedule(f"`{text[:80]}` is never.", "Correct its day or its months.")
    return cron


def next_wall(cron: Cron, after: datetime) -> datetime | None:
    """The first minute after a time of the wall clock (naive) at which it fires; None when there is none any more."""
    for year in cron.years[bisect_left(cron.years, after.year) :]:
        for month in cron.months:
            if (year, month) < (after.year, after.month):
                continue
            for day in days_of(cron.days, year, month):
                begun = datetime(year, month, day)  # noqa: DTZ001
                if begun.date() < after.date():
                    continue
                at = bisect_right(cron.times, _minute(after)) if begun.date() == after.date() else 0
                if at < len(cron.times):
                    return begun + timedelta(minutes=cron.times[at])
    return None


def previous_wall(cron: Cron, before: datetime) -> datetime | None:
    """The last minute before a time of the wall clock (naive) at which it fires; None when there was none."""
    whole = before.replace(second=0, microsecond=0)
    partly = before > whole
    for year in reversed(cron.years[: bisect_right(cron.years, before.year)]):
        for month in reversed(cron.months):
            if (year, month) > (before.year, before.month):
                continue
            for day in reversed(days_of(cron.days, year, month)):
                begun = datetime(year, month, day)  # noqa: DTZ001
                if begun.date() > before.date():
                    continue
                # The minute that has begun counts as before.
                limit = _minute(before) + partly if begun.date() == before.date() else 24 * 60
                if at := bisect_left(cron.times, limit):
                    return begun + timedelta(minutes=cron.times[at - 1])
    return None


def days_of(days: Days, year: int, month: int) -> Sequence[int]:
    """The days of a month that are meant, in order."""
    length = calendar.monthrange(year, month)[1]
    match days:
        case MonthDays(days=some):
            return [day for day in some if day <= length]
        case LastDay():
            return [length]
        case NearestWeekday(day=day):
            return [_nearest(year, month, day, length)] if day <= length else []
        case Weekdays(days=some):
            return [day for day in range(1, length + 1) if _week_day(year, month, day) in some]
        case LastWeekday(day=wanted):
            return [day for day in range(length - 6, length + 1) if _week_day(year, month, day) == wanted]
        case NthWeekday(day=wanted, nth=nth):
            week = range(7 * nth - 6, min(7 * nth, length) + 1)
            return [day for day in week if _week_day(year, month, day) == wanted]
        case _:
            assert_never(days)


def _nearest(year: int, month: int, day: int, length: int) -> int:
    match _week_day(year, month, day):
        case 7:
            return day - 1 if day > 1 else day + 2
        case 1:
            return day + 1 if day < length else day - 2
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
    number = _numbered(word, _WEEK_DAY)
    if number == "L":
        return Weekdays((7,))
    if (found := _LAST.fullmatch(number)) and 1 <= int(found[1]) <= 7:
        return LastWeekday(int(found[1]))
    if (found := _NTH.fullmatch(number)) and 1 <= int(found[1]) <= 7 and 1 <= int(found[2]) <= 5:
        return NthWeekday(int(found[1]), int(found[2]))
    return Weekdays(_values(word, _WEEK_DAY))


def _numbered(word: str, field: _Field) -> str:
    """A field with its names as numbers."""
    numbers: Mapping[str, str] = {name: str(field.low + at) for at, name in enumerate(field.names)}
    # An `L` may follow, as in FRIL; any other letter or digit makes another word of it.
    pattern = rf"(?<![A-Z0-9])(?:{'|'.join(field.names)})(?![A-KM-Z0-9])"
    return re.sub(pattern, lambda found: numbers[found[0]], word) if numbers else word


def _values(word: str, field: _Field) -> tuple[int, ...]:
    """The values a field stands for, in order. Raises NoSchedule."""
    if word == "*":
        return tuple(range(field.low, field.high + 1))
    return tuple(sorted({value for item in _numbered(word, field).split(",") for value in _item(item, word, field)}))


def _item(item: str, word: str, field: _Field) -> Sequence[int]:
    if found := _STEP.fullmatch(item):
        first = field.low if found[1] == "*" else _within(found[1], word, field)
        step = int(found[2])
        if "/" in field.signs and 1 <= step <= field.high:
            return range(first, field.high + 1, step)
    elif found := _RANGE.fullmatch(item):
        first, last = _within(found[1], word, field), _within(found[2], word, field)
        if first <= last:
            return range(first, last + 1)
    elif re.fullmatch(r"[0-9]{1,4}", item, re.ASCII):
        return [_within(item, word, field)]
    raise _wrong(word, field)


def _within(number: str, word: str, field: _Field) -> int:
    if not field.low <= int(number) <= field.high:
        raise _wrong(word, field)
    return int(number)


def _wrong(word: str, field: _Field) -> NoSchedule:
    kind: Literal["a list", "a value"] = "a list" if "," in word else "a value"
    return NoSchedule(f"The {field.name} cannot be `{word[:40]}`.", f"Write {kind} of {field.allowed()}.")
