"""The simulated Notion for tests: one workspace, one call, no sockets."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from gofer.sources.notion.api import NotionApi
from gofer.tools.definition import Call
from gofer.values.secret import Secret
from gofer_simulators.notion.delivery import Pace
from gofer_simulators.notion.simulator import NotionSimulator
from support.http import loopback
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON
from support.tools.calls import any_call
from support.vendors.slack import SimulatedHttp


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


SPACE, BOT, ADA, SAM, SAM_TOO, GUEST = uuid(1), uuid(2), uuid(3), uuid(4), uuid(5), uuid(6)
RFCS, SOURCE, SECRET_DB = uuid(10), uuid(11), uuid(12)
CACHE, LIMITS, HANDBOOK, HIDDEN = uuid(20), uuid(21), uuid(22), uuid(23)
INTRO, RISK = uuid(30), uuid(31)
WORLD: dict[str, Any] = {
    "workspace": {"id": SPACE, "name": "Acme"},
    "connection": {"id": BOT, "name": "Gofer"},
    "users": [
        {"id": ADA, "name": "Ada Byron", "email": "ada@acme.example"},
        {"id": SAM, "name": "Sam", "email": "sam@acme.example"},
        {"id": SAM_TOO, "name": "Sam"},
        {"id": GUEST, "name": "Gwen", "guest": True},
    ],
    "databases": [
        {
            "id": RFCS,
            "data_source": SOURCE,
            "name": "RFCs",
            "properties": {
                "Name": "title",
                "Status": {"type": "status", "id": "St%3D1", "options": ["Draft", "Ready for review", "Done"]},
                "Area": {"type": "select", "options": ["Core", "Web"]},
                "Tags": {"type": "multi_select", "options": ["api", "ui"]},
                "Reviewers": "people",
                "Notes": "rich_text",
                "Effort": "number",
                "Urgent": "checkbox",
                "Due": "date",
                "Link": "url",
            },
            "pages": [
                {
                    "id": CACHE,
                    "title": "Cache",
                    "created_by": "Ada Byron",
                    "properties": {"Status": "Draft", "Area": "Core", "Reviewers": ["Ada Byron"], "Effort": 3},
                    "blocks": [
                        {"id": INTRO, "markdown": "We cache **everything**."},
                        {"id": RISK, "markdown": "## Risks"},
                        {"markdown": "- stale data"},
                    ],
                    "comments": [
                        {"user": ADA, "text": "Who owns this?", "replies": [{"user": SAM, "text": "I do."}]},
                        {"user": SAM, "text": "For how long?", "block": INTRO},
                        {"user": SAM, "text": "Settled", "resolved": True},
                    ],
                },
                {"id": LIMITS, "title": "Limits", "properties": {"Status": "Done", "Tags": ["api"]}},
            ],
        },
        {"id": SECRET_DB, "name": "Salaries", "shared": False, "properties": {"Name": "title"}, "pages": []},
    ],
    "pages": [
        {"id": HANDBOOK, "title": "Handbook", "markdown": "# Hello\nWelcome."},
        {"id": HIDDEN, "title": "Hidden", "shared": False},
    ],
}
API = NotionApi("http://notion", Secret("ntn_simulated"))


Story = Callable[[NotionSimulator, Call], Awaitable[None]]


def play(story: Story, world: Mapping[str, object] = WORLD) -> None:
    """Play a story with a simulator and a call of a run at the page CACHE."""

    async def run() -> None:
        async with loopback.client() as outside:
            simulator = NotionSimulator(world, clock=lambda: NOON, http=outside)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=simulator.app)) as http:
                place = {"workspace": SPACE, "page": CACHE}
                call = any_call(SimulatedHttp(http), key="run1/c/1", actor=ADA, place=place)
                await story(simulator, call)

    in_virtual_time(VirtualLoop(), run())


def with_receiver(
    receive: Callable[[bytes, Mapping[str, str]], int], story: Callable[[NotionSimulator], Awaitable[None]], pace: Pace
) -> None:
    """Play a story with a simulator whose webhooks a function answers."""

    async def take(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(receive(await request.aread(), request.headers))

    async def run() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(take)) as http:
            simulator = NotionSimulator(WORLD, clock=lambda: NOON, http=http, pace=pace)
            await story(simulator)
            await simulator.settled()
            await simulator.close()

    in_virtual_time(VirtualLoop(), run())
