"""The columns of a head, and how a row of them is read.

A row whose values are not of the declared types was damaged: it is reported, and lists leave it out.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from gofer.journal.coordination import Head, Usage
from gofer.values.errors import Corrupt

Row = tuple[Any, ...]
"""What SQLite gives back: values of the types that SCHEMA declares."""

HEAD = "run, workflow, conversation, accepted_at, status, private, updated_at, reason, wakes_at, frames, retention"
"""The columns of a head."""
_TYPES = (str, str, str, int, str, int, int, str, int, int, str)
_LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999; a number beyond it was never a time."""
REPLACED = ", ".join(f"{name} = excluded.{name}" for name in HEAD.split(", ")[1:-1])
"""All of a head but its `retention`, as an upsert replaces it."""
MARKS = ", ".join("?" for _ in _TYPES)
"""Placeholders for all columns of a head."""

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
        head.retention,
    )


def head_of(row: Row) -> Head:
    """Return the head of a row. Raises Corrupt."""
    run, workflow, conversation, accepted_at, status, private, updated_at, *rest = row
    times = (accepted_at, updated_at, rest[1])
    plausible = tuple(map(type, row)) == _TYPES and all(0 <= at <= _LATEST for at in times)
    if not plausible or not all(map(_is_text, row)):
        named = ascii(run)[1:-1] if isinstance(run, str) else "?"
        raise Corrupt(f"The list row of run {named} is not what was written; restore gofer.db from a backup.")
    return Head(run, workflow, conversation, accepted_at, status, bool(private), updated_at, *rest)


def usage_of(row: Row) -> Usage:
    """Return what a row says of a run's usage. Raises Corrupt."""
    if tuple(map(type, row)) != (str, str, int, float):
        raise Corrupt("A row of what was used is not what was written; restore gofer.db from a backup.")
    return Usage(*row)


def readable(rows: Iterable[Row]) -> Iterator[Head]:
    """Return the heads of rows, without damaged ones, which are logged."""
    for row in rows:
        try:
            yield head_of(row)
        except Corrupt as error:
            _log.error("%s", error)


def text_of(raw: bytes) -> str:
    """Return text in which bytes that are no UTF-8 can be told."""
    return raw.decode(errors="surrogateescape")


def _is_text(value: object) -> bool:
    return not isinstance(value, str) or not any("\ud800" <= letter <= "\udfff" for letter in value)
