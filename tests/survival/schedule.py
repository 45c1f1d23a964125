"""One schedule: a seed decides every delivery, fault and delay; afterwards the world and the journals are compared."""

import asyncio
import itertools
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from clockwork import START, VirtualClock, VirtualLoop, play
from machines import Faults, Machine, MachineQueue, MachineStore
from world import INFLIGHT, RestlessModel, World, WorldHttp, make_tools

from gofer.blobs.memory import MemoryBlobs
from gofer.cancel import cancel
from gofer.dispatch import Ingress
from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.engine.term import Term
from gofer.errors import Damaged, TemporaryError
from gofer.events import Event
from gofer.journal import entries as e
from gofer.journal.log import read_journal
from gofer.journal.memory import MemoryStore
from gofer.journal.seal import KEY_BYTES
from gofer.journal.sqlite import SCHEMA, SqliteStore
from gofer.journal.store import Store
from gofer.models.prices import Prices
from gofer.outside import Outside
from gofer.projections import conversation, progress, trace
from gofer.queue.memory import MemoryQueue
from gofer.retention import Purger
from gofer.secret import Secret
from gofer.sweeper import Sweeper
from gofer.tools.tool import Tool
from gofer.worker import Worker
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes
from gofer.workflows.schema import Defaults, Limits, Workflow
from scripted import ASKED, SCRIPT
from stand_ins import mention

T = TypeVar("T")
LIMITS = Limits(tool_calls=100, llm_calls=100, tokens=10**9, minutes=10**6, usd=1e9)
WORKFLOW = Workflow(
    description="d",
    owner="#o",
    when=("slack.mention",),
    tools=("search", "page", "ticket", "mail"),
    limits=LIMITS,
    # One mention is private, and there is nobody in this world to ask.
    private_channels="allow",
)
CATALOG = Catalog({"w": Loaded("w", WORKFLOW, "Simulate.", "agents/w.md", ("m", "n"))}, Defaults())
SCRIPTED = WORKFLOW.model_copy(update={"coordinator": "script", "coordinator_script": SCRIPT.file})
SCRIPTS = Catalog(
    {"w": Loaded("w", SCRIPTED, "", SCRIPT.file, ("m",), subagents={"s": ASKED})}, Defaults(), {SCRIPT.file: SCRIPT}
)
PRIVATE = replace(mention(ts="1.0"), private=True)
"""The mention whose run is deleted as soon as it ended."""
FAULTS_UNTIL, PATIENCE_UNTIL = 2_500.0, 12_000.0
"""Virtual seconds until nothing goes wrong any more, and until every run has to have ended."""


class InlineDatabase:
    """A database without its thread: the same statements, in the order of the simulation."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.executescript(SCHEMA)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self._connection)

    async def empty_log(self) -> None:
        """There is none in memory."""

    def close(self) -> None:
        self._connection.close()


class Archive:
    """A store that hands on what it is asked, and copies frames and keys to where nothing is ever deleted."""

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
    """What keeps a schedule safe; a mutant replaces one of them."""

    tools: Callable[[], dict[str, Tool]] = make_tools
    patience: Patience = field(default_factory=lambda: Patience(permit=20, inflight=INFLIGHT, skew=10))
    store: Callable[[Store], Store] = lambda store: store
    ingress: type[Ingress] = Ingress
    alone: bool = False


@dataclass
class Report:
    """What one schedule came to."""

    violations: list[str]
    faults: Counter[str]
    journals: list[bytes]
    unknown: int
    calls: int
    takeovers: int
    runs: int
    duplicates: int = 0
    """Deliveries of what was delivered before."""
    handovers: int = 0
    cancelled: int = 0
    needless: int = 0
    """Calls whose outcome nobody can tell, although nothing went wrong while they were under way."""


class Schedule:
    """Three mentions in two threads, delivered as Slack delivers, on machines that fail."""

    def __init__(self, seed: int, kind: str = "memory", rules: Rules | None = None) -> None:
        self.loop = VirtualLoop()
        self.clock = VirtualClock(self.loop)
        self.rules = rules or Rules()
        self.faults = Faults(random.Random(seed))
        self.world = World(self.faults)
        self.database = InlineDatabase() if kind == "sqlite" else None
        store = SqliteStore(self.database) if self.database else MemoryStore()  # type: ignore[arg-type]
        self.archive = Archive(store)
        self.store: Store = self.rules.store(self.archive)  # type: ignore[arg-type]
        self.queue = MemoryQueue(self.clock)
        self.blobs = MemoryBlobs()
        self.ids = itertools.count(1)
        self.graves: list[asyncio.Task] = []
        self.accepted: dict[tuple[str, ...], set[str]] = {}
        self.cancelled: set[str] = set()
        self.seen: dict[str, tuple[int, bool]] = {}
        """How many frames of a run were read last, and whether its end was among them."""
        self.deliveries = 0
        # One schedule in three lives in short invocations, and in one of three somebody cancels a run.
        self.invocations = seed % 3 == 1
        self.cancels = seed % 3 == 2
        # In one of four a script decides, with branches that are under way at once.
        self.catalog = SCRIPTS if seed % 4 == 3 else CATALOG

    def run(self) -> Report:
        try:
            return play(self.loop, self._play())
        finally:
            if self.database:
                self.database.close()

    async def _play(self) -> Report:
        events = [PRIVATE, mention(ts="2.0", channel="C2"), mention(ts="3.0", channel="C2")]
        events[2] = replace(events[2], conversation=events[1].conversation)
        providers = [asyncio.create_task(self._provider(event)) for event in events]
        if self.cancels:
            providers.append(asyncio.create_task(self._somebody_cancels(events[1])))
        background = [asyncio.create_task(self._sweep())]
        background += [asyncio.create_task(self._keep_a_worker()) for _ in range(2)]
        await asyncio.gather(*providers)
        while self.world.under_way or (self.loop.time() < PATIENCE_UNTIL and not await self._all_ended()):
            await asyncio.sleep(20)
            self.faults.over = self.loop.time() > FAULTS_UNTIL
        report = await self._report()
        for task in background:
            task.cancel()
        return report

    async def _provider(self, event: Event) -> None:
        """Slack: four deliveries over six minutes, some of them doubled."""
        for gap in (0.0, 3.0, 57.0, 240.0):
            await asyncio.sleep(gap + self.faults.chance.random())
            copies = 1 + (self.faults.chance.random() < 0.5)
            self.deliveries += copies
            self.graves += [asyncio.create_task(self._deliver(event)) for _ in range(copies)]

    async def _deliver(self, event: Event) -> None:
        machine = Machine(self.faults)
        routes = read_routes({"slack.mention": [("w", {})]})
        store, queue = MachineStore(machine, self.store), MachineQueue(machine, self.queue)
        ingress = self.rules.ingress({}, routes, store, queue, Secret("key"), self._outside(machine))
        try:
            (run,) = await ingress.accept(event)
        except TemporaryError:
            return
        self.accepted.setdefault(event.identity, set()).add(run)

    async def _somebody_cancels(self, event: Event) -> None:
        """Somebody asks for a run to stop, soon or much later, and once more because nothing was heard."""
        await asyncio.sleep(self.faults.chance.choice((1, 20, 90, 300)))
        (run,) = self.accepted.get(event.identity) or {""}
        for _ in range(2 if run else 0):
            machine = Machine(self.faults)
            store, queue = MachineStore(machine, self.store), MachineQueue(machine, self.queue)
            asking = asyncio.create_task(cancel(run, e.RunCancelled("Ada"), store, queue, f"cancel-{machine.number}"))
            asking.add_done_callback(lambda task: task.cancelled() or task.exception() or self.cancelled.add(run))
            self.graves.append(asking)
            await asyncio.sleep(120)

    async def _serve(self, worker: Worker) -> None:
        """Hears doorbells; on a machine of short invocations each bell has a time of its own."""
        if not self.invocations:
            await worker.serve()
        while True:
            for bell in await worker.queue.receive(1, 120, 20):
                await worker.answer(bell, Term(self.clock, self.faults.chance.uniform(30, 400)))

    async def _keep_a_worker(self) -> None:
        """A worker; when its machine dies, another takes its place after a while."""
        while True:
            machine = Machine(self.faults)
            serving = asyncio.create_task(self._serve(self._worker(machine)))
            await machine.dead.wait()
            self.graves.append(serving)
            # What the dead machine had under way stays where it is; nothing of it is cleaned up.
            serving.add_done_callback(lambda task: task.cancelled() or task.exception())
            await asyncio.sleep(self.faults.chance.uniform(1, 60))

    async def _sweep(self) -> None:
        """A sweeper and a purger, started anew by a schedule, as on AWS: one that fails is followed by the next."""
        while True:
            machine = Machine(self.faults)
            store, queue = MachineStore(machine, self.store), MachineQueue(machine, self.queue)
            for work in (Sweeper(store, queue, self.clock).sweep(180), Purger(store, self.blobs, self.clock).purge()):
                task = asyncio.create_task(work)
                task.add_done_callback(lambda task: task.cancelled() or task.exception())
                self.graves.append(task)
            await asyncio.sleep(120)

    def _worker(self, machine: Machine) -> Worker:
        store, queue = MachineStore(machine, self.store), MachineQueue(machine, self.queue)
        services = Services(
            store,
            self.blobs,
            RestlessModel(machine),
            self.rules.tools(),
            Prices({}),
            Links("http://localhost"),
            self._outside(machine),
            self.rules.patience,
            self.catalog.scripts,
        )
        return Worker(services, queue, self.catalog, concurrency=2, alone=self.rules.alone)

    def _outside(self, machine: Machine) -> Outside:
        chance, name = self.faults.chance, f"m{machine.number}"
        return Outside(
            WorldHttp(machine, self.world),
            self.clock,
            lambda: f"{name}-{next(self.ids):06}",
            chance,
            lambda: chance.randbytes(KEY_BYTES),
        )

    async def _all_ended(self) -> bool:
        runs = {run for found in self.accepted.values() for run in found}
        try:
            finished = all([await self._finished(run) for run in sorted(runs)])
        except Damaged:
            return True
        return finished and not [run for run in self._private() if await self._left(run)]

    async def _finished(self, run: str) -> bool:
        """Whether a run ended. Nothing in the archive ever changes: only what grew is read again."""
        frames = len(await self.archive.copy.frames(run))
        if self.seen.get(run, (0, False))[0] != frames:
            journal = await read_journal(run, self.archive.copy, self.blobs)
            self.seen[run] = frames, any(isinstance(item.entry, e.RunFinished) for item in journal)
        return self.seen.get(run, (0, False))[1]

    def _private(self) -> set[str]:
        return self.accepted.get(PRIVATE.identity, set())

    async def _left(self, run: str) -> bool:
        """Whether there is anything of a run's contents in the store."""
        return await self.store.key(run) is not None or any(await self.store.frames(run))

    async def _report(self) -> Report:
        runs = sorted({run for found in self.accepted.values() for run in found})
        violations = [f"{len(found)} runs for one event" for found in self.accepted.values() if len(found) != 1]
        violations += ["the contents of a private run are left" for run in self._private() if await self._left(run)]
        duplicates = self.deliveries - len(self.accepted)
        report = Report(violations, self.faults.seen, [], 0, 0, 0, len(runs), duplicates)
        for run in runs:
            report.journals.append(b"\n".join(await self.archive.copy.frames(run)))
            try:
                self._judge(run, await read_journal(run, self.archive.copy, self.blobs), report)
            except Damaged as error:
                report.violations.append(str(error))
        return report

    def _judge(self, run: str, journal: Sequence[e.Recorded], report: Report) -> None:
        entries = [recorded.entry for recorded in journal]
        left = sum(isinstance(entry, e.RunParked | e.RunHandedOver) for entry in entries)
        report.takeovers += sum(isinstance(entry, e.RunOwned) for entry in entries) - 1 - left
        if not any(isinstance(entry, e.RunFinished) for entry in entries):
            report.violations.append("an accepted run did not end")
        report.handovers += sum(isinstance(entry, e.RunHandedOver) for entry in entries)
        report.cancelled += any(isinstance(entry, e.RunCancelled) for entry in entries)
        report.violations += _outcomes(entries)
        report.violations += _after_cancel(entries, accepted=run in self.cancelled)
        report.needless += self._needless(journal)
        report.violations += self._effects(run, journal, report)
        for length in range(1, len(journal) + 1, 7):
            trace.project(journal[:length])
            progress.project(journal[:length])

    def _needless(self, journal: Sequence[e.Recorded]) -> int:
        """Unknown outcomes of calls during which nothing happened to any machine that had the run."""
        begun = {r.entry.call: r for r in journal if isinstance(r.entry, e.ToolCall)}
        needless = 0
        for ended in (r for r in journal if isinstance(r.entry, e.ToolUnknown)):
            call = begun[ended.entry.call]
            between = {r.owner for r in journal if call.n <= r.n <= ended.n}
            machines = {int(owner[1:].partition("-")[0]) for owner in between}
            since, until = (at / 1000 - START for at in (call.at, ended.at))
            trouble = (t for number in machines for t in self.faults.when.get(number, ()))
            needless += not any(since - 1 <= t <= until + 1 for t in trouble)
        return needless

    def _effects(self, run: str, journal: Sequence[e.Recorded], report: Report) -> list[str]:
        """What the journal says of each call against what the world saw of it."""
        found: list[str] = []
        state = progress.project(journal)
        asked = _asked(journal)
        for call, outcome in state.outcomes.items():
            tool = next((r.entry for r in journal if isinstance(r.entry, e.ToolCall) and r.entry.call == call), None)
            report.calls += 1
            report.unknown += isinstance(outcome, e.ToolUnknown)
            if tool is None or tool.effect == "read":
                continue
            landed = self.world.landed[f"{run}/{call}"]
            if len(landed) > 1:
                found.append(f"a {tool.effect} effect happened {len(landed)} times")
            if isinstance(outcome, e.ToolResult) and outcome.status == "ok" and len(landed) != 1:
                found.append(f"a {tool.effect} call is said to have happened, and did {len(landed)} times")
            if isinstance(outcome, e.ToolResult) and outcome.status == "error" and landed:
                found.append(f"a {tool.effect} call is said to be refused, and happened")
            if landed and call in asked and landed[0] != asked[call]:
                found.append("an effect with words that are not in the journal")
        known = {f"{run}/{r.entry.call}" for r in journal if isinstance(r.entry, e.ToolCall)}
        if stray := [key for key in self.world.sent if key.startswith(f"{run}/") and key not in known]:
            found.append(f"{len(stray)} effects without an intent")
        return found


def _asked(journal: Sequence[e.Recorded]) -> dict[str, str]:
    """The words of every call the model or the script asked for, by call id."""
    asked: dict[str, str] = {}
    state = conversation.Conversation()
    for recorded in journal:
        state = conversation.fold(state, recorded)
        if isinstance(recorded.entry, e.ToolCall) and ":" in recorded.entry.call:
            asked[recorded.entry.call] = str((recorded.entry.arguments or {})["text"])
        if isinstance(recorded.entry, e.LlmResponse):
            asked |= {call: ask.arguments.split('"')[3] for call, ask in state.asks.items()}
    return asked


def _after_cancel(entries: Sequence[e.Entry], *, accepted: bool) -> list[str]:
    """Nothing new begins after a cancel but telling so; an accepted one is journaled unless the run was over."""
    found = [place for place, entry in enumerate(entries) if isinstance(entry, e.RunCancelled)]
    concluded = [place for place, entry in enumerate(entries) if isinstance(entry, e.RunConcluded)]
    if not found:
        over = any(isinstance(entry, e.RunFinished) for entry in entries)
        return ["an accepted cancel was lost"] if accepted and not over else []
    if concluded and concluded[0] < found[0]:
        return []
    later = [entry for entry in entries[found[0] :] if isinstance(entry, e.ToolCall | e.LlmRequest | e.SubagentStarted)]
    begun = [entry for entry in later if not (isinstance(entry, e.ToolCall) and entry.call.startswith("answer/"))]
    ends = [entry.status for entry in entries if isinstance(entry, e.RunFinished)]
    wrong = [status for status in ends if status not in ("cancelled", "failed", "needs_attention")]
    return (["something began after a cancel"] if begun else []) + (["a cancelled run went on"] if wrong else [])


def _outcomes(entries: Sequence[e.Entry]) -> list[str]:
    calls = Counter(entry.call for entry in entries if isinstance(entry, e.ToolResult | e.ToolUnknown))
    return [f"{count} outcomes of one call" for count in calls.values() if count > 1]
