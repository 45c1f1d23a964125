"""How is everything put together in one process, with real services or with simulators in their place?"""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from gofer.bootstrap.catalog import checked_catalog
from gofer.bootstrap.disk import write_secret
from gofer.bootstrap.http import SharedHttp, http_client
from gofer.bootstrap.ingress import build_ingress
from gofer.bootstrap.notion_token import FILE, Tell, Window, registered
from gofer.bootstrap.own_accounts import with_own_accounts
from gofer.bootstrap.settings import Settings
from gofer.bootstrap.simulated import Simulated, simulate
from gofer.bootstrap.state import State, installation_key, served_state
from gofer.bootstrap.worker import build_model, build_worker
from gofer.dispatch import Ingress
from gofer.files.child import Children
from gofer.local.front import front
from gofer.local.lobby import BOUNDS, Bounds
from gofer.local.pages import Pages
from gofer.local.server import serve
from gofer.model_script import Script
from gofer.outside import Outside, SystemClock, random_id, random_key
from gofer.retention import Purger
from gofer.sandbox.python import sandbox
from gofer.scheduler.clockwork import Clockwork
from gofer.schedules.planned import planned
from gofer.secret import Secret
from gofer.simulators.demo import demo_scripts
from gofer.simulators.offline_model import offline_model
from gofer.sweeper import Sweeper
from gofer.triggers.jwt_bearer import JwtProof
from gofer.worker import Worker
from gofer.workflows.load import Catalog

GRACE = 5.0
"""Seconds that runs under way get to be handed over when the process stops."""


@dataclass(frozen=True, slots=True)
class Laptop:
    """Everything that runs in this process."""

    url: str
    """The front and Gofer's own pages."""
    ingress: Ingress
    worker: Worker
    state: State
    catalog: Catalog
    clockwork: Clockwork
    """Begins the runs of schedules."""
    simulated: Simulated
    """What stands in for the systems outside; nothing when they are real."""
    model: str
    """What answers, for people."""
    settings: Settings
    """As they are with the simulators in place."""


@contextlib.asynccontextmanager
async def open_laptop(
    settings: Settings,
    root: Path,
    port: int = 0,
    world: Mapping[str, object] | None = None,
    scripts: Sequence[Script] | None = None,
    *,
    bounds: Bounds = BOUNDS,
    tell_token: Tell | None = None,
) -> AsyncGenerator[Laptop]:
    """Everything over the embedded state; a world is simulated when one is given, the model when scripts are.

    `tell_token` opens the window in which Notion's verification token is taken, and is told of it.
    Raises ConfigError when a file or setting is wrong or another process serves the state.
    """
    catalog = checked_catalog(root / "agents")
    async with contextlib.AsyncExitStack() as stack:
        clock = SystemClock()
        state = await stack.enter_async_context(served_state(settings.data, clock))
        http = await stack.enter_async_context(http_client())
        simulated = Simulated()
        if world is not None:
            simulated, settings = await simulate(stack, settings, world, http)
        elif not settings.notion_webhook_secrets:
            settings = replace(settings, notion_webhook_secrets=registered(settings.data))
        window = tell_token and Window(
            settings.data / FILE, write_secret, tell_token, clock, [*settings.notion_webhook_secrets]
        )
        settings = await _offline_unless_set_up(stack, settings, scripts)
        settings = await with_own_accounts(settings, SharedHttp(http))
        outside = Outside(SharedHttp(http), clock, random_id, random.SystemRandom(), random_key)
        key = installation_key(settings.data)
        ingress = build_ingress(
            settings,
            catalog.routes(),
            state.store,
            state.blobs,
            state.queue,
            key,
            outside,
            hooks=catalog.hooks,
            jwt=JwtProof,
            window=window,
        )
        await stack.enter_async_context(ingress.log.written(clock))
        app = front(ingress, Pages(state.store, state.blobs, catalog, clock))
        url = await stack.enter_async_context(serve(app, port, bounds=bounds))
        model = build_model(settings, http)
        # The lock on the state proves that no other worker is alive.
        pages = settings.public_url or url
        children, py = _children(stack), stack.enter_context(contextlib.closing(sandbox()))
        stores = state.store, state.blobs, state.queue
        worker = build_worker(settings, catalog, *stores, model, outside, pages, key, children, alone=True, python=py)
        worker = replace(worker, grace=GRACE)
        plans = [planned(name, compiled) for name, compiled in catalog.schedules()]
        clockwork = Clockwork(plans, ingress.start, state.marks, clock)
        simulated.subscribe(url)
        yield Laptop(url, ingress, worker, state, catalog, clockwork, simulated, _model_name(settings), settings)


@contextlib.asynccontextmanager
async def working(worker: Worker, clockwork: Clockwork | None = None) -> AsyncGenerator[None]:
    """The worker hears doorbells, the sweeper sweeps, schedules begin runs and what is due is deleted meanwhile.

    What an earlier process left under way is taken up at once: the lock proves that it is dead.
    """
    store, queue = worker.services.store, worker.queue
    clock = worker.services.outside.clock
    sweeper, purger = Sweeper(store, queue, clock), Purger(store, worker.services.blobs, clock, queue)
    await store.drop_leases()
    await sweeper.sweep(still=0)
    services = [worker.serve(), sweeper.serve(), purger.serve(), *([clockwork.serve()] if clockwork else [])]
    tasks = [asyncio.create_task(serving) for serving in services]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _children(stack: contextlib.AsyncExitStack) -> Children:
    """Who does dangerous work on bytes; no process is begun before there is any."""
    children = Children()
    stack.callback(children.close)
    return children


async def _offline_unless_set_up(
    stack: contextlib.AsyncExitStack, settings: Settings, scripts: Sequence[Script] | None
) -> Settings:
    if settings.has_model and scripts is None:
        return settings
    url = await stack.enter_async_context(serve(offline_model(demo_scripts() if scripts is None else scripts)))
    return replace(settings, openai_api_key=Secret(""), openai_base_url=f"{url}/v1", offline=True)


def _model_name(settings: Settings) -> str:
    if settings.offline:
        return "the offline model: a script, not a language model"
    return f"the model behind {urlsplit(settings.openai_base_url).hostname or 'the OpenAI API'}"
