"""The requests of the runs that each source starts, with the shipped workflows in the demo's world."""

import asyncio
import itertools
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from frozen.lines import line
from frozen.recording import described
from frozen.stage import ThreadlessLoop
from gofer.app.event_input import way
from gofer.app.settings import Settings, read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.journal.coordination import UNFINISHED
from gofer.journal.seal import KEY_BYTES
from gofer.models.language_model import Answer
from gofer.models.price_library import look_up
from gofer.models.scripted import ScriptedModel
from gofer.models.served_model import Prices
from gofer.runtime.receive import Ingress
from gofer.runtime.worker import Worker
from gofer.sources.receiver import RawRequest
from gofer.sources.receivers import PATHS
from gofer.sources.workflow_files import load_catalog
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.canonical_json import as_object
from gofer.values.outside import HttpRequest, HttpResponse, Outside
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.github import GitHubSimulator
from gofer_simulators.jira import JiraSimulator
from gofer_simulators.notion import NotionSimulator
from gofer_simulators.slack import SlackSimulator
from support.app.shipped_workflows import CAPTAIN, CHECKOUT, DEPLOYS, GENERAL, HIRE, INCIDENTS, MONDAY, RFC
from support.runtime.worker_parts import FixedCatalog
from support.simulation.virtual_time import VirtualClock, play
from support.stand_ins import KEY

ROOT = Path(__file__).parents[2]
EMAIL = "gofer@example.com"
SIMULATED = "simulated"
"""The token of every simulated vendor."""
QUIET = 300.0
"""Virtual seconds after which all events have been delivered."""


class KeepingModel:
    """The scripted model of the demo, which records its requests among those to vendors."""

    def __init__(self, sent: list[str]) -> None:
        self._sent = sent
        self._scripted = ScriptedModel(demo_scripts())

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Answer a request."""
        self._sent.append(body.decode())
        return await self._scripted.ask(body, timeout)


@dataclass
class SimulatedVendors:
    """The vendors of the demo's world, each behind a host of its own name; an `Http` that keeps the requests."""

    slack: SlackSimulator
    jira: JiraSimulator
    notion: NotionSimulator
    github: GitHubSimulator
    sent: list[str] = field(default_factory=list)
    """Deliveries, requests to vendors and questions to models, a line each, in order."""
    clients: dict[str, httpx2.AsyncClient] = field(default_factory=dict)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request to the vendor that its host names, and keep it."""
        self.sent.append(line(described(request)))
        client = self.clients[urlsplit(request.url).netloc]
        answer = await client.request(
            request.method, request.url, headers=dict(request.headers), content=request.content
        )
        return HttpResponse(answer.status_code, dict(answer.headers), answer.content)


@dataclass
class Company:
    """Gofer with the shipped workflows in the demo's world, in virtual time."""

    catalog: Catalog
    vendors: SimulatedVendors
    ingress: Ingress
    worker: Worker

    async def deliver(self, source: str, body: bytes, headers: Sequence[tuple[str, str]] = (), hook: str = "") -> int:
        """Receive a delivery and return the status of the response."""
        self.vendors.sent.append(line({"delivered": source, "body": body.decode()}))
        come_in = way(self.catalog, source, headers, hook)
        request = RawRequest("POST", come_in.path, headers, body)
        return (await self.ingress.receive_verified(come_in.receiver, request)).status

    async def ended(self) -> None:
        """Wait until all events were delivered and every run ended."""
        await asyncio.sleep(QUIET)
        while any(head.status in UNFINISHED for head in await self.worker.services.store.heads(100, private=True)):
            await asyncio.sleep(10)


async def _mention(made: Company) -> None:
    slack = made.vendors.slack
    link = slack.workspace.permalink(slack.workspace.timeline(INCIDENTS)[0])
    deploy = slack.workspace.timeline(DEPLOYS)[0]
    text = slack.typed(f"@Gofer does what was decided in {link} block this deploy?")
    await slack.say(CAPTAIN, DEPLOYS, text, thread_ts=deploy.ts)


async def _reaction(made: Company) -> None:
    slack = made.vendors.slack
    about = [message for message in slack.workspace.timeline(GENERAL) if "refund" in message.text][-1]
    await slack.react(CHECKOUT, about.channel, about.ts, "jira")


async def _comment(made: Company) -> None:
    jira = made.vendors.jira
    jira.people.comment("712020:support", jira.site.issue("PAY-17"), "@gofer may this go out today?")


async def _status(made: Company) -> None:
    made.vendors.notion.people.set_status(RFC, "Ready for review", by="Checkout Owner")


async def _pull_request(made: Company) -> None:
    changes = {"src/checkout/address.py": "def address(form):\n    return dict(form or {}, checked=True)\n"}
    people = made.vendors.github.people
    people.open_pull("acme/shop", "new-colleague", "Say that an address was checked", changes, head="check")


async def _call(made: Company) -> None:
    await made.deliver("webhook", json.dumps(HIRE).encode(), hook="new-hire")


async def _time(made: Company) -> None:
    body = {"workflow": "weekly-digest", "scheduled": MONDAY.isoformat()}
    await made.deliver("schedule", json.dumps(body).encode())


ACTS: Mapping[str, Callable[[Company], Awaitable[None]]] = {
    "slack-mention": _mention,
    "slack-reaction": _reaction,
    "jira-comment": _comment,
    "notion-status": _status,
    "github-pull-request": _pull_request,
    "webhook": _call,
    "schedule": _time,
}
"""The events outside, by their name in the corpus."""


def requests() -> Iterator[tuple[str, str]]:
    """Yield the deliveries of each source, and the requests of their runs to vendors and models."""
    for name, act in ACTS.items():
        loop = ThreadlessLoop()
        yield f"requests/from-{name}.jsonl", play(loop, _played(VirtualClock(loop), act))


async def _played(clock: VirtualClock, act: Callable[[Company], Awaitable[None]]) -> str:
    async with AsyncExitStack() as stack:
        made = await _company(clock, stack)
        serving = asyncio.create_task(made.worker.serve())
        await act(made)
        await made.ended()
        serving.cancel()
        return "".join(f"{sent}\n" for sent in made.vendors.sent)


async def _company(clock: VirtualClock, stack: AsyncExitStack) -> Company:
    catalog = load_catalog(ROOT / "agents", look_up=look_up)
    made: list[Company] = []

    async def receive(request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        source = next(source for source, known in PATHS.items() if known == path)
        headers = [(name, value) for name, value in request.headers.items()]
        return httpx2.Response(await made[0].deliver(source, await request.aread(), headers))

    front = await stack.enter_async_context(httpx2.AsyncClient(transport=httpx2.MockTransport(receive)))
    vendors = await _vendors(clock, front, stack)
    ids = itertools.count(1)
    chance = random.Random(7)
    outside = Outside(vendors, clock, lambda: f"id{next(ids):06}", chance, lambda: chance.randbytes(KEY_BYTES))
    store = MemoryStore()
    blobs = MemoryBlobs()
    queue = MemoryQueue(clock)
    ingress = Ingress({}, read_routes(catalog.routes()), Stores(store, blobs, queue), KEY, outside)
    services = Services(
        Stores(store, blobs, queue),
        KeepingModel(vendors.sent),
        build_tools(_settings(vendors)),
        Prices({}),
        Links("http://gofer", catalog.defaults.prompt_links),
        outside,
        Patience(permit=20, inflight=1, skew=0),
        catalog.scripts,
        installation_key=KEY,
    )
    made.append(Company(catalog, vendors, ingress, Worker(services, FixedCatalog(catalog))))
    return made[0]


async def _vendors(clock: VirtualClock, front: httpx2.AsyncClient, stack: AsyncExitStack) -> SimulatedVendors:
    world = demo_world()
    vendors = SimulatedVendors(
        SlackSimulator(world, clock=clock.now, http=front, token=SIMULATED),
        JiraSimulator(as_object(world["jira"]), clock=clock.now, http=front, email=EMAIL, token=SIMULATED),
        NotionSimulator(as_object(world["notion"]), clock=clock.now, http=front, token=SIMULATED),
        GitHubSimulator(as_object(world["github"]), clock=clock.now, http=front, token=SIMULATED),
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
