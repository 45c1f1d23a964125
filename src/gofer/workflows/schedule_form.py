"""The form of `schedule:` in a workflow file, compiled to plain JSON for schedulers."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from pydantic import model_validator

from gofer.values.schedules.cron import FIELDS
from gofer.values.schedules.crontab import FIELDS as CRONTAB
from gofer.values.schedules.fields import WEEK, Field, NoSchedule
from gofer.values.schedules.nominal_times import Every, Kind, Schedule, parse
from gofer.workflows.foreign_keys import SCHEDULE
from gofer.workflows.form_parts import Strict, mistake

Missed = Literal["skip", "catch_up"]
_DAYS = {
    "day": "*", "daily": "*", "weekday": "1-5", "sun": "0", "mon": "1", "tue": "2", "wed": "3", "thu": "4", "fri": "5",
    "sat": "6",
}  # fmt: skip
"""The day of the week in a cron expression, by the beginning of the word for it."""
_DAY = re.compile(
    rf"(?:every |each |on )?({'|'.join(_DAYS)})[a-z]*(?: at)?(?: ([01]?[0-9]|2[0-3])(?::([0-5][0-9]))? ?(am|pm)?)?"
)
_HALVES = {None: 0, "am": 0, "pm": 12}
"""The hours to add to an hour of a half of the day."""
_STEP = re.compile(r"(?:^|(?<=,))(\*|[0-9]{1,2})/([0-9]{1,2})", re.ASCII)
_INTERVALS: Mapping[str, str] = {
    "minutes": "Write `every: {step} minutes` for equal pauses.",
    "hours": "Write `every: {step} hours` for equal pauses.",
    "day of the month": "For every {step} days write `every: {step} days` with `first: 2026-01-05T09:00` and `zone`.",
    "month": "If these months are meant, write `{values}`.",
    "day of the week": "If these days are meant, write `{values}`.",
}
"""What to write instead of a step that the end of its field cuts short."""
SHOWN = 6
"""The most values of a field that a hint lists."""
LONGEST_MONTH = 31
WEEK_END = 6
"""The last day of the week in crontab; 7 is Sunday again."""


class ScheduleForm(Strict):
    """`schedule:` in a workflow file: one of `cron`, `every` and `at`."""

    FOREIGN: ClassVar[Mapping[str, str]] = SCHEDULE

    cron: str | None = None
    """Five fields as in crontab (0 and 7 are Sunday), such as `0 9 * * 1-5`, or six fields as in EventBridge (1 is
    Sunday), such as `0 9 ? * 2-6 *`. Names such as MON-FRI work in both."""
    every: str | None = None
    """An interval: `10 minutes`, `1 hour`, `7 days`, `2 weeks`."""
    first: str | None = None
    """The first time of an interval, such as `2026-01-05T09:00`. Days and weeks then keep the time of the wall clock
    in `zone`; without it, intervals count from 1970-01-01 00:00 UTC."""
    at: str | None = None
    """One time: `2026-12-01T09:00`."""
    zone: str | None = None
    """The time zone of `cron`, `at` and `first`, such as `Europe/Berlin`; by default UTC."""
    missed: Missed = "skip"
    """What happens after times at which Gofer was not running: `skip` starts no run, `catch_up` one run for all of
    them."""

    @model_validator(mode="before")
    @classmethod
    def _with_its_key(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        raise mistake(
            "A schedule has exactly one of `cron`, `every` and `at`.", f"Write `schedule: {{{_guessed(value)}}}`."
        )

    @model_validator(mode="after")
    def _one_schedule(self) -> "ScheduleForm":
        if len([text for text in (self.cron, self.every, self.at) if text is not None]) != 1:
            raise mistake(
                "A schedule has exactly one of `cron`, `every` and `at`.", "Write `schedule: {every: 10 minutes}`."
            )
        if self.every is None and self.first is not None:
            raise mistake("`first` is the first time of an interval.", "Write it with `every`, or remove it.")
        if self.every is not None and self.zone is not None and self.first is None:
            raise mistake(
                "An interval without a first time is the same in every time zone.",
                "Add `first: 2026-01-05T09:00`, remove `zone`, or write a `cron`.",
            )
        try:
            self.schedule()
        except NoSchedule as error:
            repeated = _cron(self._kind_and_text()[1])
            hint = error.hint
            if repeated:
                hint = f'Write `cron: "{repeated}"`.'
            raise mistake(error.message, hint) from error
        return self

    def schedule(self) -> Schedule:
        """Return the parsed schedule."""
        kind, text = self._kind_and_text()
        return parse(kind, text, self.zone or "UTC", self.first or "")

    def compiled(self) -> dict[str, object]:
        """Return plain JSON for the scheduler."""
        kind, text = self._kind_and_text()
        compiled: dict[str, object] = {"kind": kind, "text": text, "zone": self.zone or "UTC", "missed": self.missed}
        if self.first is not None:
            compiled["first"] = self.first
        return compiled

    def uneven(self) -> Iterator[tuple[str, str]]:
        """Yield what probably does not mean what it says, and what to write instead, a sentence each."""
        schedule = self.schedule()
        if isinstance(schedule, Every) and schedule.unit == "day" and schedule.count > 1:
            day = "on a Thursday" if schedule.count % 7 == 0 else "from Thursday, 1970-01-01"
            yield (
                f"`{self.every}` is counted {day} at 00:00 UTC.",
                "Add the first time by your clock: `first: 2026-01-05T09:00` and `zone: Europe/Berlin`.",
            )
        words = (self.cron or "").upper().split()
        for word, field in zip(words, CRONTAB if len(words) == 5 else FIELDS, strict=False):
            yield from _uneven(word, field)

    def _kind_and_text(self) -> tuple[Kind, str]:
        if self.cron is not None:
            return "cron", self.cron
        if self.every is not None:
            return "every", self.every
        return "at", self.at or ""


def _uneven(word: str, field: Field) -> Iterator[tuple[str, str]]:
    """Yield the hint for each step of a field that its end cuts short."""
    for first, step in _STEP.findall(word):
        last = WEEK_END if field.names == WEEK else field.high
        low = field.low if first == "*" else int(first)
        values = list(range(low, last + 1, int(step)))
        pause = last + 1 - values[-1] + values[0] - field.low
        if int(step) == 1 or field.name not in _INTERVALS or (pause == int(step) and field.high != LONGEST_MONTH):
            continue
        names = [field.names[value - field.low] if field.names else str(value) for value in values]
        shown = names if len(names) <= SHOWN else [*names[:3], "…", names[-1]]
        again = f"and starts again with {names[0]}"
        yield (
            f"`{first}/{step}` in the {field.name} means {', '.join(shown)}, {again}.",
            _INTERVALS[field.name].format(step=step, values=",".join(names)),
        )


def _cron(text: str) -> str:
    """Return the cron expression of words such as `every Monday 9am`; empty for others. The hour may be missing."""
    found = _DAY.fullmatch(" ".join(text.lower().split()))
    if found is None:
        return ""
    day, hour, minute, half = found.groups()
    hours = int(hour or 9)
    if half is not None:
        hours = hours % 12 + _HALVES[half]
    return f"{int(minute or 0)} {hours} * * {_DAYS[day]}"


def _guessed(text: str) -> str:
    """Return the most likely key and value for a plain text after `schedule:`."""
    word = " ".join(text.split())[:80]
    interval = word.lower().removeprefix("every ")
    guesses: list[tuple[Kind, str]] = [("every", interval), ("at", word), ("cron", _cron(word) or word)]
    for kind, written in guesses:
        try:
            parse(kind, written)
        except NoSchedule:
            continue
        return f'{kind}: "{written}"'
    return "every: 10 minutes"
