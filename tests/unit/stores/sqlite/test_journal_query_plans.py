"""Query costs of the SQLite store and queue: they do not grow with unrelated rows.

The cost of a statement is counted in steps of SQLite's virtual machine, which are equal on every machine.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TypeVar

import pytest

from gofer.journal.coordination import Head, InboxItem, Usage
from gofer.stores.queue import QueueMessage
from gofer.stores.sqlite import journal as journal
from gofer.stores.sqlite import queue as queue
from gofer.stores.sqlite.counts import SqliteCounts
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.queue import SqliteQueue
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import SetClock

T = TypeVar("T")

FEW, MANY = 300, 15_000
LATE = 10**9
"""A time after that of every row."""


class Watched:
    """A database in memory that counts the steps of its connection and keeps the statements."""

    def __init__(self, rows: int, private: int, status: str) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        filled(rows).backup(self._connection)
        fill(self._connection, rows, {"heads": lambda i: head_row(i, private, status)})
        self.steps = 0
        self.statements: list[str] = []
        self._connection.set_progress_handler(self._step, 1)
        self._connection.set_trace_callback(self.statements.append)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        before = len(self.statements)
        result = work(self._connection)
        writes = [one for one in self.statements[before:] if not one.lstrip().startswith("SELECT")]
        assert savepoint or len(writes) <= 1, f"an error would leave the first of these: {writes}"
        assert savepoint or not any("RETURNING" in one for one in writes)
        return result

    async def empty_log(self) -> None:
        """Do nothing: a database in memory has no log."""

    def sync_first(self, sync: Callable[[], None]) -> None:
        """Do nothing: there is no file to sync."""

    def _step(self) -> None:
        self.steps += 1

    def plans(self) -> list[tuple[str, str]]:
        """Return each statement so far with each line of its query plan."""
        self._connection.set_trace_callback(None)
        return [
            (statement, line)
            for statement in self.statements
            for *_, line in self._connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]


@cache
def filled(rows: int) -> sqlite3.Connection:
    """Fill every table but `heads`, with three runs per conversation and three frames per run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(journal.SCHEMA + queue.SCHEMA)
    fill(
        connection,
        rows,
        {
            "frames": lambda i: (f"r{i // 3}", i % 3 + 1, b"frame"),
            "inbox": lambda i: (f"r{i}", "a", b"item"),
            "leases": lambda i: (f"c{i}", "somebody", 1.0),
            "queue_messages": lambda i: (i, f"r{i}", float(i), 0, i % 2, f"w{i % 3}"),
            "usage": lambda i: (f"s{i // 3}", f"r{i}", i, 0.5),
            "memos": lambda i: (f"k{i}", "v", i),
            "dead_letters": lambda i: (i, f"r{i}", float(i), "why"),
        },
    )
    return connection


def head_row(i: int, private: int, status: str) -> tuple[object, ...]:
    return f"r{i}", "w", f"c{i // 3}", i, status, private, i, "", 0, 3, "due", "", 0


def fill(connection: sqlite3.Connection, rows: int, tables: Mapping[str, Callable[[int], tuple[object, ...]]]) -> None:
    connection.execute("BEGIN")
    for table, row in tables.items():
        marks = ", ".join("?" for _ in row(0))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", map(row, range(rows)))
    connection.execute("COMMIT")


def questions(store: SqliteStore, queue_messages: SqliteQueue) -> Mapping[str, Callable[[], Awaitable[object]]]:
    """Return a call of each method of both by name, for one run or one page of a list."""
    head, queue_message = Head("new", "w", "c5", 7), QueueMessage("r5", "5", 1)
    return {
        "claim": lambda: store.claim("new", b"frame", b"key"),
        "create": lambda: store.create("new", 2, b"frame"),
        "frames": lambda: store.frames("r5"),
        "key": lambda: store.key("r5"),
        "keyless": lambda: store.keyless(["r5", "r6"]),
        "create_head": lambda: store.create_head(head),
        "put_head": lambda: store.put_head(head),
        "head": lambda: store.head("r5"),
        "heads": lambda: store.heads(20),
        "heads of all": lambda: store.heads(20, private=True),
        "listed": lambda: anext(aiter(store.listed(LATE))),
        "listed with private runs": lambda: anext(aiter(store.listed(LATE, private=True))),
        "marked as abandoned": lambda: anext(aiter(store.marked("abandoned"))),
        "marked as rated": lambda: anext(aiter(store.marked("rated"))),
        "oldest_runnable": lambda: store.oldest_runnable("c5"),
        "previous": lambda: store.previous("c6", "w", LATE),
        "unfinished": lambda: store.unfinished(LATE, 20),
        "open_runs": lambda: anext(aiter(store.open_runs("c5"))),
        "open_runs of a place": lambda: anext(aiter(store.open_runs("c5:*"))),
        "ended": lambda: store.ended("due", LATE, 20),
        "ended of private runs": lambda: store.ended("due", LATE, 20, private=True),
        "lease": lambda: store.lease("c5", "me", 2.0, 60.0),
        "leased": lambda: store.leased("c5", 0.5),
        "release": lambda: store.release("c5", "me"),
        "put_item": lambda: store.put_item("r5", InboxItem("b", b"item")),
        "items": lambda: store.items("r5"),
        "drop_items": lambda: store.drop_items("r5", ["a", "b"]),
        "retain": lambda: store.retain("r5", "due", "kept"),
        "hide": lambda: store.hide("r5"),
        "destroy_key": lambda: store.destroy_key("r5"),
        "empty": lambda: store.empty("r5"),
        "forget": lambda: store.forget("r5"),
        "scrub": store.scrub,
        "unlisted": lambda: store.unlisted(5, 20),
        "drop_orphans": lambda: store.drop_orphans(5),
        "purge_dead_letters": lambda: queue_messages.purge_dead_letters(5.0),
        "put_usage": lambda: store.put_usage([Usage("s5", "new", 7, 0.5)]),
        "usage": lambda: store.usage("s5", 1),
        "spent": lambda: store.spent("s5", 7),
        "drop_usage": lambda: store.drop_usage("r5"),
        "expire_usage": lambda: store.expire_usage(5),
        "put_memo": lambda: store.put_memo("k5", "new", 9),
        "exchange_memo": lambda: store.exchange_memo("k5", "v", "new", 9),
        "memo": lambda: store.memo("k7"),
        "expire_memos": lambda: store.expire_memos(5),
        "enqueue": lambda: queue_messages.enqueue("r5"),
        "receive": lambda: queue_messages.receive(5, 60.0, 0.0),
        "extend": lambda: queue_messages.extend(queue_message, 60.0),
        "acknowledge": lambda: queue_messages.acknowledge(queue_message),
        "move_to_dead_letters": lambda: queue_messages.move_to_dead_letters(QueueMessage("r7", "7", 10), "why"),
        "dead_letters": lambda: queue_messages.dead_letters(20),
        "bring_back": lambda: store.bring_back(LATE),
        "bring_forward": queue_messages.bring_forward,
        "drop_leases": store.drop_leases,
    }


def asked(watched: Watched) -> dict[str, int]:
    """Return the number of steps of each call."""
    everything = questions(SqliteStore(watched, MemoryKeys()), SqliteQueue(watched, SetClock()))  # type: ignore[arg-type]
    taken: dict[str, int] = {}

    async def ask() -> None:
        for name, question in everything.items():
            before = watched.steps
            await question()
            taken[name] = watched.steps - before

    asyncio.run(ask())
    return taken


def test_every_store_and_queue_method_has_a_measured_query() -> None:
    made = (SqliteStore, SqliteCounts, SqliteQueue)
    names = {name for one in made for name in vars(one) if not name.startswith("_")}
    assert {name.partition(" ")[0] for name in asked(Watched(FEW, 0, "done"))} == names


@pytest.mark.parametrize("private", [0, 1])
@pytest.mark.parametrize("status", ["done", "queued"])
def test_query_cost_does_not_grow_with_unrelated_rows(private: int, status: str) -> None:
    few, many = asked(Watched(FEW, private, status)), asked(Watched(MANY, private, status))
    grown = {name: (few[name], steps) for name, steps in many.items() if steps > few[name] * 1.1 + 20}
    assert grown == {}


def steps_of_open_runs(ended: int, conversations: str) -> int:
    """Return the steps of a read of two open runs beside ended runs of the same conversation."""
    watched = Watched(FEW, 0, "done")
    store = SqliteStore(watched, MemoryKeys())  # type: ignore[arg-type]

    async def ask() -> int:
        for n in range(ended):
            await store.create_head(Head(f"ended{n}", "w", "busy:1", n, "done"))
        await store.create_head(Head("queued", "w", "busy:1", 5))
        await store.create_head(Head("parked", "w", "busy:1", 6, "parked"))
        before = watched.steps
        assert sorted([head.run async for page in store.open_runs(conversations) for head in page]) == [
            "parked",
            "queued",
        ]
        return watched.steps - before

    return asyncio.run(ask())


@pytest.mark.parametrize("conversations", ["busy:1", "busy:*"])
def test_cost_of_open_runs_does_not_grow_with_ended_runs_of_the_conversation(conversations: str) -> None:
    assert steps_of_open_runs(900, conversations) == steps_of_open_runs(9, conversations)


def test_no_query_scans_a_table() -> None:
    watched = Watched(FEW, 0, "done")
    asked(watched)
    plans = watched.plans()
    assert any(line.startswith("SEARCH heads USING INDEX") for _, line in plans)
    # A list of the newest rows scans an index in its order and stops early, which the test above counts.
    walks = [plan for plan in plans if plan[1].startswith("SCAN") and plan[1] != "SCAN CONSTANT ROW"]
    assert [plan for plan in walks if " LIMIT " not in plan[0] and "FROM heads" not in plan[0]] == []
    assert [plan for plan in plans if plan[1] == "USE TEMP B-TREE FOR ORDER BY"] == []
