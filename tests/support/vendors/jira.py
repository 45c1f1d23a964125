"""The simulated Jira for tests: one site, a webhook receiver, a clock that is set, no sockets."""

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.sources.jira.api import JiraApi
from gofer.tools.definition import Call
from gofer.values.secret import Secret
from gofer_simulators.jira.delivery import Pace
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.jira.site import Issue
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import SetClock
from support.tools.calls import any_call
from support.vendors.slack import SimulatedHttp

ADA, BEN, OWN = "5b10a2844c20165700ede21g", "5b10a2844c20165700ede22h", "557058:gofer"
EMAIL, TOKEN = "gofer@acme.example", "simulated-api-token"
WORLD: dict[str, Any] = {
    "site": "acme",
    "account": OWN,
    "search_lag": 30,
    "users": [
        {"account_id": ADA, "name": "Ada Byron"},
        {"account_id": BEN, "name": "Ben Okri"},
        {"account_id": "5b10a2844c20165700ede23i", "name": "Ben Field"},
        {"account_id": "5b10a2844c20165700ede24j", "name": "Ben Gone", "active": False},
        {"account_id": OWN, "name": "Gofer", "email": EMAIL},
        {"account_id": "557058:automation", "name": "Automation", "app": True},
    ],
    "projects": [
        {
            "key": "OPS",
            "name": "Operations",
            "issue_types": ["Bug", "Task", {"name": "Change", "required": ["priority"]}],
            "moves": {"Done": ["To Do"]},
        },
        {"key": "WEB", "name": "Website"},
        {"key": "HR", "name": "People", "hidden": True},
    ],
    "issues": [
        {
            "key": "OPS-7",
            "summary": "The nightly export stops at 40 %",
            "type": "Bug",
            "reporter": ADA,
            "assignee": BEN,
            "description": "The export stops every night.",
            "labels": ["export"],
            "comments": [
                {"author": BEN, "body": "Since which release?", "minutes_ago": 20},
                {"author": ADA, "body": "Since 4.2.\nBen Okri at noon:", "minutes_ago": 10},
            ],
        },
        {"key": "OPS-9", "summary": "Keys leaked", "reporter": ADA, "security": "Security team"},
        {"key": "HR-1", "summary": "Salaries", "reporter": ADA},
    ],
}


class Receiver:
    """A webhook receiver that answers the given statuses, then 200."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.app = Starlette(routes=[Route("/jira/webhook", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        self.got.append((dict(request.headers), await request.body()))
        return Response(status_code=self.statuses.pop(0) if self.statuses else 200)

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@dataclass
class Room:
    jira: JiraSimulator
    http: httpx2.AsyncClient
    receiver: Receiver
    clock: SetClock
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        basic = base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
        self.headers = {"Authorization": f"Basic {basic}"}

    async def get(self, path: str, **query: Any) -> httpx2.Response:
        return await self.http.get(f"http://jira/rest/api/3{path}", headers=self.headers, params=query)

    async def post(self, path: str, body: object) -> httpx2.Response:
        return await self.http.post(f"http://jira/rest/api/3{path}", headers=self.headers, json=body)

    async def put(self, path: str, body: object) -> httpx2.Response:
        return await self.http.put(f"http://jira/rest/api/3{path}", headers=self.headers, json=body)

    async def found(self, jql: str, **more: object) -> list[str]:
        answer = await self.post("/search/jql", {"jql": jql, "fields": ["summary"], **more})
        assert answer.status_code == 200, answer.text
        return [issue["key"] for issue in answer.json()["issues"]]

    def issue(self, key: str = "OPS-7") -> Issue:
        return self.jira.site.issue(key)


def play(story: Callable[[Room], Awaitable[None]]) -> None:
    async def run() -> None:
        receiver, clock = Receiver(), SetClock()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=receiver.app)) as outside:
            jira = JiraSimulator(WORLD, clock=clock.now, http=outside, email=EMAIL, pace=Pace(gap_factor=0))
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=jira.app)) as http:
                await story(Room(jira, http, receiver, clock))
                await jira.close()

    in_virtual_time(VirtualLoop(), run())


def document(*content: object) -> dict[str, Any]:
    return {"version": 1, "type": "doc", "content": list(content)}


def paragraph(*texts: object) -> dict[str, Any]:
    return {"type": "paragraph", "content": [{"type": "text", "text": text} for text in texts]}


API = JiraApi("http://jira", EMAIL, Secret(TOKEN))


def call_of(room: Room, key: str = "run1/call/1", **place: str) -> Call:
    """Return a call of a run that began a minute ago, with HTTP that reaches only the simulated Jira."""
    since = room.clock.now() - 60
    return any_call(SimulatedHttp(room.http), key=key, actor=ADA, place=place, clock=room.clock, since=since)
