"""The log line that tells the operator that a system outside does not let Gofer in.

One log line for each refusal, with its fields: `system`, `access` and `code`. Neither run nor place: a refusal also
comes to runs that must leave no trace. The run itself has it in its reason (`deliver.conclude`).
"""

import logging

from gofer.values.errors import Access

_log = logging.getLogger(__name__)


def tell_operator(system: str, access: Access, code: str, message: str) -> None:
    """Log a refusal that only an operator can do something about. The message holds no contents."""
    _log.error("%s", message, extra={"fields": {"system": system, "access": access, "code": code}})
