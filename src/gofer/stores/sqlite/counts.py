"""Leases, usage rows and memos in SQLite."""

import sqlite3
from collections.abc import Sequence

from typing_extensions import override

from gofer.journal.coordination import DAY_MS, SPENT_MS, Spent, Usage, spent_until
from gofer.journal.store import Store
from gofer.stores.sqlite.database import Database, fetch
from gofer.stores.sqlite.head_rows import Row, usage_of


class SqliteCounts(Store):
    """The part of the store for leases, usage and memos."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        rows = await self._rows(
            "INSERT INTO leases VALUES (?1, ?2, ?3 + ?4) ON CONFLICT DO UPDATE SET owner = ?2, until = ?3 + ?4"
            " WHERE owner = ?2 OR until <= ?3 RETURNING owner",
            (conversation, owner, now, seconds),
        )
        return bool(rows)

    @override
    async def release(self, conversation: str, owner: str) -> None:
        await self._rows("DELETE FROM leases WHERE conversation = ? AND owner = ?", (conversation, owner))

    @override
    async def leased(self, conversation: str, now: float) -> bool:
        return bool(await self._rows("SELECT 1 FROM leases WHERE conversation = ? AND until > ?", (conversation, now)))

    @override
    async def drop_leases(self) -> None:
        await self._rows("DELETE FROM leases", ())

    @override
    async def put_usage(self, rows: Sequence[Usage]) -> None:
        if rows:
            await self._database.run(
                lambda connection: connection.executemany(
                    "INSERT INTO usage VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET usd = max(usd, excluded.usd)",
                    [(row.scope, row.run, row.at, row.usd) for row in rows],
                )
            )

    @override
    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        rows = await self._rows(
            "SELECT scope, run, at, usd FROM usage WHERE scope = ? AND at >= ? ORDER BY at, run", (scope, since)
        )
        return [usage_of(row) for row in rows]

    @override
    async def spent(self, scope: str, now: int) -> Sequence[Spent]:
        step = f"(at + {SPENT_MS - 1}) / {SPENT_MS} * {SPENT_MS}"
        rows = await self._rows(
            f"SELECT {step}, sum(usd) FROM usage WHERE scope = ? AND at > ? GROUP BY 1 ORDER BY 1",
            (scope, spent_until(now - DAY_MS + 1) - SPENT_MS),
        )
        return [Spent(until, usd) for until, usd in rows]

    @override
    async def drop_usage(self, run: str) -> None:
        await self._rows("DELETE FROM usage WHERE run = ?", (run,))

    @override
    async def expire_usage(self, before: int) -> None:
        await self._rows("DELETE FROM usage WHERE at < ?", (before,))

    @override
    async def put_memo(self, key: str, value: str, at: int) -> None:
        statement = (
            "INSERT INTO memos VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, at = excluded.at"
        )
        await self._rows(statement, (key, value, at))

    @override
    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:

        def work(connection: sqlite3.Connection) -> str:
            if was is None:
                connection.execute("INSERT INTO memos VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (key, value, at))
            else:
                changed = "UPDATE memos SET value = ?, at = ? WHERE key = ? AND value = ?"
                connection.execute(changed, (value, at, key, was))
            row = connection.execute("SELECT value FROM memos WHERE key = ?", (key,)).fetchone()
            return str(row[0]) if row else ""

        return await self._database.run(work, savepoint=False)

    @override
    async def memo(self, key: str) -> str | None:
        rows = await self._rows("SELECT value FROM memos WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    @override
    async def expire_memos(self, before: int) -> None:
        await self._rows("DELETE FROM memos WHERE at < ?", (before,))

    async def _rows(self, statement: str, values: Row) -> list[Row]:
        return await fetch(self._database, statement, values)
