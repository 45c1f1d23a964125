"""The runner: starts runs for callers of this process and works on each until it ends or has to wait."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

import httpx2

from gofer.app.embedded.run_result import Run, without_contents
from gofer.app.embedded.run_stores import RunStores
from gofer.app.embedded.working import GRACE
from gofer.app.http import SharedHttp
from gofer.app.own_accounts import with_own_accounts
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses, Installation, ModelAccess, build_worker
from gofer.engine.owned_run import Deadline
from gofer.engine.services import Links
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.projections import progress
from gofer.runtime.receive import Ingress
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.stores.queue import Queue
from gofer.tools.company import CompanyTool
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError, Gone, TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Clock, Outside, random_id, random_key
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes

OWNER = "by-hand"
_MESSAGES = 100

Tools = Mapping[str, AnyTool]
Equip = Callable[[Tools], Tools]
"""Returns the tools that runs have, from those that Gofer has."""


@dataclass(frozen=True, slots=True)
class FixedCatalog:
    """The workflows of a process that reads its files once."""

    catalog: Catalog

    async def holding(self, workflow: str) -> Catalog:
        """See LiveCatalog.holding."""
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
