"""The outages that keep runs from going on: stores that do not answer, or that refuse the worker.

No run ends because of them. Each cause has a line in the log at once, and then one in five minutes with the number of
queue messages that came back. A message waits as long as its cause has lasted so far, so that a moment costs a moment
and an outage of hours costs little.
"""

import logging
from dataclasses import dataclass, field

from gofer.runtime.slots import VISIBILITY_SECONDS
from gofer.values.errors import ConfigError, TemporaryError

WINDOW = 300.0
"""Seconds between two lines about one cause."""
SHORTEST = 2.0
"""The shortest wait of a message, in seconds."""
LONGEST = VISIBILITY_SECONDS
"""The longest wait of a message, in seconds."""
_OVER = 2 * LONGEST
"""Seconds without a message that came back, after which a cause counts as over."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Cause:
    """One cause: since when it lasts, and the messages that came back since its last line."""

    since: float
    last: float
    written: float
    later: int = 0


@dataclass(frozen=True, slots=True)
class Outages:
    """The outages that one process knows, by the sentence that names their cause. Times are unix seconds."""

    _causes: dict[str, _Cause] = field(default_factory=dict[str, _Cause])

    def note(self, run: str, error: TemporaryError | ConfigError, now: float) -> float:
        """Note that a run was not continued, and log a new cause; return the seconds until the next attempt."""
        for text in [text for text, cause in self._causes.items() if not 0 <= now - cause.last <= _OVER]:
            del self._causes[text]
        level = logging.WARNING
        if isinstance(error, ConfigError):
            level = logging.ERROR
        cause = self._causes.get(str(error))
        if cause is None:
            cause = _Cause(since=now, last=now, written=now)
            self._causes[str(error)] = cause
            _log.log(level, "run %s was not continued, and is tried again: %s", run, error)
        else:
            _count(cause, level, error, now)
        return max(SHORTEST, min(LONGEST, now - cause.since))


def _count(cause: _Cause, level: int, error: Exception, now: float) -> None:
    cause.last = now
    cause.later += 1
    if now - cause.written < WINDOW:
        return
    seconds = now - cause.written
    fields = {"count": cause.later, "seconds": round(seconds)}
    _log.log(level, "%d more attempts failed in %.0f s: %s", cause.later, seconds, error, extra={"fields": fields})
    cause.later = 0
    cause.written = now
