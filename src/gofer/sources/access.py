"""How does whoever runs Gofer hear that a system outside does not let it in?

One log line for each refusal, with its fields: `system`, `access` and `code`. Neither run nor place: a refusal also
comes to runs that must leave no trace. The run itself has it in its reason (`deliver.conclude`).
"""

import logging

from gofer.values.errors import Access

_log = logging.getLogger(__name__)


def tell_operator(system: str, access: Access, code: str, message: str) -> None:
    """Logs a refusal that nobody but an operator can do anything about; the message holds no contents."""
    _log.error("%s", message, extra={"fields": {"system": system, "access": access, "code": code}})
