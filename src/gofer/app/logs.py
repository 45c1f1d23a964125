"""Log lines: one JSON object a line on stderr, with counts, names and ids, and without contents by default.

`minimal` keeps ids, status, duration, counts, and the names of systems that deny Gofer access. `summary` adds names and
Gofer's own messages. `full` adds messages of libraries and providers, and stack traces. These may hold contents, so
`full` is for development.
"""

import json
import logging
import math
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

from typing_extensions import override

from gofer.app.settings import LogLevel
from gofer.values.canonical_json import as_object
from gofer.values.outside import Clock, SystemClock

MINUTE = 60.0
"""Seconds between two lines about one cause."""
_FORGOTTEN = 3_600.0
_MINIMAL = frozenset({"run", "status", "seconds", "system", "access", "code", "path", "count"})


def start_logging(level: LogLevel) -> None:
    """Send the log lines of this process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(level))
    handler.addFilter(OncePerMinute(SystemClock()))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("gofer").setLevel(logging.INFO)


class OncePerMinute(logging.Filter):
    """Lets one of the records with the same `cause` through each minute, with the number of those left out."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._left_out: dict[str, tuple[float, int]] = {}
        """When a record of each cause was written, by the monotonic clock, and how many were left out since."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        cause = cast(object, getattr(record, "cause", None))
        if not isinstance(cause, str):
            return True
        now = self._clock.monotonic()
        at, count = self._left_out.get(cause, (-math.inf, 0))
        if now - at < MINUTE:
            self._left_out[cause] = (at, count + 1)
            return False
        # A cause without records for an hour is forgotten.
        recent = {known: one for known, one in self._left_out.items() if now - one[0] < _FORGOTTEN}
        self._left_out = {**recent, cause: (now, 0)}
        if count:
            record.msg = f"{record.getMessage()} ({count:,} more since the last line)"
            record.args = ()
        return True


class JsonLines(logging.Formatter):
    """A record as one JSON object: `at`, `level`, `logger`, then the fields that the log level allows."""

    def __init__(self, level: LogLevel) -> None:
        super().__init__()
        self._level: LogLevel = level

    @override
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        fields = as_object(cast(object, getattr(record, "fields", None)))
        if self._level == "minimal":
            fields = {name: value for name, value in fields.items() if name in _MINIMAL}
        # A library's message may hold contents, so its line names only the logger and the level.
        if self._level == "full" or (self._level == "summary" and record.name.startswith("gofer.")):
            line["message"] = record.getMessage()
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            if self._level == "full":
                line["trace"] = self.formatException(record.exc_info)
        contents: Mapping[str, object] = {}
        if self._level == "full":
            contents = as_object(cast(object, getattr(record, "contents", None)))
        return json.dumps(line | dict(fields) | dict(contents), ensure_ascii=False)
