"""How is everything put together in one process, with real services or with simulators in their place?"""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from gofer.app.catalog import checked_catalog
from gofer.app.embedded.connection_limits import BOUNDS, Bounds
from gofer.app.embedded.editions import Edition, Editions, Make, Watcher
from gofer.app.embedded.server import LOCAL, serve
from gofer.app.embedded.simulated import Simulated, simulate
from gofer.app.embedded.state import State, installation_key, served_state
from gofer.app.embedded.state_files import write_secret
from gofer.app.embedded.worlds import move_apart
from gofer.app.front import front
from gofer.app.http import SharedHttp, http_client
from gofer.app.ingress import build_ingress
from gofer.app.model_endpoints import Endpoints, build_model, keys_of
from gofer.app.notion_token import FILE, Tell, Window, registered
from gofer.app.own_accounts import with_own_accounts
from gofer.app.pages.pages import Pages
from gofer.app.request_bodies import Bodies
from gofer.app.settings import Settings
from gofer.app.visitors import Visitors, visitors
from gofer.app.worker import build_worker
from gofer.engine.services import Services
from gofer.files.child import Children
from gofer.files.sandbox.python import sandbox
from gofer.runtime.receive import Ingress
from gofer.runtime.retention import Purger
from gofer.runtime.scheduler import Clockwork
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker
from gofer.sources.delivery_log import DeliveryLog
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.stores.sqlite.old_names import replace_old_names
from gofer.tools.company import CompanyTool, load_company
from gofer.tools.mocks import mocked
from gofer.values.errors import ConfigError
from gofer.values.events import Event
from gofer.values.model_script import Script
from gofer.values.outside import Clock, Outside, SystemClock, random_id, random_key
from gofer.values.row_tokens import Tokens
from gofer.values.schedules.planned import Planned, planned
from gofer.values.secret import Secret
from gofer.workflows.fingerprint import fingerprint
from gofer.workflows.load import Catalog
from gofer_simulators.demo import demo_scripts
from gofer_simulators.offline_model import offline_model

GRACE = 5.0
"""Seconds that runs under way get to be handed over when the process stops."""


@dataclass(frozen=True, slots=True)
class EmbeddedStack:
    """Everything that runs in this process."""

    url: str
    """The front and Gofer's own pages."""
    editions: Editions
    """The workflow files in force, with the front and the pages made of them."""
    watcher: Watcher
    """Follows edits of the workflow files."""
    worker: Worker
    state: State
    clockwork: Clockwork
    """Begins the runs of schedules."""
    simulated: Simulated
    """What stands in for the systems outside; nothing when they are real."""
    model: str
    """What answers, for people."""
    settings: Settings
    """As they are with the simulators in place."""
    company: Sequence[CompanyTool]
    """The tools of `tools/`, as they were when the process started."""

    @property
    def catalog(self) -> Catalog:
        """The workflows in force."""
        return self.editions.now.catalog

    @property
    def ingress(self) -> Ingress:
        """The front in force."""
        return self.editions.now.ingress


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
    tell_token: Tell | None = None,
) -> AsyncGenerator[EmbeddedStack]:
    """Everything over the embedded state; a world is simulated when one is given, the model when scripts are.

    `host` is the address of this machine that the front listens on. `tell_token` opens the window in which Notion's
    verification token is taken, and is told of it.
    Raises ConfigError when a file or setting is wrong, when the offline model would write into a real system, or when
    another process serves the state.
    """
    # Before the files are read: an edit during the start is new to the watcher.
    seen = fingerprint(root)
    catalog = checked_catalog(root / "agents")
    company = load_company(root)
    if world is None:
        move_apart(settings.data)
    async with contextlib.AsyncExitStack() as stack:
        clock = SystemClock()
        state = await stack.enter_async_context(served_state(settings.data, clock))
        http = await stack.enter_async_context(http_client())
        simulated = Simulated()
        if world is not None:
            simulated, settings = await simulate(stack, settings, world, http)
        elif not settings.notion_webhook_secrets:
            settings = replace(settings, notion_webhook_secrets=registered(settings.data))
        window = _window(settings, tell_token, clock)
        settings = await _offline_unless_set_up(stack, settings, scripts, simulated=world is not None)
        settings = await with_own_accounts(settings, SharedHttp(http))
        outside = Outside(SharedHttp(http), clock, random_id, random.SystemRandom(), random_key)
        key = installation_key(settings.data)
        await replace_old_names(state.database, Tokens(key))
        log = DeliveryLog()
        make = _make(settings, state, key, outside, window, log, visitors(settings.public_url, host))
        editions = Editions(make, catalog)
        await stack.enter_async_context(log.written(clock))
        url = await stack.enter_async_context(serve(editions, port, host, bounds=bounds))
        model = build_model(settings, http)
        reach = Endpoints(settings, http, keys_of(settings), model)
        # The lock on the state proves that no other worker is alive.
        links = settings.public_url or url
        children, py = _children(stack), stack.enter_context(contextlib.closing(sandbox()))
        stores = state.store, state.blobs, state.queue
        given = settings, catalog, *stores, model, outside, links, key, children
        worker = build_worker(*given, alone=True, python=py, reach=reach, company=company)
        reached = worker.services if world is None else _with_mocks(worker.services, company)
        worker = replace(worker, grace=GRACE, live=editions, services=reached)
        clockwork = Clockwork(_plans(catalog), _start(editions), state.marks, clock)
        watcher = Watcher(root, editions, checked_catalog, clock, lambda found: clockwork.use(_plans(found)), seen)
        simulated.subscribe(url)
        model_name = _model_name(settings)
        yield EmbeddedStack(url, editions, watcher, worker, state, clockwork, simulated, model_name, settings, company)


@contextlib.asynccontextmanager
async def working(
    worker: Worker, clockwork: Clockwork | None = None, watcher: Watcher | None = None
) -> AsyncGenerator[None]:
    """The worker hears doorbells, the sweeper sweeps, schedules begin runs and what is due is deleted meanwhile.

    With a watcher, edits of the workflow files count from the next event on.

    What an earlier process left under way is taken up at once: the lock proves that it is dead.
    """
    store, queue = worker.services.store, worker.queue
    clock = worker.services.outside.clock
    sweeper, purger = Sweeper(store, queue, clock), Purger(store, worker.services.blobs, clock, queue)
    await store.drop_leases()
    await sweeper.sweep(still=0)
    services = [worker.serve(), sweeper.serve(), purger.serve()]
    services += [service.serve() for service in (clockwork, watcher) if service]
    tasks = [asyncio.create_task(serving) for serving in services]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _make(
    settings: Settings,
    state: State,
    key: Secret,
    outside: Outside,
    window: Window | None,
    log: DeliveryLog,
    seen_by: Visitors,
) -> Make:
    """Return what makes an edition of the workflow files; the log, the window and the memory outlive every edition."""
    bodies = Bodies()

    def make(catalog: Catalog, notice: str) -> Edition:
        stores = (state.store, state.blobs)
        ingress = build_ingress(
            settings,
            catalog.routes(),
            *stores,
            state.queue,
            key,
            outside,
            hooks=catalog.hooks,
            jwt=JwtProof,
            window=window,
            log=log,
        )
        pages = Pages(*stores, catalog, outside.clock, notice=notice)
        return Edition(catalog, ingress, front(ingress, pages, seen_by, bodies))

    return make


def _with_mocks(services: Services, company: Sequence[CompanyTool]) -> Services:
    """Return services whose company tools reach nothing: no simulator stands in for their systems."""
    own = {tool.name: services.tools[tool.name] for tool in company}
    return replace(services, tools={**services.tools, **mocked(own, {})})


def _plans(catalog: Catalog) -> Sequence[Planned]:
    return [planned(name, compiled) for name, compiled in catalog.schedules()]


def _start(editions: Editions) -> Callable[[Event, str], Awaitable[str]]:
    """Return what claims a run with the front in force."""

    async def start(event: Event, workflow: str) -> str:
        return await editions.now.ingress.start(event, workflow)

    return start


def _window(settings: Settings, tell_token: Tell | None, clock: Clock) -> Window | None:
    """Return the window in which Notion's verification token is taken, where an operator waits for it."""
    if tell_token is None:
        return None
    return Window(settings.data / FILE, write_secret, tell_token, clock, [*settings.notion_webhook_secrets])


def _children(stack: contextlib.AsyncExitStack) -> Children:
    """Who does dangerous work on bytes; no process is begun before there is any."""
    children = Children()
    stack.callback(children.close)
    return children


async def _offline_unless_set_up(
    stack: contextlib.AsyncExitStack, settings: Settings, scripts: Sequence[Script] | None, *, simulated: bool
) -> Settings:
    """Return settings that lead to a model: the one that is set up, or the offline model. Raises ConfigError."""
    if settings.has_model and scripts is None:
        return settings
    if not simulated and settings.reaches_people:
        # Words of a script are for a simulated world; people would take them for an answer.
        raise ConfigError(
            "No model is set up, and the offline model's words are never written into real systems. "
            "Set OPENAI_API_KEY, OPENAI_BASE_URL for a compatible endpoint, or MODEL_BASE_URLS for the endpoints of "
            "agents/defaults.yaml."
        )
    url = await stack.enter_async_context(serve(offline_model(demo_scripts() if scripts is None else scripts)))
    return replace(settings, openai_api_key=Secret(""), openai_base_url=f"{url}/v1", offline=True)


def _model_name(settings: Settings) -> str:
    if settings.offline:
        return "the offline model: a script, not a language model"
    if not settings.has_default_endpoint:
        return "the models behind the endpoints of agents/defaults.yaml"
    return f"the model behind {urlsplit(settings.openai_base_url).hostname or 'the OpenAI API'}"
