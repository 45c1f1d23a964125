"""The columns of a head in SQLite, and their conversion.

A row with values of undeclared types is damaged. Lists log it and leave it out.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from gofer.journal.coordination import Head, Usage
from gofer.values.errors import Corrupt

Row = tuple[Any, ...]
"""The values of one row, of the types that SCHEMA declares."""

HEAD = (
    "run, workflow, conversation, accepted_at, status, private, updated_at, reason, wakes_at, frames, facts, by_person,"
    " retention"
)
"""The columns of a head."""
_TYPES = (str, str, str, int, str, int, int, str, int, int, str, int, str)
_LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999; a larger number is no valid time."""
REPLACED = ", ".join(f"{name} = excluded.{name}" for name in HEAD.split(", ")[1:-1])
"""The assignments of an upsert that replaces a whole head except its `retention`."""
MARKS = ", ".join("?" for _ in _TYPES)
"""The placeholders for all columns of a head."""

_log = logging.getLogger(__name__)


def row_of(head: Head) -> Row:
    """Return the row of a head."""
    return (
        head.run,
        head.workflow,
        head.conversation,
        head.accepted_at,
        head.status,
        int(head.private),
        head.updated_at,
        head.reason,
        head.wakes_at,
        head.frames,
        head.facts,
        int(head.by_person),
        head.retention,
    )


def head_of(row: Row) -> Head:
    """Return the head of a row. Raises Corrupt."""
    run, workflow, conversation, accepted_at, status, private, updated_at, *rest = row
    reason, wakes_at, frames, facts, by_person, retention = rest
    times = (accepted_at, updated_at, wakes_at)
    plausible = tuple(map(type, row)) == _TYPES and all(0 <= at <= _LATEST for at in times)
    if not plausible or not all(map(_is_text, row)):
        named = ascii(run)[1:-1] if isinstance(run, str) else "?"
        raise Corrupt(f"The list row of run {named} is damaged; restore gofer.db from a backup.")
    begun = (run, workflow, conversation, accepted_at, status, bool(private), updated_at)
    return Head(*begun, reason, wakes_at, frames, facts, bool(by_person), retention)


def usage_of(row: Row) -> Usage:
    """Return the usage of a run from its row. Raises Corrupt."""
    if tuple(map(type, row)) != (str, str, int, float):
        raise Corrupt("A usage row is damaged; restore gofer.db from a backup.")
    return Usage(*row)


def readable(rows: Iterable[Row]) -> Iterator[Head]:
    """Yield the heads of rows; log damaged rows and leave them out."""
    for row in rows:
        try:
            yield head_of(row)
        except Corrupt as error:
            _log.error("%s", error)


def text_of(raw: bytes) -> str:
    """Decode text and keep bytes that are no UTF-8 as surrogates, so that a reader can detect them."""
    return raw.decode(errors="surrogateescape")


def _is_text(value: object) -> bool:
    if not isinstance(value, str) or value.isascii():
        return True
    return not any("\ud800" <= letter <= "\udfff" for letter in value)
