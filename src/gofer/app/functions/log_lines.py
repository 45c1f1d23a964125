"""The log lines of a function: Powertools' JSON with typed fields only, and no contents unless asked for.

`app/logs.py` decides what `AGENT_LOG_LEVEL` lets through, as it does for every other process.
"""

import json
import logging

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from gofer.app.logs import JsonLines
from gofer.app.settings import LogLevel


class TypedLines(LambdaPowertoolsFormatter):
    """Powertools' keys, and beside them what Gofer's own lines say."""

    def __init__(self, level: LogLevel) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            log_record_order=["level", "message"], use_rfc3339=True, utc=True
        )
        self._own = JsonLines(level)

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter.format."""
        line = json.loads(self._own.format(record))
        # Only keys that Powertools itself set for this invocation: ids, names and numbers.
        keys = {name: value for name, value in self.log_format.items() if isinstance(value, str | int | float)}
        keys = {name: value for name, value in keys.items() if "%(" not in str(value)}
        return json.dumps(keys | line, ensure_ascii=False)


def start_lines(level: LogLevel) -> Logger:
    """Send the log lines of this process to where Lambda keeps them; return the logger that knows the invocation."""
    logger = Logger(service=None, logger_formatter=TypedLines(level))
    root = logging.getLogger()
    # The runtime's own handler would write everything a second time, in its own way.
    root.handlers[:] = [logger.registered_handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("gofer").setLevel(logging.INFO)
    return logger
