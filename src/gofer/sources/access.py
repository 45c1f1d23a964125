"""The log line for operators when an external system refuses Gofer's access.

Each refusal is one line with the fields `system`, `access` and `code`. The line names neither the run nor the place,
because some runs must leave no trace. The run records the refusal in its own reason (`deliver.conclude`).
"""

import logging

from gofer.values.errors import Access

_log = logging.getLogger(__name__)


def log_refusal(system: str, access: Access, code: str, message: str) -> None:
    """Log a refusal that only an operator can resolve. The message must hold no contents."""
    _log.error("%s", message, extra={"fields": {"system": system, "access": access, "code": code}})
