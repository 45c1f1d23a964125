"""Gofer with a socket to a separate simulated Slack, and a store whose claims can be held or refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from gofer.app.embedded.server import serve
from gofer.app.embedded.simulated import Simulated
from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.embedded.working import working
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.sources.slack.socket_mode import connected
from gofer.values.errors import TemporaryError
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.offline_model import offline_model
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from support.app.company import PATIENCE, ROOT, Company, settings
from support.http import loopback

SECRET = "simulated-signing-secret"
IMPATIENT = Pace(gap_factor=0, answer_within=0.5)


@dataclass
class HeldStore:
    """A store that refuses the first claims, and holds the others until `open` is set."""

    store: Store
    refusals: int = 0
    claims: int = 0
    open: asyncio.Event = field(default_factory=asyncio.Event)

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)

    async def claim(self, *frame: object) -> object:
        self.claims += 1
        if self.claims <= self.refusals:
            raise TemporaryError("the disk is full")
        await self.open.wait()
        return await self.store.claim(*frame)


@asynccontextmanager
async def slack(pace: Pace = IMPATIENT) -> AsyncIterator[tuple[SlackSimulator, str]]:
    """Yield a simulated Slack apart from the embedded stack, and the address of its Web API."""
    async with loopback.client() as http:
        simulator = SlackSimulator(demo_world(), clock=SystemClock().now, http=http, pace=pace)
        async with serve(simulator.app, websockets=True) as url:
            yield simulator, f"{url}/api"
            await simulator.close()


def joined(embedded: EmbeddedStack, ingress: Ingress | None = None) -> AbstractAsyncContextManager[None]:
    """Return a block with a socket that passes deliveries to the ingress of a stack, or to another one."""
    receive = (ingress or embedded.ingress).receive_verified
    return connected(embedded.settings.sources, receive, embedded.readiness.supervisor, ping=0.1)


@asynccontextmanager
async def socket_gofer(
    folder: Path, pace: Pace = IMPATIENT, refusals: int | None = None, **environment: str
) -> AsyncIterator[tuple[Company, HeldStore]]:
    """Run Gofer with a socket to a simulated Slack; with `refusals`, its store refuses and holds claims."""
    async with (
        slack(pace) as (simulator, api),
        serve(offline_model(demo_scripts())) as model,
        loopback.client() as http,
    ):
        tokens = {"SLACK_BOT_TOKEN": "xoxb-simulated", "SLACK_APP_TOKEN": "xapp-simulated"}
        given = {"SLACK_API_URL": api, "OPENAI_BASE_URL": f"{model}/v1", **tokens}
        chosen = settings(folder, **given, **environment)
        async with open_embedded(chosen, ROOT) as embedded:
            store = HeldStore(embedded.state.store, refusals or 0)
            if refusals is None:
                store.open.set()
            ingress = replace(embedded.ingress, stores=replace(embedded.ingress.stores, journals=store))
            worker = replace(embedded.worker, services=replace(embedded.worker.services, patience=PATIENCE))
            async with working(worker), joined(embedded, ingress):
                yield Company(replace(embedded, simulated=Simulated({"slack": simulator})), http), store
