"""The log of deliveries that start nothing: a line for the first of each kind, then one a minute with their number.

A kind is a receiver's path, a code of a closed set and a reason. At most KINDS kinds are counted at a time, so the
memory that is used has a bound.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from gofer.values.outside import Clock

WINDOW = 60.0
"""Seconds between two lines of the same kind."""
KINDS = 256
"""Kinds that are counted apart; those beyond are counted by path and code."""
OTHERS = "other reasons; `gofer explain` names the one of each payload"
"""The reason of deliveries that are counted by path and code."""

_Kind = tuple[str, str, str]
"""Path, code and reason."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the log says of a delivery that starts nothing."""

    verb: str
    """What happened to it: `refused`, `ignored`."""
    code: str
    """One of a closed set."""
    reason: str
    """What happened and what to do, as a clause without contents."""
    level: int = logging.INFO


@dataclass(slots=True)
class _Tally:
    """The deliveries of one kind since its last line."""

    since: float
    last: float
    outcome: Outcome
    count: int = 0


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """Counts deliveries by kind. Times are those of one monotonic clock, in seconds."""

    _tallies: dict[_Kind, _Tally] = field(default_factory=dict[_Kind, _Tally])

    def note(self, path: str, outcome: Outcome, now: float) -> None:
        """Log the first delivery of its kind, and count every other one for the line that is due in a minute."""
        self.write_due(now)
        kind = (path, outcome.code, outcome.reason)
        if kind not in self._tallies and len(self._tallies) >= KINDS:
            outcome = replace(outcome, reason=OTHERS)
            kind = (path, outcome.code, OTHERS)
        known = self._tallies.get(kind)
        if known is None:
            self._tallies[kind] = _Tally(now, now, outcome)
            _write(path, outcome, 1, 0.0)
            return
        known.count += 1
        known.last = now

    def write_due(self, now: float) -> None:
        """Write the lines that are due, and forget the kinds that have stopped."""
        for kind, tally in list(self._tallies.items()):
            if now - tally.since < WINDOW:
                continue
            if tally.count:
                _write(kind[0], tally.outcome, tally.count, tally.last - tally.since)
            if now - tally.last >= WINDOW:
                del self._tallies[kind]
            else:
                self._tallies[kind] = _Tally(now, now, tally.outcome)

    def flush(self) -> None:
        """Write what was counted and not yet written."""
        for (path, _, _), tally in self._tallies.items():
            if tally.count:
                _write(path, tally.outcome, tally.count, tally.last - tally.since)
        self._tallies.clear()

    @asynccontextmanager
    async def written(self, clock: Clock) -> AsyncGenerator[None]:
        """Write due lines while the block runs, and the rest at its end."""
        writing = asyncio.create_task(self._write_each_window(clock))
        try:
            yield
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            self.flush()

    async def _write_each_window(self, clock: Clock) -> None:
        while True:
            await asyncio.sleep(WINDOW / 4)
            self.write_due(clock.monotonic())


def _write(path: str, outcome: Outcome, count: int, seconds: float) -> None:
    many = "1 delivery"
    if count > 1:
        many = f"{count} deliveries"
    fields: dict[str, object] = {"path": path, "code": outcome.code, "count": count}
    within = ""
    if seconds:
        fields["seconds"] = math.ceil(seconds)
        within = f" in {math.ceil(seconds)} s"
    line = "%s to %s %s%s: %s"
    _log.log(outcome.level, line, many, path, outcome.verb, within, outcome.reason, extra={"fields": fields})
