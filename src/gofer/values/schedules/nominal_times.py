"""The next and the previous nominal time of a schedule: the time at which it should fire.

Wall clocks follow EventBridge Scheduler: an hour that spring skips is skipped, and an hour that autumn repeats counts
the first time. So nominal times always increase.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias, assert_never
from zoneinfo import ZoneInfo

from gofer.values.schedules.cron import Cron, next_wall, parse_cron, previous_wall
from gofer.values.schedules.fields import WEEK, NoSchedule

Kind: TypeAlias = Literal["cron", "every", "at"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The start of all intervals, the same in every process."""
LONGEST = timedelta(days=366)
"""The longest interval."""


@dataclass(frozen=True, slots=True)
class ByCron:
    """A schedule at the times of a cron expression, by the wall clock of a zone."""

    cron: Cron
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class Every:
    """A schedule at regular intervals, which changes of the wall clock do not affect."""

    count: int
    unit: Literal["minute", "hour", "day"]

    @property
    def step(self) -> timedelta:
        """The interval; a day is 24 hours."""
        return (
            self.count
            * {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}[self.unit]
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """A schedule at regular intervals from a first time on. Intervals of days keep the time of the wall clock."""

    every: Every
    first: datetime
    """The first time by the wall clock, a naive datetime."""
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class Once:
    """A schedule at one time of the wall clock of a zone."""

    wall: datetime
    """A naive datetime."""
    zone: ZoneInfo


Schedule: TypeAlias = ByCron | Every | Counted | Once

_EVERY = re.compile(r"([1-9][0-9]{0,6}) +(minute|hour|day|week|month)s?", re.ASCII)
_AT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:00)?", re.ASCII)
_UNITS: dict[str, Literal["minute", "hour", "day"]] = {"minute": "minute", "hour": "hour", "day": "day"}


def parse(kind: Kind, text: str, zone: str = "UTC", first: str = "") -> Schedule:
    """Return the schedule of a text: `cron` with five or six fields, `every` 10 minutes, `at` 2026-12-01T09:00.

    `first` is the first time of an interval; an empty one counts from `EPOCH`. Raises NoSchedule.
    """
    match kind:
        case "cron":
            return ByCron(parse_cron(text), read_zone(zone))
        case "every":
            every = _every(text)
            if not first:
                return every
            start = _at(first, read_zone(zone))
            return Counted(every, start.wall, start.zone)
        case "at":
            return _at(text, read_zone(zone))
        case _:
            assert_never(kind)


def read_zone(name: str) -> ZoneInfo:
    """Return the time zone with a name of the IANA database. Raises NoSchedule.

    The package `tzdata` lists the names, because a machine has further files that are no zones (`right/…`).
    """
    if name not in _zone_names().values():
        raise NoSchedule(
            f"`{name[:40]}` is not a time zone of the IANA database.",
            f"Write {_nearest_zone(name) or 'one such as `Europe/Berlin` or `UTC`'}.",
        )
    return ZoneInfo(name)


@cache
def _zone_names() -> Mapping[str, str]:
    """Return the names of the IANA database by their small letters. `Factory` marks a machine without a zone."""
    names = resources.files("tzdata").joinpath("zones").read_text().split()
    return {name.lower(): name for name in names if name != "Factory"}


def _nearest_zone(name: str) -> str:
    """Return the zone that a wrong name probably means, in backquotes; empty if there is none."""
    known = _zone_names()
    word = name.strip().lower().replace(" ", "_").removeprefix("right/").removeprefix("posix/")
    meant = [known[word]] if word in known else [zone for zone in known.values() if zone.lower().endswith(f"/{word}")]
    if not meant:
        meant = [known[one] for one in difflib.get_close_matches(word[:40], known, 1, 0.8)]
    return f"`{meant[0]}`" if meant else ""


def next_after(schedule: Schedule, time: datetime) -> datetime | None:
    """Return the first nominal time after an aware time, in UTC, or None if there is none."""
    match schedule:
        case Every() as every:
            return EPOCH + every.step * ((time - EPOCH) // every.step + 1)
        case Counted() as counted:
            number = max(0, _intervals(counted, time))
            while (moment := _counted(counted, number)) is None or moment <= time:
                number += 1
            return moment
        case Once(wall=wall, zone=zone):
            if (moment := _moment_of(wall, zone)) is not None and moment > time:
                return moment
            return None
        case ByCron(cron=cron, zone=zone):
            wall = _wall(time, zone)
            while (found := next_wall(cron, wall)) is not None:
                # In a repeated hour, the next time on the wall clock may already be past.
                if (moment := _moment_of(found, zone)) is not None and moment > time:
                    return moment
                wall = found
            return None
        case _:
            assert_never(schedule)


def previous_before(schedule: Schedule, time: datetime) -> datetime | None:
    """Return the last nominal time before an aware time, in UTC, or None if there is none."""
    match schedule:
        case Every() as every:
            return EPOCH - every.step * ((EPOCH - time) // every.step + 1)
        case Counted() as counted:
            # In a repeated hour, a later time on the wall clock may already be past.
            for number in range(_intervals(counted, time) + 1, -1, -1):
                moment = _counted(counted, number)
                if moment is not None and moment < time:
                    return moment
            return None
        case Once(wall=wall, zone=zone):
            if (moment := _moment_of(wall, zone)) is not None and moment < time:
                return moment
            return None
        case ByCron(cron=cron, zone=zone):
            local = time.astimezone(zone)
            # In the second pass of a repeated hour, every minute of that hour has already occurred once.
            repeated = (local.replace(fold=0).utcoffset() or timedelta()) - (local.utcoffset() or timedelta())
            wall = local.replace(tzinfo=None, fold=0) + max(repeated, timedelta())
            while (found := previous_wall(cron, wall)) is not None:
                if (moment := _moment_of(found, zone)) is not None and moment < time:
                    return moment
                wall = found
            return None
        case _:
            assert_never(schedule)


def expression(schedule: Schedule) -> str:
    """Return the ScheduleExpression of EventBridge Scheduler. The zone belongs in ScheduleExpressionTimezone.

    An interval of days from a first time is a cron of all days, or all weeks, that may count: a rate of EventBridge
    would ignore clock changes.
    """
    match schedule:
        case ByCron(cron=cron):
            return f"cron({cron.text})"
        case Every(count=count, unit=unit):
            return f"rate({count} {unit}{'s' if count > 1 else ''})"
        case Counted(every=Every(unit="day") as every, first=first):
            days = "* * ?"
            if every.count % 7 == 0:
                days = f"? * {WEEK[first.isoweekday() % 7]}"
            return f"cron({first.minute} {first.hour} {days} *)"
        case Counted(every=every):
            return expression(every)
        case Once(wall=wall):
            return f"at({wall.isoformat(timespec='seconds')})"
        case _:
            assert_never(schedule)


def written(schedule: Schedule) -> str:
    """Return the text that distinguishes a schedule from others, with its zone."""
    if isinstance(schedule, Counted):
        first = schedule.first.isoformat(timespec="minutes")
        return f"{expression(schedule.every)} from {first} {schedule.zone.key}"
    return f"{expression(schedule)} {zone_name(schedule)}"


def zone_name(schedule: Schedule) -> str:
    """Return the name of the schedule's time zone; UTC for intervals, which have none."""
    if isinstance(schedule, Every):
        return "UTC"
    return schedule.zone.key


def local(schedule: Schedule, time: datetime) -> datetime:
    """Return an aware time in the schedule's time zone."""
    return time.astimezone(UTC if isinstance(schedule, Every) else schedule.zone)


def _every(text: str) -> Every:
    found = _EVERY.fullmatch(text.strip())
    if found is None:
        raise NoSchedule(f"`{text[:40]}` is not an interval.", "Write `10 minutes`, `1 hour`, `7 days` or `2 weeks`.")
    count = int(found[1])
    match found[2]:
        case "month":
            message = f"`{text[:40]}` is not an interval, because months differ in length."
            raise NoSchedule(message, f"Write a cron, such as `0 9 1 {_months(count)} *`.")
        case "week":
            every = Every(7 * count, "day")
        case unit:
            every = Every(count, _UNITS[unit])
    if every.step > LONGEST:
        raise NoSchedule(f"`{text[:40]}` is longer than {LONGEST.days} days.", "Write a cron instead.")
    return every


def _months(count: int) -> str:
    """Return the months of a cron for every second, third … month; an example if they do not divide a year."""
    if count == 1:
        return "*"
    if 12 % count == 0:
        return f"*/{count}"
    return "JAN,JUL"


def _intervals(counted: Counted, time: datetime) -> int:
    """Return how many whole intervals lie between the first time and another, by the clock that counts."""
    if counted.every.unit == "day":
        return (_wall(time, counted.zone) - counted.first) // counted.every.step
    return (time - counted.first.replace(tzinfo=counted.zone).astimezone(UTC)) // counted.every.step


def _counted(counted: Counted, number: int) -> datetime | None:
    """Return the time after a number of intervals, or None if the wall clock skips it."""
    if counted.every.unit == "day":
        return _moment_of(counted.first + number * counted.every.step, counted.zone)
    return counted.first.replace(tzinfo=counted.zone).astimezone(UTC) + number * counted.every.step


def _at(text: str, zone: ZoneInfo) -> Once:
    found = _AT.fullmatch(text.strip())
    try:
        wall = datetime.fromisoformat(f"{found[1]}T{found[2]}") if found else None
    except ValueError:
        wall = None
    if wall is None or not 1970 <= wall.year <= 2199:
        raise NoSchedule(
            f"`{text[:40]}` is not a date and time.",
            "Write `2026-12-01T09:00`, to the minute, with the zone in `zone`.",
        )
    if _moment_of(wall, zone) is None:
        raise NoSchedule(f"`{text[:40]}` is skipped by the clocks of {zone.key}.", "Write a time that exists.")
    return Once(wall, zone)


def _wall(time: datetime, zone: ZoneInfo) -> datetime:
    return time.astimezone(zone).replace(tzinfo=None, fold=0)


def _moment_of(wall: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment in UTC at which a wall clock first shows a time, or None if it skips that time."""
    # In UTC, because Python compares two times of one zone by their wall clocks, which is wrong in a repeated hour.
    moment = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if _wall(moment, zone) == wall:
        return moment
    return None
