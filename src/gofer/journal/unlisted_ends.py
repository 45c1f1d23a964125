"""Counts of runs that ended without an answer and are not listed, by hour, system and cause.

A run is private until its place is known to be public, and no list shows private runs. These counts show the operator
that such runs ended and why, but not which runs, workflows, channels or people they were about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, assert_never

from gofer.journal.coordination import DAY_MS, HOUR_MS
from gofer.journal.store import Store
from gofer.values.canonical_json import as_object, decode, encode_text
from gofer.values.errors import Cause

Stage = Literal["begin", "answer", "go on"]
"""What such a run failed to do."""
DAYS = 2
"""The number of days that are read, today included."""

_REASONS: Mapping[str, str] = {
    "outage": "{system} did not answer",
    "credential": "{system} did not accept Gofer's credential; renew it",
    "permission": "{system} did not allow a call that was needed; the log names it",
    "refused": "{system} refused a call that was needed; the log has its code",
    "unknown": "it is not known whether the answer arrived",
    "turned_away": "the workflow is not for the person who asked",
    "unmet": "no call that the workflow requires has succeeded",
    "stopped": "the work failed, and the workflow answers nowhere",
    "fault": "Gofer itself failed; the log names the error",
    "poison": "workers failed again and again",
    "corrupt": "the journal is damaged; the log names the place",
}
"""The reason for the operator, by cause."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The number of runs that ended in one hour in the same stage and for the same cause."""

    hour: int
    """The beginning of the hour, unix milliseconds."""
    stage: Stage
    cause: str
    """An `errors.Cause`."""
    system: str
    """The display name of the outside system that was the cause, or empty."""
    count: int

    def sentence(self) -> str:
        """Return the text for the operator, without the time."""
        runs = "1 run"
        if self.count != 1:
            runs = f"{self.count} runs"
        reason = _REASONS.get(self.cause, "the log has the error").format(system=self.system or "A system outside")
        return f"{runs} {_failed(self.stage)}: {reason}."


async def count(store: Store, stage: Stage, cause: Cause, system: str, at: int) -> Ends:
    """Count one end at a time in unix milliseconds, and return the count of its hour. Raises TemporaryError."""
    hour = at - at % HOUR_MS
    name = f"{hour}/{stage}/{cause}/{system}"
    key = _key(at)
    stored = await store.memo(key)
    while True:
        counts = _counts(stored)
        counts[name] = counts.get(name, 0) + 1
        written = encode_text(counts)
        found = await store.exchange_memo(key, stored, written, at)
        if found == written:
            return Ends(hour, stage, cause, system, counts[name])
        stored = found


async def recent(store: Store, now: int) -> Sequence[Ends]:
    """Return the counts of the last DAYS days, the oldest hour first. Raises TemporaryError."""
    found: list[Ends] = []
    for day in reversed(range(DAYS)):
        counts = _counts(await store.memo(_key(now - day * DAY_MS)))
        for name, number in counts.items():
            ends = _read(name, number)
            if ends is not None:
                found.append(ends)
    return sorted(found, key=lambda ends: (ends.hour, ends.stage, ends.cause, ends.system))


def _key(at: int) -> str:
    return f"unlisted-ends:{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}"


def _counts(stored: str | None) -> dict[str, int]:
    if stored is None:
        return {}
    return {name: value for name, value in as_object(decode(stored.encode())).items() if isinstance(value, int)}


def _read(name: str, number: int) -> Ends | None:
    hour, stage, cause, system = name.split("/", 3)
    if stage not in ("begin", "answer", "go on"):
        return None
    return Ends(int(hour), stage, cause, system, number)


def _failed(stage: Stage) -> str:
    match stage:
        case "begin":
            return "could not begin"
        case "answer":
            return "could not be answered"
        case "go on":
            return "could not go on"
        case _:
            assert_never(stage)
