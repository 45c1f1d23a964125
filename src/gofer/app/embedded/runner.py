"""The runner: starts runs for callers in this process, and works on each run until it ends or has to wait."""

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

from gofer.app.catalog import checked_catalog, company_tools
from gofer.app.embedded.state import installation_key, served_state
from gofer.app.embedded.working import GRACE
from gofer.app.embedded.worlds import move_apart
from gofer.app.http import SharedHttp, http_client
from gofer.app.model_endpoints import ModelAccess, models_of
from gofer.app.not_set_up import used_in
from gofer.app.own_accounts import with_own_accounts
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses, Installation, build_worker
from gofer.engine.effects import Patience
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
from gofer.runtime.worker import CONCURRENCY, LiveCatalog, Worker, WorkerLimits
from gofer.sources.apps import APPS
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.one_place import Stores
from gofer.stores.unread_queue import UnreadQueue
from gofer.tools.company import CompanyTool
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError, Gone, TemporaryError
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Clock, Outside, SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.routes import read_routes


@dataclass(frozen=True, slots=True)
class RunStores:
    """The stores of one place, and the installation key from which run ids are derived."""

    stores: Stores
    key: InstallationKey


def memory_stores() -> RunStores:
    """Return the stores of a runner that exist only in this process."""
    stores = Stores(MemoryStore(), MemoryBlobs(), UnreadQueue())
    return RunStores(stores, InstallationKey(Secret(random_key().hex())))


@contextlib.asynccontextmanager
async def folder_stores(data: Path, clock: Clock) -> AsyncGenerator[RunStores]:
    """Hold the right to serve a folder; open its state for a runner. Raises ConfigError, TemporaryError, Corrupt."""
    async with served_state(data, clock) as state:
        yield RunStores(replace(state.stores, queue=UnreadQueue()), installation_key(data))


RunStatus = Status | Literal["parked", "handed_over"]
"""The status of a run: how it ended, `parked` while it waits, `handed_over` if its Gofer closed before the end."""


@dataclass(frozen=True, slots=True)
class Run:
    """The state of one run at the moment when the call returned."""

    id: str
    progress: Progress
    """The progress of the run, with its usage. It has no contents if these were deleted."""
    journal: Sequence[Recorded]
    """All entries, oldest first. Empty for a private run that ended, because its contents are deleted then."""

    @property
    def status(self) -> RunStatus:
        """Return how the run ended, or why it has not ended."""
        if self.progress.finished is not None:
            return self.progress.finished.status
        if self.progress.parked is not None:
            return "parked"
        return "handed_over"

    @property
    def reason(self) -> str:
        """Return the reason of the run's end, or what the run waits for. Empty if neither has a reason."""
        if self.progress.finished is not None:
            return self.progress.finished.reason
        if self.progress.parked is not None:
            return self.progress.parked_reason
        return ""

    @property
    def text(self) -> str:
        """Return the answer as people read it, or the sentence that explains a missing answer. Empty before the end."""
        if self.progress.concluded is None:
            return ""
        return self.progress.concluded.text

    @property
    def answer(self) -> str | Mapping[str, object]:
        """Return the answer: a value for a workflow with `output`, and the text for any other workflow."""
        concluded = self.progress.concluded
        if concluded is not None and concluded.output is not None:
            return concluded.output
        return self.text

    def to_json(self) -> Iterator[str]:
        """Yield the entries of the journal as lines of JSON, each with its address and its time."""
        for recorded in self.journal:
            entry = {"address": recorded.address, "at": recorded.at, **to_json(recorded.entry)}
            yield json.dumps(entry, ensure_ascii=False)


def without_contents(progress: Progress) -> Progress:
    """Return the progress of a private run that ended, with its answer and without its other contents."""
    return replace(progress, event=None, outcomes={}, in_doubt={}, clicks=[], approvals={}, waits={})


OWNER = "by-hand"

Tools = Mapping[str, AnyTool]
Equip = Callable[[Tools], Tools]
"""Returns the tools for runs, given all tools that Gofer has."""


@dataclass(frozen=True, slots=True)
class FixedCatalog(LiveCatalog):
    """The workflows of a process that reads the workflow files once."""

    catalog: Catalog

    @override
    async def holding(self, workflow: str) -> Catalog:
        return self.catalog


@dataclass(frozen=True, slots=True)
class Runner:
    """A worker that continues the runs of callers at once, without waiting for the queue."""

    catalog: Catalog
    worker: Worker
    ingress: Ingress
    _busy: dict[asyncio.Task[Run], Deadline] = field(default_factory=dict[asyncio.Task[Run], Deadline])
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])
    """One lock for each conversation, which the run that is being continued holds."""

    def over(
        self, stores: RunStores, models: ModelAccess, outside: Outside, patience: Patience, equip: Equip
    ) -> "Runner":
        """Return a runner with the same settings, workflows and tools over other stores. The caller closes it."""
        services = replace(
            self.worker.services,
            stores=stores.stores,
            model=models.default,
            reach=models.reach,
            outside=outside,
            patience=patience,
            installation_key=stores.key,
            tools=equip(self.worker.services.tools),
        )
        worker = replace(self.worker, services=services, suspects=asyncio.Lock())
        return Runner(self.catalog, worker, Ingress({}, read_routes({}), stores.stores, stores.key, outside))

    def with_workflow(self, loaded: Loaded) -> "Runner":
        """Return a runner with another version of one workflow. The caller closes it."""
        catalog = replace(self.catalog, workflows={**self.catalog.workflows, loaded.name: loaded})
        return Runner(catalog, replace(self.worker, workflows=FixedCatalog(catalog)), self.ingress)

    def now(self) -> float:
        """Return the wall clock, in unix seconds."""
        return self.worker.services.outside.clock.now()

    async def start(self, event: Event, workflow: str) -> str:
        """Claim a new run for an event, even for an event that started a run before, and return the run's id.

        Raises ConfigError for an unknown workflow, TemporaryError when the run could not be stored.
        """
        if workflow not in self.catalog.workflows:
            known = ", ".join(self.catalog.workflows)
            raise ConfigError(f"There is no workflow {workflow!r} in agents/; there are: {known}.")
        unique = replace(event, identity=(*event.identity, "by hand", self.worker.services.outside.new_id()))
        return await self.ingress.start(unique, workflow)

    async def work(self, run: str, deadline: Deadline | None = None) -> Run:
        """Work on a run until it ends or has to wait, and return its state.

        `deadline.end` makes the run begin nothing new, so that it is handed over. If the caller is cancelled, the run
        is handed over first. Raises ConfigError for an unknown run. Raises TemporaryError if the store fails, or if the
        runner is closed and the hand-over takes too long.
        """
        head = await self.worker.services.stores.journals.head(run)
        if head is None:
            raise ConfigError(f"There is no run {run[:40]!r} in this store; use the id of a run that is in it.")
        if deadline is None:
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
            raise TemporaryError(f"Run {run} was cancelled, because its Gofer closed; resume it with the same store.")
        return task.result()

    async def close(self) -> None:
        """Hand over all runs within GRACE seconds, and cancel the runs that take longer."""
        await self._hand_over({*self._busy})

    async def _hand_over(self, tasks: set[asyncio.Task[Run]]) -> None:
        for task in tasks:
            if deadline := self._busy.get(task):
                deadline.end()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=GRACE)
        finally:
            # A second cancellation of the caller also reaches this point, so no run continues on a closed store.
            for task in tasks:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _in_turn(self, head: Head, deadline: Deadline) -> Run:
        turn = self._turns.setdefault(head.conversation, asyncio.Lock())
        async with turn:
            done = await self.worker.continue_run(head, OWNER, deadline)
        services = self.worker.services
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
    """Open a runner over stores that no other process uses. Unfinished runs are handed over at its end."""
    network = SharedHttp(http)
    settings = await with_own_accounts(settings, network)
    outside = Outside(network, clock, random_id, random.SystemRandom(), random_key)
    with contextlib.closing(Children()) as children, contextlib.closing(sandbox()) as python:
        processes = ChildProcesses(children, python)
        runner = build_runner(settings, catalog, stores, models, outside, processes, equip, company)
        try:
            yield runner
        finally:
            await runner.close()


def build_runner(
    settings: Settings,
    catalog: Catalog,
    stores: RunStores,
    models: ModelAccess,
    outside: Outside,
    processes: ChildProcesses,
    equip: Equip,
    company: Sequence[CompanyTool] = (),
) -> Runner:
    """Return a runner over stores that no other process uses. The caller closes it."""
    links = Links(settings.public_url)
    worker = build_worker(
        settings,
        Installation(stores.stores, stores.key, links, outside, alone=True),
        FixedCatalog(catalog),
        models,
        processes,
        limits=WorkerLimits(settings.concurrency or CONCURRENCY, grace=GRACE),
        company=company,
    )
    services = replace(worker.services, tools=equip(worker.services.tools))
    ingress = Ingress({}, read_routes({}), stores.stores, stores.key, outside)
    return Runner(catalog, replace(worker, services=services), ingress)


@contextlib.asynccontextmanager
async def open_swept(settings: Settings, root: Path) -> AsyncGenerator[Worker]:
    """Open a worker over the state in the settings, with the real systems, for `gofer sweep`.

    Raises ConfigError if a file or setting is wrong, if no model is set up, or if another process serves the state.
    """
    catalog = checked_catalog(root / "agents")
    used = used_in(catalog)
    for app in APPS:
        if app.source in used and not settings.sources[app.token]:
            raise ConfigError(f"Set {app.token.name}; Gofer needs it to answer in {app.system}.")
    move_apart(settings.data)
    clock = SystemClock()
    async with served_state(settings.data, clock) as state, http_client(settings.proxies) as http:
        # With its queue, from which the sweep's worker receives.
        stores = RunStores(state.stores, installation_key(settings.data))
        models = models_of(settings, http)
        async with open_runner(
            settings, catalog, stores, models, http, clock, _as_they_are, company_tools(root)
        ) as runner:
            yield runner.worker


def _as_they_are(tools: Tools) -> Tools:
    return tools
