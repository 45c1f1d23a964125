"""Costs of reads beside 13, 1,000 and 100,000 unfinished runs: steps of SQLite, and read units of DynamoDB."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.sources.slack.posts import stop_sign
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.sqlite import journal
from gofer.stores.sqlite.journal import SqliteStore
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.aws.memory_table import MemoryTable
from support.journal.memory_keys import MemoryKeys
from support.stand_ins import SetClock, make_outside

T = TypeVar("T")

COUNTS = (13, 1_000, 100_000)
EVER = 10**14
CROWDED = "place:crowded"
"""A conversation in which every second run waits."""
KEY = InstallationKey(Secret("installation key"))
SIGN = stop_sign("C0QUIET00", "1760000000.000100", Actor("U0ADA0000"))
"""A stop sign in a channel with a single unfinished run."""


class CountedDatabase:
    """A database in memory that counts the steps of SQLite's virtual machine."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(journal.SCHEMA)
        self.steps = 0

    def count(self) -> None:
        """Count steps from now on."""
        self.connection.set_progress_handler(self._step, 1)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        return work(self.connection)

    async def empty_log(self) -> None:
        """Do nothing: a database in memory has no log."""

    def sync_first(self, sync: Callable[[], None]) -> None:
        """Do nothing: there is no file to sync."""

    def _step(self) -> None:
        self.steps += 1


def reads(store: Store) -> Mapping[str, Callable[[], Awaitable[object]]]:
    async def open_runs(conversations: str) -> None:
        async for _ in store.open_runs(conversations):
            pass

    return {
        "next run of a conversation": lambda: store.oldest_runnable("other:c1"),
        "next run of a crowded conversation": lambda: store.oldest_runnable(CROWDED),
        "open runs of a conversation": lambda: open_runs("other:c1"),
        "open runs of a quiet place": lambda: open_runs("quiet:*"),
        "stop sign in a quiet channel": lambda: stop(store),
        "page of the sweep": lambda: store.unfinished(EVER, 100),
        "list of the 20 newest runs": lambda: store.heads(20, private=True),
    }


async def stop(store: Store) -> None:
    """Receive a stop sign, which reads the runs of its channel and notes a cancellation for each."""
    clock = SetClock()
    stores = Stores(store, MemoryBlobs(), MemoryQueue(clock))
    assert len(await Ingress({}, read_routes({}), stores, KEY, make_outside(clock)).stop(SIGN)) == 1


async def start_in_quiet_channel(store: Store) -> None:
    await store.claim("quiet", b"one", bytes(32), 1)
    await store.create_head(Head("quiet", "w", Tokens(KEY).conversation("slack:C0QUIET00:1"), 1))


def head(n: int) -> Head:
    conversation = CROWDED
    if n % 2:
        conversation = f"other:c{n}"
    return Head(f"r{n}", "w", conversation, n + 1)


async def measured(count: int) -> Mapping[str, tuple[float, float]]:
    """Return the steps of SQLite and the read units of DynamoDB for each read."""
    database, table = CountedDatabase(), MemoryTable()
    sqlite, aws = SqliteStore(database, MemoryKeys()), DynamoStore(table)  # type: ignore[arg-type]
    database.connection.execute("BEGIN")
    for n in range(count):
        await sqlite.create_head(head(n))
        await aws.create_head(head(n))
    database.connection.execute("COMMIT")
    for store in (sqlite, aws):
        await start_in_quiet_channel(store)
    database.count()
    found: dict[str, tuple[float, float]] = {}
    for name, read in reads(sqlite).items():
        steps, units = database.steps, table.units["read"]
        await read()
        await reads(aws)[name]()
        found[name] = (database.steps - steps, table.units["read"] - units)
    return found


def test_costs_of_reads_beside_unfinished_runs() -> None:
    few, some, many = (asyncio.run(measured(count)) for count in COUNTS)
    print(f"\nreads beside {', '.join(f'{count:,}' for count in COUNTS)} unfinished runs")
    for name in few:
        for i, unit in enumerate(("steps of SQLite", "read units")):
            figures = [found[name][i] for found in (few, some, many)]
            shown = "  ".join(f"{figure:9,.1f}" for figure in figures)
            print(f"  {name:35} {shown} {unit:16} {figures[2] / figures[1]:6.2f}")
