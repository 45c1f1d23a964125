"""One machine in virtual time over one SQLite file; a run on it asks subagents and a person, and answers a mention."""

import asyncio
import itertools
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.journal.coordination import UNFINISHED
from gofer.journal.seal import KEY_BYTES
from gofer.journal.store import Store
from gofer.models.served_model import Prices
from gofer.runtime.receive import Ingress
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.sources.receiver import Click
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.one_place import Stores
from gofer.stores.sqlite import journal as journal
from gofer.stores.sqlite import queue as queue
from gofer.stores.sqlite import schedule_marks
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import Keys
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.values.events import Event
from gofer.values.outside import Outside
from gofer.workflows.routes import read_routes
from support.runtime.worker_parts import FixedCatalog
from support.simulation.delegating_runs import base_tools
from support.simulation.machines import Faults, Machine
from support.simulation.people import People
from support.simulation.plans import plan
from support.simulation.virtual_time import VirtualClock, VirtualLoop
from support.simulation.world import INFLIGHT, RestlessModel, World, WorldHttp, make_tools
from support.stand_ins import KEY

T = TypeVar("T")
PLAN = plan(36)
"""A model decides; it writes a plan, a file comes of a long result, subagents work, and a person approves a tool."""
MENTION = PLAN.events[1]
LONGEST = 90_000.0
"""Virtual seconds after which a run that has not ended is left as it is."""


class ThreadlessLoop(VirtualLoop):
    """A loop in virtual time that runs the work of threads inline."""

    def run_in_executor(self, executor: object, work: Callable[..., Any], *words: Any) -> "asyncio.Future[Any]":
        """Do the work now."""
        done = self.create_future()
        done.set_result(work(*words))
        return done


class FileDatabase:
    """A file database without a thread: each piece of work runs at once, in a transaction of its own."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(journal.SCHEMA + queue.SCHEMA + schedule_marks.SCHEMA)
        self._syncs: list[Callable[[], None]] = []

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        """Do the work."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(self.connection)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return result

    async def empty_log(self) -> None:
        """Do nothing: this file has no write-ahead log."""

    def sync_first(self, sync: Callable[[], None]) -> None:
        """Do nothing: there are no power cuts in virtual time."""


class Stage:
    """A worker, a receiver and a sweeper over a store, with simulated people and vendors."""

    def __init__(
        self, database: FileDatabase, keys: Keys, blobs: MemoryBlobs, watched: Callable[[Store], Store]
    ) -> None:
        self.loop = ThreadlessLoop()
        self.clock = VirtualClock(self.loop)
        self.store = watched(SqliteStore(database, keys))  # type: ignore[arg-type]
        self.blobs = blobs
        self.questions: list[bytes] = []
        faults = Faults(random.Random(7), over=True)
        ids = itertools.count(1)
        self._world = World(faults)
        machine = Machine(faults)
        self._chance = faults.chance
        self._queue = SqliteQueue(database, self.clock)  # type: ignore[arg-type]
        self._outside = Outside(
            WorldHttp(machine, self._world),
            self.clock,
            lambda: f"id{next(ids):06}",
            self._chance,
            lambda: self._chance.randbytes(KEY_BYTES),
        )
        self._people = People(self._chance, self.clock, self._press)
        self._world.see = self._people.see
        self._model = RestlessModel(machine, self.questions, delegates=PLAN.delegates)

    async def accept(self, event: Event) -> str:
        """Accept an event and return the id of its run."""
        (run,) = await self._ingress().accept(event)
        return run

    async def work(self) -> None:
        """Work until every run ended, or for a day."""
        serving = asyncio.create_task(self._worker().serve())
        sweeper = Sweeper(self.store, self._queue, self.clock)
        while self.loop.time() < LONGEST and (self._people.busy or not await self._all_ended()):
            await asyncio.sleep(120)
            await sweeper.sweep(180)
        serving.cancel()

    async def _all_ended(self) -> bool:
        return all(head.status not in UNFINISHED for head in await self.store.heads(100, private=True))

    async def _press(self, click: Click) -> str:
        return await self._ingress().press(click)  # type: ignore[return-value]

    def _ingress(self) -> Ingress:
        routes = read_routes({"slack.mention": [("w", {})]})
        return Ingress({}, routes, Stores(self.store, self.blobs, self._queue), KEY, self._outside)

    def _worker(self) -> Worker:
        services = Services(
            Stores(self.store, self.blobs, self._queue),
            self._model,
            {**make_tools(), **base_tools()},
            Prices({}),
            Links("http://localhost"),
            self._outside,
            Patience(permit=20, inflight=INFLIGHT, skew=10),
            PLAN.catalog.scripts,
            installation_key=KEY,
            version="",
        )
        return Worker(services, FixedCatalog(PLAN.catalog), alone=True, limits=WorkerLimits(concurrency=2))
