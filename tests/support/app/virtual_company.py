"""Gofer with the simulated vendors of the demo's world in virtual time: no sockets, no threads, one seed decides.

`virtual_company` puts a receiver, a worker and the vendors together in memory.
"""

import asyncio
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

import httpx2

from gofer.app.event_input import way
from gofer.app.settings import Settings, read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.files.child import Children
from gofer.journal.coordination import UNFINISHED
from gofer.journal.seal import KEY_BYTES
from gofer.models.language_model import Model
from gofer.models.served_model import Prices
from gofer.runtime.receive import Ingress
from gofer.runtime.worker import Worker
from gofer.sources.receiver import RawRequest
from gofer.sources.receivers import PATHS
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.canonical_json import as_object
from gofer.values.outside import HttpRequest, HttpResponse, Outside
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes
from gofer_simulators.demo import demo_world
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.simulator import SlackSimulator
from support.processes.jobs_in_this_process import InThisProcess
from support.runtime.worker_parts import FixedCatalog
from support.simulation.virtual_time import VirtualClock
from support.stand_ins import KEY

EMAIL = "gofer@example.com"
SIMULATED = "simulated"
"""The token of every simulated vendor."""
QUIET = 300.0
"""Virtual seconds after which all events have been delivered."""


NO_PRICES = Prices({})


@dataclass(frozen=True)
class Delivered:
    """A delivery of a source."""

    source: str
    body: bytes


Sent = list[HttpRequest | Delivered | bytes]


@dataclass
class SimulatedVendors:
    """The vendors of the demo's world, each behind a host of its own name; an `Http` that keeps the requests."""

    slack: SlackSimulator
    jira: JiraSimulator
    notion: NotionSimulator
    github: GitHubSimulator
    sent: Sent
    """Requests to vendors and deliveries in order. A model may add its questions."""
    clients: dict[str, httpx2.AsyncClient] = field(default_factory=dict)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request to the vendor that its host names, and keep it."""
        self.sent.append(request)
        client = self.clients[urlsplit(request.url).netloc]
        answer = await client.request(
            request.method, request.url, headers=dict(request.headers), content=request.content
        )
        return HttpResponse(answer.status_code, dict(answer.headers), answer.content)


@dataclass
class Company:
    """Gofer with some workflows in the demo's world, in virtual time."""

    catalog: Catalog
    vendors: SimulatedVendors
    ingress: Ingress
    worker: Worker

    async def deliver(self, source: str, body: bytes, headers: Sequence[tuple[str, str]] = (), hook: str = "") -> int:
        """Receive a delivery and return the status of the response."""
        self.vendors.sent.append(Delivered(source, body))
        come_in = way(self.catalog, source, headers, hook)
        request = RawRequest("POST", come_in.path, headers, body)
        return (await self.ingress.receive_verified(come_in.receiver, request)).status

    async def ended(self) -> None:
        """Wait until all events were delivered and every run ended."""
        await asyncio.sleep(QUIET)
        while any(head.status in UNFINISHED for head in await self.worker.services.store.heads(100, private=True)):
            await asyncio.sleep(10)


async def virtual_company(
    clock: VirtualClock,
    stack: AsyncExitStack,
    catalog: Catalog,
    make_model: Callable[[Sent], Model],
    *,
    seed: int = 7,
    world: Mapping[str, object] | None = None,
    prices: Prices = NO_PRICES,
) -> Company:
    """Return a company that `stack` closes. `make_model` gets the list of what is sent, to add its questions."""
    made: list[Company] = []

    async def receive(request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        source = next(source for source, known in PATHS.items() if known == path)
        headers = [(name, value) for name, value in request.headers.items()]
        return httpx2.Response(await made[0].deliver(source, await request.aread(), headers))

    front = await stack.enter_async_context(httpx2.AsyncClient(transport=httpx2.MockTransport(receive)))
    vendors = await _vendors(clock, front, stack, world or demo_world())
    ids = itertools.count(1)
    chance = random.Random(seed)
    outside = Outside(vendors, clock, lambda: f"id{next(ids):06}", chance, lambda: chance.randbytes(KEY_BYTES))
    store = MemoryStore()
    blobs = MemoryBlobs()
    queue = MemoryQueue(clock)
    ingress = Ingress({}, read_routes(catalog.routes()), Stores(store, blobs, queue), KEY, outside)
    services = Services(
        Stores(store, blobs, queue),
        make_model(vendors.sent),
        build_tools(_settings(vendors), cast(Children, InThisProcess())),
        prices,
        Links("http://gofer", catalog.defaults.prompt_links),
        outside,
        Patience(permit=20, inflight=1, skew=0),
        catalog.scripts,
        installation_key=KEY,
    )
    made.append(Company(catalog, vendors, ingress, Worker(services, FixedCatalog(catalog))))
    return made[0]


async def _vendors(
    clock: VirtualClock, front: httpx2.AsyncClient, stack: AsyncExitStack, world: Mapping[str, object]
) -> SimulatedVendors:
    vendors = SimulatedVendors(
        SlackSimulator(world, clock=clock.now, http=front, token=SIMULATED),
        JiraSimulator(as_object(world["jira"]), clock=clock.now, http=front, email=EMAIL, token=SIMULATED),
        NotionSimulator(as_object(world["notion"]), clock=clock.now, http=front, token=SIMULATED),
        GitHubSimulator(as_object(world["github"]), clock=clock.now, http=front, token=SIMULATED),
        [],
    )
    for name in PATHS:
        system = getattr(vendors, name)
        stack.push_async_callback(system.close)
        system.subscribe(f"http://gofer{PATHS[name]}")
        client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=system.app))
        vendors.clients[name] = await stack.enter_async_context(client)
    return vendors


def _settings(vendors: SimulatedVendors) -> Settings:
    return read_settings(
        {
            "SLACK_API_URL": "http://slack/api/",
            "SLACK_BOT_TOKEN": SIMULATED,
            "JIRA_BASE_URL": "http://jira",
            "JIRA_EMAIL": EMAIL,
            "JIRA_API_TOKEN": SIMULATED,
            "JIRA_ACCOUNT_ID": vendors.jira.site.account,
            "NOTION_BASE_URL": "http://notion",
            "NOTION_TOKEN": SIMULATED,
            "GITHUB_API_URL": "http://github",
            "GITHUB_TOKEN": SIMULATED,
        }
    )
