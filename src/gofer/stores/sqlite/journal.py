"""The store in one SQLite file.

The primary key `(run, n)` is the fence. Every method is one statement or one small transaction on the writer thread of
`gofer.stores.sqlite.database`, so a result that a caller got is on the disk. Keys have a file of their own and never
enter the database or its log. The write lock of the database covers both files, in all processes.
"""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import islice

from typing_extensions import override

from gofer.journal.coordination import (
    ANY_OF_PLACE,
    HELD,
    RUNNABLE,
    UNFINISHED,
    Head,
    InboxItem,
    Mark,
    Retention,
    facts_left,
)
from gofer.journal.store import PAGE
from gofer.stores.sqlite.counts import SqliteCounts
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.head_rows import HEAD, MARKS, REPLACED, Row, head_of, readable, row_of, text_of
from gofer.stores.sqlite.key_file import Keys
from gofer.values.errors import Corrupt

SCHEMA = """
CREATE TABLE IF NOT EXISTS frames (
    run TEXT NOT NULL, n INTEGER NOT NULL, frame BLOB NOT NULL, PRIMARY KEY (run, n)
);
CREATE TABLE IF NOT EXISTS heads (
    run TEXT PRIMARY KEY, workflow TEXT NOT NULL, conversation TEXT NOT NULL, accepted_at INTEGER NOT NULL,
    status TEXT NOT NULL, private INTEGER NOT NULL, updated_at INTEGER NOT NULL, reason TEXT NOT NULL,
    wakes_at INTEGER NOT NULL, frames INTEGER NOT NULL, retention TEXT NOT NULL,
    facts TEXT NOT NULL DEFAULT '', by_person INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS heads_by_age ON heads (accepted_at DESC, run);
CREATE INDEX IF NOT EXISTS heads_public ON heads (accepted_at DESC, run) WHERE private = 0;
CREATE INDEX IF NOT EXISTS heads_runnable ON heads (conversation, accepted_at, run)
    WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS heads_parked ON heads (conversation) WHERE status = 'parked';
CREATE INDEX IF NOT EXISTS heads_of_conversation ON heads (conversation, workflow, accepted_at DESC);
CREATE INDEX IF NOT EXISTS heads_unfinished ON heads (max(accepted_at, updated_at, wakes_at), run)
    WHERE status IN ('queued', 'running', 'parked');
CREATE INDEX IF NOT EXISTS heads_ended ON heads (retention, max(accepted_at, updated_at), run)
    WHERE status NOT IN ('queued', 'running', 'parked');
CREATE INDEX IF NOT EXISTS heads_ended_private ON heads (retention, max(accepted_at, updated_at), run)
    WHERE private = 1 AND status NOT IN ('queued', 'running', 'parked');
CREATE INDEX IF NOT EXISTS heads_abandoned ON heads (accepted_at DESC, run)
    WHERE status = 'needs_attention' AND facts = '';
CREATE INDEX IF NOT EXISTS heads_rated ON heads (accepted_at DESC, run)
    WHERE instr(facts, '"good":') OR instr(facts, '"bad":');
CREATE TABLE IF NOT EXISTS leases (
    conversation TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
    scope TEXT NOT NULL, run TEXT NOT NULL, at INTEGER NOT NULL, usd REAL NOT NULL, PRIMARY KEY (scope, run)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS usage_by_age ON usage (scope, at, run);
CREATE INDEX IF NOT EXISTS usage_of_run ON usage (run);
CREATE INDEX IF NOT EXISTS usage_expiring ON usage (at);
CREATE TABLE IF NOT EXISTS memos (
    key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memos_expiring ON memos (at);
CREATE TABLE IF NOT EXISTS inbox (
    run TEXT NOT NULL, id TEXT NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (run, id)
) WITHOUT ROWID;
"""

_ALL = 2**31
_RUNNABLE = ", ".join(f"'{status}'" for status in RUNNABLE)
_UNFINISHED = ", ".join(f"'{status}'" for status in UNFINISHED)
_HELD = ", ".join(f"'{retention}'" for retention in HELD)
_MARKED: Mapping[Mark, str] = {
    "abandoned": "heads_abandoned WHERE status = 'needs_attention' AND facts = ''",
    "rated": """heads_rated WHERE (instr(facts, '"good":') OR instr(facts, '"bad":'))""",
}
"""The index and the condition of the runs that may have a mark. Names of tools in facts may look like feedback."""


class SqliteStore(SqliteCounts):
    """The store in a Database with the tables of SCHEMA. A key is durable before its claim."""

    def __init__(self, database: Database, keys: Keys) -> None:
        super().__init__(database)
        self._keys = keys
        database.sync_first(keys.sync)

    @override
    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:

        def work(connection: sqlite3.Connection) -> bytes | None:
            written = connection.execute("INSERT INTO frames VALUES (?, 1, ?) ON CONFLICT DO NOTHING", (run, frame))
            if not written.rowcount:
                return _frame(connection, run, 1)
            # The key is durable before the commit. Without the commit no frame uses it, and the next claim replaces it.
            if key:
                self._keys.put(run, key, at)
            return None

        return await self._database.run(work)

    @override
    async def key(self, run: str) -> bytes | None:
        return await self._database.run(lambda _: self._keys.get(run), savepoint=False)

    @override
    async def keyless(self, runs: Sequence[str]) -> Sequence[str]:
        return await self._database.run(lambda _: [run for run in runs if self._keys.get(run) is None], savepoint=False)

    @override
    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:

        def work(connection: sqlite3.Connection) -> bytes | None:
            # The condition makes a gap impossible: frame n needs frame n - 1.
            written = connection.execute(
                "INSERT INTO frames SELECT ?1, ?2, ?3"
                " WHERE EXISTS (SELECT 1 FROM frames WHERE run = ?1 AND n = ?2 - 1)"
                " ON CONFLICT DO NOTHING",
                (run, n, frame),
            ).rowcount
            if written:
                return None
            if (existing := _frame(connection, run, n)) is None:
                raise ValueError(f"frame {n} would leave a gap")
            return existing

        return await self._database.run(work, savepoint=False)

    @override
    async def frames(self, run: str) -> Sequence[bytes]:
        rows = await self._rows("SELECT frame FROM frames WHERE run = ? ORDER BY n", (run,))
        return [_bytes(run, n, row[0]) for n, row in enumerate(rows, start=1)]

    @override
    async def create_head(self, head: Head) -> None:
        await self._rows(f"INSERT INTO heads ({HEAD}) VALUES ({MARKS}) ON CONFLICT DO NOTHING", row_of(head))

    @override
    async def put_head(self, head: Head) -> None:
        upsert = f"INSERT INTO heads ({HEAD}) VALUES ({MARKS}) ON CONFLICT DO UPDATE SET {REPLACED}"

        def work(connection: sqlite3.Connection) -> None:
            stored = connection.execute("SELECT retention FROM heads WHERE run = ?", (head.run,)).fetchone()
            known = head
            if stored is not None:
                known = head.retained(stored[0])
            connection.execute(upsert, row_of(known))

        await self._database.run(work, savepoint=False)

    @override
    async def head(self, run: str) -> Head | None:
        return await self._first_head(f"SELECT {HEAD} FROM heads WHERE run = ?", (run,))

    @override
    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        # A constant condition uses the partial index; with a parameter SQLite would also read all private heads.
        shown = "" if private else "WHERE private = 0 "
        return await self._readable_heads(f"SELECT {HEAD} FROM heads {shown}ORDER BY accepted_at DESC, run", (), limit)

    @override
    async def listed(self, since: int, *, private: bool = False) -> AsyncIterator[Sequence[Head]]:
        shown = "" if private else "private = 0 AND "
        # A time after every other; the next pages begin after the last run of the page before.
        last = (2**62, "")
        while True:
            page = await self._readable_heads(
                f"SELECT {HEAD} FROM heads WHERE {shown}accepted_at >= ? AND accepted_at <= ?"
                " AND (accepted_at < ? OR run > ?) ORDER BY accepted_at DESC, run",
                (since, last[0], *last),
                PAGE,
            )
            yield page
            if len(page) < PAGE:
                return
            last = (page[-1].accepted_at, page[-1].run)

    @override
    async def marked(self, mark: Mark) -> AsyncIterator[Sequence[Head]]:
        # Without statistics SQLite would rather read all runs by age.
        found = await self._readable_heads(
            f"SELECT {HEAD} FROM heads INDEXED BY {_MARKED[mark]} AND retention IN ({_HELD})", (), _ALL
        )
        yield [head for head in found if head.mark == mark]

    @override
    async def oldest_runnable(self, conversation: str) -> Head | None:
        return await self._first_head(
            f"SELECT {HEAD} FROM heads WHERE conversation = ? AND status IN ({_RUNNABLE})"
            " ORDER BY accepted_at, run LIMIT 1",
            (conversation,),
        )

    @override
    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        return await self._first_head(
            f"SELECT {HEAD} FROM heads WHERE conversation = ? AND workflow = ? AND accepted_at < ?"
            f" AND status NOT IN ({_UNFINISHED}) ORDER BY accepted_at DESC, run LIMIT 1",
            (conversation, workflow, before),
        )

    @override
    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        last = (-1, "")
        if after is not None:
            last = (after.touched_at, after.run)
        return await self._readable_heads(
            f"SELECT {HEAD} FROM heads WHERE status IN ({_UNFINISHED}) AND max(accepted_at, updated_at, wakes_at) < ?"
            " AND (max(accepted_at, updated_at, wakes_at), run) > (?, ?)"
            " ORDER BY max(accepted_at, updated_at, wakes_at), run",
            (before, *last),
            limit,
        )

    @override
    async def open_runs(self, conversations: str) -> AsyncIterator[Sequence[Head]]:
        first = last = conversations
        if conversations.endswith(f":{ANY_OF_PLACE}"):
            first = conversations.removesuffix(ANY_OF_PLACE)
            last = f"{first}\U0010ffff"
        # Without statistics SQLite would rather read all unfinished runs.
        read = f"SELECT {HEAD} FROM heads INDEXED BY"
        where = "WHERE conversation BETWEEN ?1 AND ?2 AND"
        runnable = f"{read} heads_runnable {where} status IN ({_RUNNABLE})"
        parked = f"{read} heads_parked {where} status = 'parked'"
        yield await self._readable_heads(f"{runnable} UNION ALL {parked}", (first, last), _ALL)

    @override
    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        only = "private = 1 AND " if private else ""
        last = (-1, "")
        if after is not None:
            last = (max(after.accepted_at, after.updated_at), after.run)
        return await self._readable_heads(
            f"SELECT {HEAD} FROM heads WHERE {only}status NOT IN ({_UNFINISHED}) AND retention = ?"
            " AND max(accepted_at, updated_at) < ? AND (max(accepted_at, updated_at), run) > (?, ?)"
            " ORDER BY max(accepted_at, updated_at), run",
            (retention, before, *last),
            limit,
        )

    async def bring_back(self, now: int) -> int:
        """Set the times of unfinished heads that are later than `now` (unix ms) to just before it; return their number.

        Call this only while no owner can be alive.
        """
        rows = await self._rows(
            "UPDATE heads SET accepted_at = min(accepted_at, ?1 - 1), updated_at = min(updated_at, ?1 - 1)"
            f" WHERE status IN ({_UNFINISHED}) AND max(accepted_at, updated_at, wakes_at) > ?1"
            " AND (accepted_at > ?1 OR updated_at > ?1) RETURNING run",
            (now,),
        )
        return len(rows)

    @override
    async def put_item(self, run: str, item: InboxItem) -> None:
        await self._rows("INSERT INTO inbox VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (run, item.id, item.entry))

    @override
    async def items(self, run: str) -> Sequence[InboxItem]:
        rows = await self._rows("SELECT id, entry FROM inbox WHERE run = ? ORDER BY id", (run,))
        return [InboxItem(row[0], row[1]) for row in rows]

    @override
    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        await self._database.run(
            lambda connection: connection.executemany(
                "DELETE FROM inbox WHERE run = ? AND id = ?", [(run, item_id) for item_id in ids]
            )
        )

    @override
    async def unlisted(self, before: int, limit: int) -> Sequence[str]:

        def work(connection: sqlite3.Connection) -> list[str]:
            old = (claimed.run for claimed in self._keys.before(before))
            without = (run for run in old if not _exists(connection, "SELECT 1 FROM heads WHERE run = ?", run))
            return list(islice(without, limit))

        return await self._database.run(work, savepoint=False)

    @override
    async def drop_orphans(self, before: int) -> None:

        def work(connection: sqlite3.Connection) -> None:
            for claimed in self._keys.before(before):
                if not _exists(connection, "SELECT 1 FROM frames WHERE run = ? AND n = 1", claimed.run):
                    self._keys.destroy(claimed.run)

        await self._database.run(work)

    @override
    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:

        def work(connection: sqlite3.Connection) -> Retention | None:
            row = connection.execute("SELECT retention, facts FROM heads WHERE run = ?", (run,)).fetchone()
            if row is None:
                return None
            if row[0] != was:
                return row[0]
            left = facts_left(str(row[1]), becomes)
            connection.execute("UPDATE heads SET retention = ?, facts = ? WHERE run = ?", (becomes, left, run))
            return becomes

        return await self._database.run(work, savepoint=False)

    @override
    async def hide(self, run: str) -> None:
        await self._rows("UPDATE heads SET private = 1, facts = '' WHERE run = ?", (run,))

    @override
    async def destroy_key(self, run: str) -> None:
        await self._database.run(lambda _: self._keys.destroy(run))

    @override
    async def empty(self, run: str) -> None:
        await self._execute_all(run, "UPDATE frames SET frame = x'' WHERE run = ?", "DELETE FROM inbox WHERE run = ?")

    @override
    async def forget(self, run: str) -> None:
        await self.destroy_key(run)
        await self._execute_all(run, *(f"DELETE FROM {table} WHERE run = ?" for table in ("frames", "inbox", "heads")))

    @override
    async def scrub(self) -> None:
        await self._database.empty_log()

    async def _execute_all(self, run: str, *statements: str) -> None:
        """Execute several statements about one run in one transaction."""

        def work(connection: sqlite3.Connection) -> None:
            for statement in statements:
                connection.execute(statement, (run,))

        await self._database.run(work)

    async def _first_head(self, statement: str, values: Row) -> Head | None:
        rows = await self._rows(statement, values)
        if not rows:
            return None
        return head_of(rows[0])

    async def _readable_heads(self, statement: str, values: Row, limit: int) -> Sequence[Head]:
        """Return the first `limit` heads that can be read; log damaged rows and leave them out."""

        def work(connection: sqlite3.Connection) -> list[Head]:
            # Invalid UTF-8 in one row would fail the whole list, so it is decoded to surrogates, which mark the row.
            connection.text_factory = text_of
            try:
                return list(islice(readable(connection.execute(statement, values)), limit))
            finally:
                connection.text_factory = str

        return await self._database.run(work, savepoint=False)


def _exists(connection: sqlite3.Connection, statement: str, run: str) -> bool:
    return connection.execute(statement, (run,)).fetchone() is not None


def _frame(connection: sqlite3.Connection, run: str, n: int) -> bytes | None:
    row = connection.execute("SELECT frame FROM frames WHERE run = ? AND n = ?", (run, n)).fetchone()
    if row is None:
        return None
    return _bytes(run, n, row[0])


def _bytes(run: str, n: int, stored: object) -> bytes:
    # SQLite stores a type with each value, so one flipped bit can turn bytes into text.
    if not isinstance(stored, bytes):
        raise Corrupt(f"Run {run} is damaged at frame {n}: no bytes are stored there; restore them.")
    return stored
