"""A queue in the SQLite file of the journals."""

import asyncio
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from typing_extensions import override

from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage, Turns, wait_for_message
from gofer.stores.sqlite.database import Database, fetch
from gofer.values.outside import Clock

SCHEMA = """
CREATE TABLE IF NOT EXISTS queue_messages (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, visible_at REAL NOT NULL, receives INTEGER NOT NULL,
    people INTEGER NOT NULL DEFAULT 1, workflow TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS queue_messages_in_line ON queue_messages (people, workflow, visible_at);
CREATE INDEX IF NOT EXISTS queue_messages_of_run ON queue_messages (run, visible_at);
CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS dead_letters_by_age ON dead_letters (at);
"""

Row = tuple[Any, ...]

_HELD = "id = ? AND receives = ? AND visible_at > ?"
"""The SQL condition that the worker of a delivery still holds the message."""

LONGEST_DELAY = 900.0
"""The longest delay and visibility of a message, in seconds. Only a wrong clock can have set a later time."""

POLL_SECONDS = 1.0
"""How often a waiting receiver looks for delayed messages and for messages of other processes."""


class SqliteQueue(Queue):
    """A queue in a Database that has the tables of SCHEMA."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._arrived = asyncio.Event()
        self._turns = Turns()

    @override
    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        now = self._clock.now()
        await fetch(
            self._database,
            "INSERT INTO queue_messages (run, visible_at, receives, people, workflow) SELECT ?1, ?2, 0, ?4, ?5"
            " WHERE NOT EXISTS (SELECT 1 FROM queue_messages"
            " WHERE run = ?1 AND visible_at <= ?2 AND (receives = 0 OR visible_at <= ?3) AND people >= ?4)",
            (run, now + delay, now, int(line.people), line.workflow),
        )
        self._arrived.set()

    @override
    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        until = self._clock.monotonic() + wait
        while True:
            self._arrived.clear()
            queue_messages = await self._take(limit, visibility, machines)
            left = until - self._clock.monotonic()
            if queue_messages or left <= 0:
                return queue_messages
            await wait_for_message(self._arrived, min(left, POLL_SECONDS))

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        held = self._held(queue_message)
        await fetch(
            self._database, f"UPDATE queue_messages SET visible_at = ? WHERE {_HELD}", (held[-1] + visibility, *held)
        )

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        await fetch(self._database, f"DELETE FROM queue_messages WHERE {_HELD}", self._held(queue_message))

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        held = self._held(queue_message)
        at = held[-1]

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute(f"DELETE FROM queue_messages WHERE {_HELD}", held).rowcount:
                connection.execute(
                    "INSERT INTO dead_letters (run, at, reason) VALUES (?, ?, ?)", (queue_message.run, at, reason)
                )

        await self._database.run(work)

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        rows = await fetch(
            self._database, "SELECT run, at, reason FROM dead_letters ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [DeadLetter(*row) for row in rows]

    @override
    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        await fetch(self._database, "DELETE FROM dead_letters WHERE at < ?", (before,))
        for run in runs:
            await fetch(self._database, "DELETE FROM dead_letters WHERE run = ?", (run,))

    async def bring_forward(self) -> int:
        """Make all messages due that are further ahead than the longest delay; return their number.

        Call this only while no other process can hold a message.
        """
        now = self._clock.now()
        statement = "UPDATE queue_messages SET visible_at = ? WHERE people = ? AND workflow = ? AND visible_at > ?"

        def work(connection: sqlite3.Connection) -> int:
            changes = [(now, int(line.people), line.workflow, now + LONGEST_DELAY) for line in _lines(connection)]
            return sum(connection.execute(statement, change).rowcount for change in changes)

        return await self._database.run(work)

    def _held(self, queue_message: QueueMessage) -> tuple[str, int, float]:
        """Return the parameters of _HELD."""
        return queue_message.receipt, queue_message.receives, self._clock.now()

    async def _take(self, limit: int, visibility: float, machines: int | None) -> Sequence[QueueMessage]:
        now = self._clock.now()

        def work(connection: sqlite3.Connection) -> Sequence[QueueMessage]:
            due = {line: _due(connection, line, now, limit) for line in _lines(connection)}
            taken = self._turns.take(due, limit, machines)
            hidden = [(now + visibility, message.receives, int(message.receipt)) for message in taken]
            connection.executemany("UPDATE queue_messages SET visible_at = ?, receives = ? WHERE id = ?", hidden)
            return taken

        return await self._database.run(work)


def _lines(connection: sqlite3.Connection) -> Iterator[QueueLine]:
    """Yield the lines with messages, with one search in the index for each, however many messages wait."""
    statement = "SELECT min(workflow) FROM queue_messages WHERE people = ? AND workflow >= ?"
    for people in (True, False):
        (workflow,) = connection.execute(statement, (people, "")).fetchone()
        while workflow is not None:
            yield QueueLine(people, workflow)
            (workflow,) = connection.execute(statement, (people, f"{workflow}\0")).fetchone()


def _due(connection: sqlite3.Connection, line: QueueLine, now: float, limit: int) -> Sequence[QueueMessage]:
    """Return the oldest due messages of a line as their receiver will hold them."""
    rows = connection.execute(
        "SELECT run, id, receives + 1 FROM queue_messages WHERE people = ? AND workflow = ? AND visible_at <= ?"
        " ORDER BY visible_at, id LIMIT ?",
        (int(line.people), line.workflow, now, limit),
    )
    return [QueueMessage(run, str(receipt), receives, line) for run, receipt, receives in rows]
