"""The embedded stack: everything in one process, with the real systems or with simulators."""

import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gofer.app.catalog import checked_catalog, company_tools, listable_tools, priced_reviewer
from gofer.app.embedded.alarms import build_alarms, observed
from gofer.app.embedded.connection_limits import BOUNDS, Bounds
from gofer.app.embedded.editions import Edition, Editions, Edits, Make, Watcher
from gofer.app.embedded.entrance import Entrance, entrance
from gofer.app.embedded.offline import model_in_words, offline_unless_set_up
from gofer.app.embedded.readiness import Readiness
from gofer.app.embedded.server import LOCAL, serve
from gofer.app.embedded.simulated import Simulated, simulate
from gofer.app.embedded.state import State, installation_key, served_state
from gofer.app.embedded.state_files import write_secret
from gofer.app.embedded.working import GRACE, working
from gofer.app.embedded.worlds import move_apart
from gofer.app.front import Bodies, front
from gofer.app.http import SharedHttp, http_client
from gofer.app.ingress import build_ingress
from gofer.app.model_endpoints import ModelAccess, models_of
from gofer.app.not_set_up import check_complete
from gofer.app.own_accounts import with_own_accounts
from gofer.app.pages.run_pages import Pages
from gofer.app.secret_registration import AwaitedSecret, Window, registered
from gofer.app.settings import Settings
from gofer.app.worker import ChildProcesses, Installation, build_worker, log_unusable
from gofer.engine.services import Links
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.runtime.backlog import BacklogWatch
from gofer.runtime.receive import Ingress
from gofer.runtime.scheduler import Scheduler
from gofer.runtime.worker import CONCURRENCY, Worker, WorkerLimits
from gofer.sources.delivery_log import DeliveryLog
from gofer.sources.receivers import RECEIVERS
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.tools.company import FOLDER as TOOLS
from gofer.tools.company import CompanyTool
from gofer.tools.definition import AnyTool
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.model_script import Script
from gofer.values.outside import Clock, Outside, SystemClock, random_id, random_key
from gofer.values.schedules.planned import Planned, planned
from gofer.values.supervisor import Supervisor
from gofer.workflows.fingerprint import fingerprint
from gofer.workflows.load import Catalog


@dataclass(frozen=True, slots=True)
class EmbeddedStack:
    """The parts of a running embedded stack."""

    url: str
    """The base URL of the receivers and of Gofer's pages."""
    editions: Editions
    """The holder of the active workflow files, with the receivers and the pages built from them."""
    watcher: Watcher
    """Follows edits of the workflow files."""
    worker: Worker
    state: State
    scheduler: Scheduler
    """The scheduler that starts runs at the times of schedules."""
    simulated: Simulated
    """The simulators. Empty if the real systems are used."""
    model: str
    """The name of the model that answers, for people."""
    settings: Settings
    """The settings, changed to reach the simulators if there are any."""
    company: Sequence[CompanyTool]
    """The tools of `tools/` as read when the process started."""
    readiness: Readiness
    entrance: Entrance
    """The people who may open the pages."""

    @property
    def catalog(self) -> Catalog:
        """Return the active workflows."""
        return self.editions.now.catalog

    @property
    def ingress(self) -> Ingress:
        """Return the active ingress."""
        return self.editions.now.ingress

    def working(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Return a block in which the worker, the scheduler and the other long-lived parts serve."""
        others = {
            "scheduler": self.scheduler.serve,
            "watcher of edits": self.watcher.serve,
            "readiness": self.readiness.serve,
            "backlog": self.readiness.backlog.serve,
        }
        worker = self.worker
        alarms = build_alarms(self.settings, self.state.store, worker.services.outside)
        if alarms is not None:
            worker = observed(worker, alarms)
            others["alarms"] = alarms.serve
        return working(worker, self.readiness.supervisor, others)


@contextlib.asynccontextmanager
async def open_embedded(
    settings: Settings,
    root: Path,
    port: int = 0,
    world: Mapping[str, object] | None = None,
    scripts: Sequence[Script] | None = None,
    *,
    host: str = LOCAL,
    bounds: Bounds = BOUNDS,
    awaited: AwaitedSecret | None = None,
    ports: Mapping[str, int] | None = None,
) -> AsyncGenerator[EmbeddedStack]:
    """Open the embedded stack over the state in the settings.

    With `world`, simulators replace the outside systems, on `ports` by the name of their source, or else on free ones.
    With `scripts`, the offline model answers. `host` is the address of this machine that the front listens on.
    `awaited` opens the window in which a source registers its secret.
    Raises ConfigError if a file or setting is wrong, if the offline model would write into a real system, or if another
    process serves the state.
    """
    # The fingerprints are taken before the files are read, so the watcher notices an edit during the start.
    files = Edits(fingerprint(root))
    tools = Edits(fingerprint(root, (TOOLS,)))
    catalog = checked_catalog(root / "agents")
    company = company_tools(root)
    if world is None:
        check_complete(settings, catalog)
        move_apart(settings.data)
    async with contextlib.AsyncExitStack() as stack:
        clock = SystemClock()
        state = await stack.enter_async_context(served_state(settings.data, clock))
        http = await stack.enter_async_context(http_client(settings.proxies))
        simulated = Simulated()
        if world is not None:
            simulated, settings = await simulate(stack, settings, world, http, ports)
        else:
            settings = _with_registered_secrets(settings)
        settings = await offline_unless_set_up(stack, settings, scripts, simulated=world is not None)
        settings = await with_own_accounts(settings, SharedHttp(http))
        outside = Outside(SharedHttp(http), clock, random_id, random.SystemRandom(), random_key)
        key = installation_key(settings.data)
        log = DeliveryLog()
        seen_by = entrance(settings, key, outside, state.store, host)
        readiness = _readiness(state, clock, company)
        window = _window(settings, awaited, clock)
        make = _make(settings, state, key, outside, window, log, seen_by, readiness, listable_tools(root))
        editions = Editions(make, catalog, clock)
        await stack.enter_async_context(log.written(clock, readiness.supervisor))
        url = await stack.enter_async_context(serve(editions, port, host, bounds=bounds))
        links = Links(settings.public_url or url, signs_in=seen_by.signs_in, hosts=simulated.hosts)
        # The lock on the state proves that no other worker is alive.
        installation = Installation(state.stores, key, links, outside, alone=True)
        children = _children(stack)
        worker = _worker(settings, installation, editions, models_of(settings, http), children, company)
        scheduler = Scheduler(_plans(catalog), _start(editions), state.marks, clock)
        watcher = Watcher(root, editions, checked_catalog, clock, _adopted(scheduler), files, tools)
        simulated.subscribe(url)
        model = model_in_words(settings)
        parts = (url, editions, watcher, worker, state, scheduler, simulated, model, settings, company)
        yield EmbeddedStack(*parts, readiness, seen_by)


def _worker(
    settings: Settings,
    installation: Installation,
    editions: Editions,
    models: ModelAccess,
    children: ChildProcesses,
    company: Sequence[CompanyTool],
) -> Worker:
    reviewer = None
    if not settings.offline:
        # The words of the offline model say nothing about a run.
        reviewer = priced_reviewer()
    limits = WorkerLimits(settings.concurrency or CONCURRENCY, grace=GRACE)
    log_unusable(company)
    return build_worker(
        settings, installation, editions, models, children, limits=limits, company=company, reviewer=reviewer
    )


def _with_registered_secrets(settings: Settings) -> Settings:
    """Return settings with the registered secrets, for sources without a secret in the environment."""
    known = [
        spec.secret.to(registered(settings.data, spec.registration))
        for spec in RECEIVERS
        if spec.registration is not None and not settings.sources[spec.secret]
    ]
    return replace(settings, sources=settings.sources.but(*known))


def _make(
    settings: Settings,
    state: State,
    key: InstallationKey,
    outside: Outside,
    window: Window | None,
    log: DeliveryLog,
    seen_by: Entrance,
    readiness: Readiness,
    tools: Mapping[str, AnyTool],
) -> Make:
    """Return a function that makes editions. All of them share the log, the window and the limit for request bodies."""
    bodies = Bodies()

    def make(catalog: Catalog, notice: str) -> Edition:
        ingress = build_ingress(
            settings,
            catalog.routes(),
            state.stores,
            key,
            outside,
            hooks=catalog.hooks,
            jwt=JwtProof,
            window=window,
            log=log,
        )
        pages = Pages(state.stores, catalog, outside.clock, seen_by.readers, notice, seen_by.evals, tools)
        probes = [readiness.route(catalog, notice)]
        return Edition(catalog, ingress, front(ingress, pages, seen_by.guard, bodies, probes))

    return make


def _readiness(state: State, clock: Clock, company: Sequence[CompanyTool]) -> Readiness:
    unusable = sum(bool(tool.unusable) for tool in company)
    return Readiness(state.store, clock, Supervisor(clock), BacklogWatch(state.store, clock), unusable_tools=unusable)


def _plans(catalog: Catalog) -> Sequence[Planned]:
    return [planned(name, compiled) for name, compiled in catalog.schedules()]


def _adopted(scheduler: Scheduler) -> Callable[[Catalog], None]:
    """Return a function that gives the schedules of newly read workflows to the scheduler."""

    def adopt(catalog: Catalog) -> None:
        scheduler.use(_plans(catalog))

    return adopt


def _start(editions: Editions) -> Callable[[Event, str], Awaitable[str]]:
    """Return a function that claims a run through the active ingress."""

    async def start(event: Event, workflow: str) -> str:
        return await editions.now.ingress.start(event, workflow)

    return start


def _window(settings: Settings, awaited: AwaitedSecret | None, clock: Clock) -> Window | None:
    """Return the window in which a source registers its secret, or None if the operator expects no secret."""
    if awaited is None:
        return None
    known = [*settings.sources[awaited.spec.secret]]
    return Window(awaited, settings.data / awaited.registration.file, write_secret, clock, known)


def _children(stack: contextlib.AsyncExitStack) -> ChildProcesses:
    """Return the child processes that read bytes and run code. Each process starts with its first job."""
    documents = stack.enter_context(contextlib.closing(Children()))
    return ChildProcesses(documents, stack.enter_context(contextlib.closing(sandbox())))
