"""One schedule: a seed decides every delivery, fault and delay; the judge compares world and journals afterwards."""

import asyncio
import itertools
import random
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gofer.engine.effects import Patience
from gofer.engine.owned_run import Deadline
from gofer.engine.services import Links, Services
from gofer.journal import entries as e
from gofer.journal.child_runs import has_inbox_items, running_subagents, subagent_runs
from gofer.journal.codec import from_json
from gofer.journal.frames import open_alone
from gofer.journal.lineage import root_of
from gofer.journal.log import read_body, read_journal
from gofer.journal.seal import KEY_BYTES, seal_of
from gofer.journal.store import Store
from gofer.models.served_model import Prices
from gofer.runtime.cancel import cancel
from gofer.runtime.receive import Ingress
from gofer.runtime.retention import Purger
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.sources.receiver import Click, Stop
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import Queue
from gofer.stores.sqlite.journal import SCHEMA, SqliteStore
from gofer.tools.definition import Tool
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.journal.memory_keys import MemoryKeys
from support.runtime.worker_parts import FixedCatalog
from support.simulation.aws_stores import MachineTable, SharedTable, StandardQueue
from support.simulation.delegating_runs import base_tools
from support.simulation.judge import Judge, Report
from support.simulation.machines import Faults, Machine, MachineQueue, MachineStore
from support.simulation.people import People
from support.simulation.plans import PRIVATE, plan
from support.simulation.subagents_in_order import below, unasked, unread
from support.simulation.vendor_outages import OUTAGES, draw
from support.simulation.virtual_time import START, VirtualClock, VirtualLoop, play
from support.simulation.visible_outcomes import unseen
from support.simulation.world import INFLIGHT, RestlessModel, World, WorldHttp, make_tools

T = TypeVar("T")
KEY = InstallationKey(Secret("key"))
FAULTS_UNTIL, PATIENCE_UNTIL = 2_500.0, 12_000.0
"""Virtual seconds until nothing goes wrong any more, and until every run has to have ended or to wait for longer."""


class InlineDatabase:
    """A database without its thread: the same statements, in the order of the simulation."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.executescript(SCHEMA)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        return work(self._connection)

    async def empty_log(self) -> None:
        """Do nothing: a database in memory has no log."""

    def sync_first(self, sync: Callable[[], None]) -> None:
        """Do nothing: a database in memory has no file to sync."""

    def close(self) -> None:
        self._connection.close()


class Archive:
    """A store that copies frames and keys to an archive from which they are never deleted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.copy = MemoryStore()

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        if (standing := await self._store.claim(run, frame, key, at)) is None:
            await self.copy.claim(run, frame, key, at)
        return standing

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        if (standing := await self._store.create(run, n, frame)) is None:
            await self.copy.create(run, n, frame)
        return standing


@dataclass
class Rules:
    """The safety rules of a schedule; a mutant replaces one of them."""

    tools: Callable[[], dict[str, Tool]] = make_tools
    patience: Patience = field(default_factory=lambda: Patience(permit=20, inflight=INFLIGHT, skew=10))
    store: Callable[[Store], Store] = lambda store: store
    ingress: type[Ingress] = Ingress
    alone: bool = False
    table: type[SharedTable] = SharedTable
    outages: float = OUTAGES
    """The share of schedules in which vendors are away."""


class Schedule:
    """Three mentions in two threads, delivered as Slack delivers, on machines that fail."""

    def __init__(self, seed: int, kind: str = "memory", rules: Rules | None = None) -> None:
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop)
        self.rules = rules or Rules()
        self.faults = Faults(random.Random(seed))
        self.world = World(self.faults, draw(seed, self.rules.outages))
        self.database = InlineDatabase() if kind == "sqlite" else None
        self.table = self.rules.table(self.faults, self.clock) if kind == "dynamodb" else None
        if self.table:
            self.copy = self.table.copy
            self.store: Store = DynamoStore(self.table)
        else:
            archive = Archive(SqliteStore(self.database, MemoryKeys()) if self.database else MemoryStore())  # type: ignore[arg-type]
            self.copy = archive.copy
            self.store = self.rules.store(archive)  # type: ignore[arg-type]
        self.queue = StandardQueue(self.clock) if self.table else MemoryQueue(self.clock)
        self.blobs = MemoryBlobs()
        self.ids = itertools.count(1)
        self.graves: list[asyncio.Task] = []
        self.accepted: dict[tuple[str, ...], set[str]] = {}
        self.cancelled: set[str] = set()
        self.questions: list[bytes] = []
        """What models were asked."""
        self.seen: dict[str, tuple[int, e.Entry | None]] = {}
        """How many frames of a run were read last, and the last entry among them."""
        self.deliveries = 0
        self.serving: list[Machine] = []
        """Machines with a worker that lives."""
        # One schedule in three has short invocations, and in one of three a person cancels a run.
        self.invocations = seed % 3 == 1
        self.cancels = seed % 3 == 2
        self.plan = plan(seed)
        self.catalog = self.plan.catalog
        self.tools = {**self.rules.tools(), **(base_tools() if self.plan.delegates else {})}
        self.people = People(self.faults.chance, self.clock, self._press)
        self.world.see = self.people.see

    def run(self) -> Report:
        try:
            return play(self.loop, self._play())
        finally:
            if self.database:
                self.database.close()

    async def _play(self) -> Report:
        providers = [asyncio.create_task(self._provider(event)) for event in self.plan.events]
        if self.cancels:
            unwanted = self.plan.events[self.plan.stopped]
            wish = self._somebody_stops(unwanted) if self.plan.asks else self._somebody_cancels(unwanted)
            providers.append(asyncio.create_task(wish))
        background = [asyncio.create_task(self._sweep())]
        background += [asyncio.create_task(self._keep_a_worker()) for _ in range(2)]
        await asyncio.gather(*providers)
        while self.world.under_way or (self.loop.time() < PATIENCE_UNTIL and not await self._all_through()):
            await asyncio.sleep(20)
            self.faults.over = self.faults.over or self.loop.time() > FAULTS_UNTIL
        report = await self._report()
        for task in background:
            task.cancel()
        return report

    async def _provider(self, event: Event) -> None:
        """Deliver as Slack does: four deliveries over six minutes, some of them doubled."""
        for gap in (0.0, 3.0, 57.0, 240.0):
            await asyncio.sleep(gap + self.faults.chance.random())
            copies = 1 + (self.faults.chance.random() < 0.5)
            self.deliveries += copies
            self.graves += [asyncio.create_task(self._deliver(event)) for _ in range(copies)]

    async def _deliver(self, event: Event) -> None:
        machine = Machine(self.faults)
        ingress = self._ingress(machine)
        try:
            (run,) = await ingress.accept(event)
        except TemporaryError:
            return
        self.accepted.setdefault(event.identity, set()).add(run)

    def _ingress(self, machine: Machine) -> Ingress:
        routes = read_routes({"slack.mention": [("w", {})]})
        store, queue = self._seen_by(machine)
        return self.rules.ingress({}, routes, Stores(store, self.blobs, queue), KEY, self._outside(machine))

    async def _press(self, click: Click) -> str:
        return await self._ingress(Machine(self.faults)).press(click)

    async def _somebody_stops(self, event: Event) -> None:
        """Stop a run that waits for a decision, or the whole conversation, with a repeated request."""
        for _ in range(60):
            await asyncio.sleep(10)
            (run,) = self.accepted.get(event.identity) or {""}
            if run in {asked for asked, _, _ in self.people.asked}:
                break
        await asyncio.sleep(self.faults.chance.choice((0, 3, 40)))
        where = {"conversation": event.conversation}
        what = {"kinds": (event.kind,), "identity": event.identity}
        stop = Stop("Ada", "stop", "slack", **self.faults.chance.choice((where, what)))
        for _ in range(2):
            stopping = asyncio.create_task(self._ingress(Machine(self.faults)).stop(stop))
            stopping.add_done_callback(self._note_stopped)
            self.graves.append(stopping)
            await asyncio.sleep(120)

    def _note_stopped(self, task: asyncio.Task) -> None:
        if not (task.cancelled() or task.exception()):
            self.cancelled.update(task.result())

    async def _somebody_cancels(self, event: Event) -> None:
        """Cancel a run, soon or much later, and again when no response came."""
        await asyncio.sleep(self.faults.chance.choice((1, 20, 90, 300)))
        (run,) = self.accepted.get(event.identity) or {""}
        for _ in range(2 if run else 0):
            machine = Machine(self.faults)
            store, queue = self._seen_by(machine)
            asking = asyncio.create_task(cancel(run, e.RunCancelled("Ada"), store, queue, f"cancel-{machine.number}"))
            asking.add_done_callback(lambda task: task.cancelled() or task.exception() or self.cancelled.add(run))
            self.graves.append(asking)
            await asyncio.sleep(120)

    async def _serve(self, worker: Worker) -> None:
        """Receive queue messages; on a machine of short invocations each message has a deadline of its own."""
        if not self.invocations:
            await worker.serve()
        while True:
            for queue_message in await worker.queue.receive(1, 120, 20):
                await worker.answer(queue_message, Deadline(self.clock, self.faults.chance.uniform(30, 400)))

    async def _keep_a_worker(self) -> None:
        """Run a worker; when its machine dies, another one replaces it after a while."""
        while True:
            machine = Machine(self.faults)
            self.serving.append(machine)
            serving = asyncio.create_task(self._serve(self._worker(machine)))
            await machine.dead.wait()
            self.serving.remove(machine)
            self.graves.append(serving)
            # Tasks of the dead machine stay suspended; nothing of them is cleaned up.
            serving.add_done_callback(lambda task: task.cancelled() or task.exception())
            await asyncio.sleep(self.faults.chance.uniform(1, 60))

    async def _sweep(self) -> None:
        """Run a sweeper and a purger by a schedule, as on AWS: a failed one is followed by the next."""
        while True:
            machine = Machine(self.faults)
            store, queue = self._seen_by(machine)
            for work in (
                Sweeper(store, queue, self.clock).sweep(180),
                Purger(Stores(store, self.blobs, MemoryQueue(self.clock)), self.clock).purge(),
            ):
                task = asyncio.create_task(work)
                task.add_done_callback(lambda task: task.cancelled() or task.exception())
                self.graves.append(task)
            await asyncio.sleep(120)

    def _worker(self, machine: Machine) -> Worker:
        store, queue = self._seen_by(machine)
        services = Services(
            Stores(store, self.blobs, queue),
            RestlessModel(machine, self.questions, delegates=self.plan.delegates),
            self.tools,
            Prices({}),
            Links("http://localhost"),
            self._outside(machine),
            self.rules.patience,
            self.catalog.scripts,
            installation_key=KEY,
            version="",
        )
        return Worker(services, FixedCatalog(self.catalog), self.rules.alone, WorkerLimits(concurrency=2))

    def _seen_by(self, machine: Machine) -> tuple[Store, Queue]:
        """Return the stores as one machine sees them. On DynamoDB each request may fail, elsewhere each method."""
        store = DynamoStore(MachineTable(machine, self.table)) if self.table else MachineStore(machine, self.store)
        return store, MachineQueue(machine, self.queue)

    def _outside(self, machine: Machine) -> Outside:
        chance, name = self.faults.chance, f"m{machine.number}"
        return Outside(
            WorldHttp(machine, self.world),
            self.clock,
            lambda: f"{name}-{next(self.ids):06}",
            chance,
            lambda: chance.randbytes(KEY_BYTES),
        )

    async def _all_through(self) -> bool:
        """Return whether every run ended or waits beyond the schedule's end, with no planned press left."""
        runs = {run for found in self.accepted.values() for run in found}
        try:
            through = not self.people.busy and all(
                [await self._through(run) and await self._shown(run) for run in sorted(runs)]
            )
        except Corrupt:
            return True
        return through and not [run for run in self._private() if await self._left(run)]

    async def _through(self, run: str) -> bool:
        match await self._last(run):
            case e.RunFinished():
                return True
            case e.RunParked(reason="approval", until=until) if until > (START + PATIENCE_UNTIL) * 1000:
                head = await self.store.head(run)
                told = head is not None and head.status == "parked" and head.wakes_at == until
                # The row of a private run shows only the kind of its wait.
                said = head is not None and head.reason and (head.reason == "waits for approval") is head.private
                under_way = await running_subagents(run, self.store)
                return told and bool(said) and not await has_inbox_items(run, under_way, self.store)
            case _:
                return False

    async def _shown(self, run: str) -> bool:
        """Return whether the run list shows the end of a run; a worker may crash before it writes the head."""
        head = await self.store.head(run)
        return head is None or head.ended or not isinstance(await self._last(run), e.RunFinished)

    async def _last(self, run: str) -> e.Entry | None:
        """Return the state of a run from its last frame; the judge reads them all."""
        stored = await self.copy.frames(run)
        if self.seen.get(run, (0, None))[0] != len(stored):
            frame = open_alone(len(stored), stored[-1], await seal_of(run, self.copy))
            # An entry with a body outside its frame is neither an end nor a wait. The checks follow the end of a run.
            long = {body.i for body in frame.bodies}
            entries = [None if i in long else from_json(raw) for i, raw in enumerate(frame.entries)]
            states = [entry for entry in entries if not isinstance(entry, e.RunChecked)]
            self.seen[run] = len(stored), states[-1]
        return self.seen.get(run, (0, None))[1]

    def _private(self) -> list[str]:
        """Return the private runs that ended."""
        runs = self.accepted.get(PRIVATE.identity, set())
        return [run for run in runs if isinstance(self.seen.get(run, (0, None))[1], e.RunFinished)]

    async def _left(self, run: str) -> bool:
        """Return whether the store still has contents of a run."""
        return bool(await self.store.key(run)) or any(await self.store.frames(run))

    async def _report(self) -> Report:
        runs = sorted({run for found in self.accepted.values() for run in found})
        violations = [f"{len(found)} runs for one event" for found in self.accepted.values() if len(found) != 1]
        report = Report(violations, self.faults.seen, len(runs), self.deliveries - len(self.accepted))
        journals: dict[str, Sequence[e.Recorded]] = {}
        left = list(runs)
        for run in left:
            report.journals.append(b"\n".join(await self.copy.frames(run)))
            try:
                journals[run] = await read_journal(run, self.copy, self.blobs)
                left += subagent_runs(journals[run])
                if run in runs and not await self._through(run):
                    report.violations.append("an accepted run neither ended nor waits with a reason and a time")
            except Corrupt as error:
                report.violations.append(str(error))
        # The journal of a subagent run is empty where the run above it ended before the subagent began.
        begun = {run: journal for run, journal in journals.items() if journal or run in runs}
        Judge(self.world, self.people, self.faults, self.plan, self.cancelled).judge(begun, report)
        gone = {run for run in journals if root_of(run) in self._private()}
        report.violations += ["the contents of a private run are left" for run in gone if await self._left(run)]
        report.violations += below(journals, report) + unasked(journals, self.questions)
        now = int(self.clock.now() * 1000)
        silent = await unseen(journals, self.world, self.store, now, report)
        report.violations += silent if self.rules.outages else []
        kept = {run: journal for run, journal in journals.items() if run not in gone}
        report.violations += await unread(kept, lambda run, name: read_body(run, name, self.store, self.blobs))
        return report
