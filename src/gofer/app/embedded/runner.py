"""The runner: starts runs for callers of this process and works on each until it ends or has to wait."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

import httpx2
from typing_extensions import override

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.state import installation_key, served_state
from gofer.app.embedded.working import GRACE
from gofer.app.embedded.worlds import move_apart
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import ModelAccess, models_of
from gofer.app.own_accounts import with_own_accounts
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses, Installation, build_worker
from gofer.engine.owned_run import Deadline
from gofer.engine.services import Links
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.codec import to_json
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded, Status
from gofer.journal.log import read_journal
from gofer.projections import progress
from gofer.projections.progress import Progress
from gofer.runtime.receive import Ingress
from gofer.runtime.worker import LiveCatalog, Worker, WorkerLimits
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import Queue
from gofer.tools.company import CompanyTool, load_company
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError, Gone, TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Clock, Outside, SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes


@dataclass(frozen=True, slots=True)
class RunStores:
    """The stores of one place, with the key that ids of runs are made with."""

    stores: Stores
    key: Secret


def memory_stores(clock: Clock) -> RunStores:
    """Return stores that end with this process; no other process can read them."""
    stores = Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(clock))
    return RunStores(stores, Secret(random_key().hex()))


@contextlib.asynccontextmanager
async def folder_stores(data: Path, clock: Clock) -> AsyncGenerator[RunStores]:
    """Lock the state of a folder for this process and open it. Raises ConfigError, TemporaryError, Corrupt."""
    async with served_state(data, clock) as state:
        yield RunStores(state.stores, installation_key(data))


RunStatus = Status | Literal["parked", "handed_over"]
"""How a run ended; `parked` while it waits, and `handed_over` when its Gofer was closed before its end."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it was when the call returned."""

    id: str
    progress: Progress
    """What it used, and all else that its journal says of its way; without contents where these were deleted."""
    journal: Sequence[Recorded]
    """All entries, oldest first. Empty for a private run that ended, because its contents are deleted then."""

    @property
    def status(self) -> RunStatus:
        """Return how it ended, or why it has not."""
        if self.progress.finished is not None:
            return self.progress.finished.status
        return "parked" if self.progress.parked is not None else "handed_over"

    @property
    def reason(self) -> str:
        """Return why it ended as it did, or what it waits for; empty when there is nothing to explain."""
        if self.progress.finished is not None:
            return self.progress.finished.reason
        return self.progress.parked_reason if self.progress.parked is not None else ""

    @property
    def text(self) -> str:
        """Return the answer as people read it, or the sentence that says why there is none; empty before the end."""
        return self.progress.concluded.text if self.progress.concluded is not None else ""

    @property
    def answer(self) -> str | Mapping[str, object]:
        """Return the answer: the value that the workflow's `output` asks for, and the text without an `output`."""
        concluded = self.progress.concluded
        if concluded is not None and concluded.output is not None:
            return concluded.output
        return self.text

    def to_json(self) -> Iterator[str]:
        """Yield the journal as lines of JSON, one entry each, with its address and its time."""
        for recorded in self.journal:
            entry = {"address": recorded.address, "at": recorded.at, **to_json(recorded.entry)}
            yield json.dumps(entry, ensure_ascii=False)


def without_contents(progress: Progress) -> Progress:
    """Return the progress of a private run that ended, without what was said in it but its answer."""
    return replace(progress, event=None, outcomes={}, in_doubt={}, clicks=[], approvals={}, waits={})


OWNER = "by-hand"
_MESSAGES = 100

Tools = Mapping[str, AnyTool]
Equip = Callable[[Tools], Tools]
"""Returns the tools that runs have, from those that Gofer has."""


@dataclass(frozen=True, slots=True)
class FixedCatalog(LiveCatalog):
    """The workflows of a process that reads its files once."""

    catalog: Catalog

    @override
    async def holding(self, workflow: str) -> Catalog:
        return self.catalog


@dataclass(frozen=True, slots=True)
class Runner:
    """A worker that continues the runs of callers, each right after it was asked for."""

    catalog: Catalog
    worker: Worker
    ingress: Ingress
    _busy: dict[asyncio.Task[Run], Deadline] = field(default_factory=dict[asyncio.Task[Run], Deadline])
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])
    """Held by the run that has the turn of its conversation."""

    def now(self) -> float:
        """Return the wall clock, in unix seconds."""
        return self.worker.services.outside.clock.now()

    async def start(self, event: Event, workflow: str) -> str:
        """Claim a run of its own for an event, however often it happens, and return its id.

        Raises ConfigError for an unknown workflow, TemporaryError when the run could not be stored.
        """
        if workflow not in self.catalog.workflows:
            known = ", ".join(self.catalog.workflows)
            raise ConfigError(f"There is no workflow {workflow!r} in agents/; there are: {known}.")
        unique = replace(event, identity=(*event.identity, "by hand", self.worker.services.outside.new_id()))
        return await self.ingress.start(unique, workflow)

    async def work(self, run: str) -> Run:
        """Work on a run until it ends or waits, and return it as it is then.

        When the caller is cancelled, the run is handed over first. Raises ConfigError for an unknown run, and
        TemporaryError when the store fails, or when the runner is closed and the run takes too long to be handed over.
        """
        head = await self.worker.services.stores.journals.head(run)
        if head is None:
            raise ConfigError(f"There is no run {run[:40]!r} in this store; name one that this store has.")
        deadline = Deadline(self.worker.services.outside.clock)
        task = asyncio.create_task(self._in_turn(head, deadline))
        self._busy[task] = deadline
        task.add_done_callback(self._busy.pop)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._hand_over({task})
            raise
        if task.cancelled():
            raise TemporaryError(f"Run {run} was cut off, because its Gofer was closed; resume it with the same store.")
        return task.result()

    async def close(self) -> None:
        """Hand over all runs, within a few seconds; a run that takes longer is cut off where it is."""
        await self._hand_over({*self._busy})

    async def _hand_over(self, tasks: set[asyncio.Task[Run]]) -> None:
        for task in tasks:
            if deadline := self._busy.get(task):
                deadline.end()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=GRACE)
        finally:
            # Also when the caller is cancelled a second time: no run goes on over a closed store.
            for task in tasks:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _in_turn(self, head: Head, deadline: Deadline) -> Run:
        turn = self._turns.setdefault(head.conversation, asyncio.Lock())
        async with turn:
            done = await self.worker.continue_run(head, OWNER, deadline)
        services = self.worker.services
        await _acknowledge_all(services.stores.queue)
        journal: Sequence[Recorded] = ()
        # The contents of a private run were deleted when it ended.
        with contextlib.suppress(Gone):
            journal = await read_journal(head.run, services.stores.journals, services.stores.blobs)
        if done is None and not journal:
            raise ConfigError(f"Run {head.run} ended, and its contents were deleted.")
        if done is None:
            done = progress.project(journal)
        await self.worker.export(head.run, done, deadline)
        if done.finished is not None and not journal:
            done = without_contents(done)
        return Run(head.run, done, journal)


async def _acknowledge_all(queue: Queue) -> None:
    """Take the messages out of a queue that no worker listens to; a process that serves the state sweeps first."""
    for message in await queue.receive(_MESSAGES, GRACE, 0.0):
        await queue.acknowledge(message)


@contextlib.asynccontextmanager
async def open_runner(
    settings: Settings,
    catalog: Catalog,
    stores: RunStores,
    models: ModelAccess,
    http: httpx2.AsyncClient,
    clock: Clock,
    equip: Equip,
    company: Sequence[CompanyTool] = (),
) -> AsyncGenerator[Runner]:
    """Open a runner over stores that no other process works on; runs that are left over at its end are handed over."""
    network = SharedHttp(http)
    settings = await with_own_accounts(settings, network)
    outside = Outside(network, clock, random_id, random.SystemRandom(), random_key)
    with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
        worker = build_worker(
            settings,
            Installation(stores.stores, stores.key, Links(settings.public_url), outside, alone=True),
            FixedCatalog(catalog),
            models,
            ChildProcesses(children, python),
            limits=WorkerLimits(grace=GRACE),
            company=company,
        )
        services = replace(worker.services, tools=equip(worker.services.tools))
        ingress = Ingress({}, read_routes({}), stores.stores, stores.key, outside)
        runner = Runner(catalog, replace(worker, services=services), ingress)
        try:
            yield runner
        finally:
            await runner.close()


@contextlib.asynccontextmanager
async def open_swept(settings: Settings, root: Path) -> AsyncGenerator[Worker]:
    """Open a worker over the state that the settings name, with the real systems.

    Raises ConfigError when a file or setting is wrong, when no model is set up, or when another process serves the
    state.
    """
    catalog = checked_catalog(root / "agents")
    move_apart(settings.data)
    clock = SystemClock()
    async with folder_stores(settings.data, clock) as stores, http_client() as http:
        models = models_of(settings, http)
        async with open_runner(
            settings, catalog, stores, models, http, clock, _as_they_are, load_company(root)
        ) as runner:
            yield runner.worker


def _as_they_are(tools: Tools) -> Tools:
    return tools
