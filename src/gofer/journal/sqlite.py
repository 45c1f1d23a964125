"""How are journals kept in one SQLite file?

The primary key `(run, n)` is the fence. Every method is one statement or one small transaction on the writer
thread of `gofer.database`, so what a caller was told is on the disk.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from gofer.database import Database
from gofer.journal.coordination import RUNNABLE, UNFINISHED, Head, InboxItem

SCHEMA = """
CREATE TABLE IF NOT EXISTS frames (
    run TEXT NOT NULL, n INTEGER NOT NULL, frame BLOB NOT NULL, PRIMARY KEY (run, n)
);
CREATE TABLE IF NOT EXISTS heads (
    run TEXT PRIMARY KEY, workflow TEXT NOT NULL, conversation TEXT NOT NULL, accepted_at INTEGER NOT NULL,
    status TEXT NOT NULL, private INTEGER NOT NULL, updated_at INTEGER NOT NULL, reason TEXT NOT NULL,
    wakes_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS heads_by_age ON heads (accepted_at DESC, run);
CREATE INDEX IF NOT EXISTS heads_runnable ON heads (conversation, accepted_at, run)
    WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS heads_unfinished ON heads (max(accepted_at, updated_at, wakes_at), run)
    WHERE status IN ('queued', 'running', 'parked');
CREATE TABLE IF NOT EXISTS leases (conversation TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS inbox (
    run TEXT NOT NULL, id TEXT NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (run, id)
);
"""

Row = tuple[Any, ...]
"""What SQLite gives back: values of the types that SCHEMA declares."""

_HEAD = "run, workflow, conversation, accepted_at, status, private, updated_at, reason, wakes_at"
_RUNNABLE = ", ".join(f"'{status}'" for status in RUNNABLE)
_UNFINISHED = ", ".join(f"'{status}'" for status in UNFINISHED)


class SqliteStore:
    """A store in the file of a Database whose schema includes SCHEMA."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        """See Store.create."""

        def work(connection: sqlite3.Connection) -> bytes | None:
            # The condition makes a gap impossible: frame n needs frame n - 1.
            written = connection.execute(
                "INSERT INTO frames SELECT ?1, ?2, ?3"
                " WHERE ?2 = 1 OR EXISTS (SELECT 1 FROM frames WHERE run = ?1 AND n = ?2 - 1)"
                " ON CONFLICT DO NOTHING",
                (run, n, frame),
            ).rowcount
            if written:
                return None
            standing = connection.execute("SELECT frame FROM frames WHERE run = ? AND n = ?", (run, n)).fetchone()
            if standing is None:
                raise ValueError(f"frame {n} would leave a gap")
            return bytes(standing[0])

        return await self._database.run(work)

    async def frames(self, run: str) -> Sequence[bytes]:
        """See Store.frames."""
        rows = await self._rows("SELECT frame FROM frames WHERE run = ? ORDER BY n", (run,))
        return [row[0] for row in rows]

    async def create_head(self, head: Head) -> None:
        """See Store.create_head."""
        await self._rows(f"INSERT INTO heads ({_HEAD}) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING", _row(head))

    async def put_head(self, head: Head) -> None:
        """See Store.put_head."""
        await self._rows(f"INSERT OR REPLACE INTO heads ({_HEAD}) VALUES (?,?,?,?,?,?,?,?,?)", _row(head))

    async def head(self, run: str) -> Head | None:
        """See Store.head."""
        rows = await self._rows(f"SELECT {_HEAD} FROM heads WHERE run = ?", (run,))
        return _head(rows[0]) if rows else None

    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        """See Store.heads."""
        rows = await self._rows(
            f"SELECT {_HEAD} FROM heads WHERE private <= ? ORDER BY accepted_at DESC, run LIMIT ?", (private, limit)
        )
        return [_head(row) for row in rows]

    async def oldest_runnable(self, conversation: str) -> Head | None:
        """See Store.oldest_runnable."""
        rows = await self._rows(
            f"SELECT {_HEAD} FROM heads WHERE conversation = ? AND status IN ({_RUNNABLE})"
            " ORDER BY accepted_at, run LIMIT 1",
            (conversation,),
        )
        return _head(rows[0]) if rows else None

    async def unfinished(self, before: int, limit: int) -> Sequence[Head]:
        """See Store.unfinished."""
        rows = await self._rows(
            f"SELECT {_HEAD} FROM heads WHERE status IN ({_UNFINISHED}) AND max(accepted_at, updated_at, wakes_at) < ?"
            " ORDER BY max(accepted_at, updated_at, wakes_at), run LIMIT ?",
            (before, limit),
        )
        return [_head(row) for row in rows]

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        """See Store.lease."""
        rows = await self._rows(
            "INSERT INTO leases VALUES (?1, ?2, ?3 + ?4) ON CONFLICT DO UPDATE SET owner = ?2, until = ?3 + ?4"
            " WHERE owner = ?2 OR until <= ?3 RETURNING owner",
            (conversation, owner, now, seconds),
        )
        return bool(rows)

    async def release(self, conversation: str, owner: str) -> None:
        """See Store.release."""
        await self._rows("DELETE FROM leases WHERE conversation = ? AND owner = ?", (conversation, owner))

    async def drop_leases(self) -> None:
        """See Store.drop_leases."""
        await self._rows("DELETE FROM leases", ())

    async def put_item(self, run: str, item: InboxItem) -> None:
        """See Store.put_item."""
        await self._rows("INSERT INTO inbox VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (run, item.id, item.entry))

    async def items(self, run: str) -> Sequence[InboxItem]:
        """See Store.items."""
        rows = await self._rows("SELECT id, entry FROM inbox WHERE run = ? ORDER BY id", (run,))
        return [InboxItem(row[0], row[1]) for row in rows]

    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        """See Store.drop_items."""
        await self._database.run(
            lambda connection: connection.executemany(
                "DELETE FROM inbox WHERE run = ? AND id = ?", [(run, item_id) for item_id in ids]
            )
        )

    async def _rows(self, statement: str, values: Row) -> list[Row]:
        return await self._database.run(lambda connection: connection.execute(statement, values).fetchall())


def _row(head: Head) -> Row:
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
    )


def _head(row: Row) -> Head:
    run, workflow, conversation, accepted_at, status, private, updated_at, reason, wakes_at = row
    return Head(run, workflow, conversation, accepted_at, status, bool(private), updated_at, reason, wakes_at)
