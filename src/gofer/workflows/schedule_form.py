"""The form of `schedule:` in a workflow file, compiled to plain JSON for schedulers."""

import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import model_validator

from gofer.values.schedules.fields import NoSchedule
from gofer.values.schedules.nominal_times import Kind, Schedule, parse
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


class ScheduleForm(Strict):
    """`schedule:` in a workflow file: one of `cron`, `every` and `at`."""

    FOREIGN: ClassVar[Mapping[str, str]] = SCHEDULE

    cron: str | None = None
    """Five fields as in crontab (0 and 7 are Sunday), such as `0 9 * * 1-5`, or six fields as in EventBridge (1 is
    Sunday), such as `0 9 ? * 2-6 *`. Names such as MON-FRI work in both."""
    every: str | None = None
    """An interval: `10 minutes`, `1 hour`, `7 days`."""
    at: str | None = None
    """One time: `2026-12-01T09:00`."""
    zone: str | None = None
    """The time zone of `cron` and `at`, such as `Europe/Berlin`; by default UTC."""
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
        if self.every is not None and self.zone is not None:
            raise mistake("An interval is the same in every time zone.", "Remove `zone`, or write a `cron`.")
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
        return parse(kind, text, self.zone or "UTC")

    def compiled(self) -> dict[str, object]:
        """Return plain JSON for the scheduler."""
        kind, text = self._kind_and_text()
        return {"kind": kind, "text": text, "zone": self.zone or "UTC", "missed": self.missed}

    def _kind_and_text(self) -> tuple[Kind, str]:
        if self.cron is not None:
            return "cron", self.cron
        if self.every is not None:
            return "every", self.every
        return "at", self.at or ""


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
