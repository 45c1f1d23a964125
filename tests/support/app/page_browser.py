"""A browser before Gofer's pages on AWS, with the simulated Slack behind them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx2
from starlette.applications import Starlette

from gofer.app.pages.run_pages import Pages
from gofer.app.pages.sign_in import sign_in
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.journal.store import Store
from gofer.sources.slack.openid import SlackOpenId
from gofer.sources.slack.page_requests import SlackWeb
from gofer.sources.slack.people import SlackPeople
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import TemporaryError
from gofer.values.events import Actor, Event
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback
from support.stand_ins import SetClock, make_outside, memory_stores, mention
from support.vendors.slack import WORLD, SimulatedHttp

KEY = Secret("ab" * 32)
PAGES = "https://gofer.acme.test"
ADA, GUEST, GONE, ROBOT, ELSEWHERE = "U0000001", "U0000002", "U0000003", "U0000004", "U0000005"
NO_WORKFLOWS = Catalog({}, Defaults())
OTHER, BOARD = "U0000006", "C0000009"


class OddSlack(SimulatedHttp):
    """The simulated Slack with odd answers for some methods."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        super().__init__(http)
        self.said: dict[str, bytes] = {}
        self.patience: list[float] = []
        self.asked: list[str] = []
        self.away = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        method = request.url.rpartition("/")[2]
        self.asked.append(method)
        self.patience.append(request.timeout)
        if self.away:
            raise TemporaryError("there is no such host")
        said = self.said.get(method)
        return await super().send(request) if said is None else HttpResponse(200, {}, said)


GENERAL = "C0000001"
"""The public channel of run1."""
PULL = Event(
    source="github",
    kind="github.pull_request",
    identity=("pull_request", "opened", "1"),
    conversation="github:acme/app:1",
    actor=Actor("ada"),
    text="",
    place={"repository": "acme/app", "number": "1"},
    private=False,
)


@dataclass
class Browser:
    """A browser that keeps cookies, and lets one see each redirect."""

    gofer: httpx2.AsyncClient
    slack_web: httpx2.AsyncClient
    slack: SlackSimulator
    clock: SetClock
    http: OddSlack
    store: Store
    counted: list[str]
    """Codes of refusals that the operator must mend."""

    async def get(self, path: str) -> httpx2.Response:
        return await self.gofer.get(path)

    async def sign_out(self, **changed: str) -> httpx2.Response:
        """Press the button that each page ends with."""
        page = (await self.get("/runs")).text
        token = page.partition('name="token" value="')[2].partition('"')[0]
        return await self.gofer.post("/sign-out", data={"token": token} | changed, headers={"origin": PAGES})

    def become(self, user: str, **changed: object) -> None:
        """Change what Slack says of a person from now on."""
        people = self.slack.workspace.users
        people[user] = replace(people[user], **changed)  # pyright: ignore[reportArgumentType]

    async def begin(self, to: str = "/runs") -> str:
        """Begin a sign-in; return the address at Slack."""
        answer = await self.get(f"/sign-in?to={to}")
        assert answer.status_code == 303
        return answer.headers["location"]

    async def agree(self, url: str, user: str = ADA) -> str:
        """Consent on Slack's page; return the address that Slack redirects to."""
        answer = await self.slack_web.get(f"{url}&as={user}")
        assert answer.status_code == 302, answer.text
        return answer.headers["location"].removeprefix(PAGES)

    async def sign_in(self, user: str = ADA, to: str = "/runs") -> httpx2.Response:
        return await self.get(await self.agree(await self.begin(to), user))


@asynccontextmanager
async def browser(catalog: Catalog = NO_WORKFLOWS) -> AsyncIterator[Browser]:
    clock = SetClock()
    store, blobs = memory_stores()
    pen = Pen("i", make_outside())
    public = replace(mention(channel=GENERAL), private=False)
    await claim("run1", RunAccepted(public, "answer-here"), pen, store, blobs)
    await store.create_head(Head("run1", "answer-here", "c", 1, private=False))
    for run, channel in (("same1", GENERAL), ("other1", "C0000002")):
        event = replace(mention(channel=channel), private=False)
        await claim(run, RunAccepted(event, "answer-here"), pen, store, blobs)
        await store.create_head(Head(run, "answer-here", f"c:{run}", 1, private=False))
    await claim("run2", RunAccepted(replace(mention(channel=BOARD), private=True), "w"), pen, store, blobs)
    direct = replace(mention(channel="D0000001"), kind="slack.direct", actor=Actor(ADA), private=True)
    await claim("direct1", RunAccepted(direct, "w"), pen, store, blobs)
    for run, visibility in (("hub1", {"visibility": "public"}), ("hub2", {})):
        event = replace(PULL, place={**PULL.place, **visibility})
        await claim(run, RunAccepted(event, "reviews"), pen, store, blobs)
    slack_world = WORLD["slack"]
    people, channels = [*slack_world["users"], STRANGER, BOB], [*slack_world["channels"], PRIVATE]
    world = {**WORLD, "slack": {**slack_world, "users": people, "channels": channels}}
    async with loopback.client() as outside:
        slack = SlackSimulator(world, clock=clock.now, http=outside)
        slack.openid.redirect_urls.add(f"{PAGES}/sign-in/callback")
        to_slack = httpx2.ASGITransport(app=slack.app)
        async with httpx2.AsyncClient(transport=to_slack, base_url="https://slack.test") as slack_web:
            odd = OddSlack(slack_web)
            people = SlackPeople(SlackWeb("https://slack.test/api/", Secret("xoxb-simulated"), odd))
            openid = SlackOpenId(people, slack.openid.client_id, Secret(slack.openid.client_secret), PAGES)
            counted: list[str] = []
            receiver = sign_in(openid, make_outside(clock), store, KEY, lambda refused: counted.append(refused.code))
            pages = Pages(Stores(store, blobs, MemoryQueue(clock)), catalog, clock, receiver.readers)
            app = Starlette(routes=[*receiver.routes(), *receiver.guard(pages.routes())])
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=PAGES) as gofer:
                yield Browser(gofer, slack_web, slack, clock, odd, store, counted)


STRANGER = {"id": ELSEWHERE, "name": "Else", "external": True}
BOB: dict[str, object] = {"id": OTHER, "name": "Bob"}
PRIVATE: dict[str, object] = {"id": BOARD, "name": "board", "private": True, "members": ["UBOT0000", ADA]}
