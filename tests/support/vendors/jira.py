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
        {"account_id": BEN, "name": "Ben Okri", "email": "ben@acme.example"},
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


CUSTOM = "com.atlassian.jira.plugin.system.customfieldtypes:"
OWN_FIELDS: list[dict[str, Any]] = [
    {
        "id": "components",
        "name": "Components",
        "type": {"type": "array", "items": "component"},
        "options": ["Web", "Ledger"],
    },
    {"id": "duedate", "name": "Due date", "type": {"type": "date", "system": "duedate"}},
    {"id": "environment", "name": "Environment", "type": {"type": "string", "system": "environment"}},
    {"id": "parent", "name": "Parent", "type": {"type": "issuelink", "system": "parent"}},
    {"id": "timetracking", "name": "Time tracking", "type": {"type": "timetracking", "system": "timetracking"}},
    {
        "id": "attachment",
        "name": "Attachment",
        "type": {"type": "array", "items": "attachment", "system": "attachment"},
    },
    {"id": "customfield_1", "name": "Requestor", "type": {"type": "user", "custom": f"{CUSTOM}userpicker"}},
    {
        "id": "customfield_2",
        "name": "Severity",
        "type": {"type": "option", "custom": f"{CUSTOM}select"},
        "options": ["Low", "High"],
    },
    {
        "id": "customfield_3",
        "name": "Device",
        "type": {"type": "option-with-child", "custom": f"{CUSTOM}cascadingselect"},
        "options": ["Phone", "Computer > Laptop | Desktop"],
    },
    {"id": "customfield_4", "name": "Steps", "type": {"type": "string", "custom": f"{CUSTOM}textarea"}},
    {"id": "customfield_5", "name": "Cost", "type": {"type": "number", "custom": f"{CUSTOM}float"}},
    {"id": "customfield_6", "name": "Begin", "type": {"type": "datetime", "custom": f"{CUSTOM}datetime"}},
    {
        "id": "customfield_7",
        "name": "Watchers",
        "type": {"type": "array", "items": "user", "custom": f"{CUSTOM}multiuserpicker"},
    },
    {"id": "customfield_8", "name": "Group", "type": {"type": "group", "custom": f"{CUSTOM}grouppicker"}},
    {"id": "customfield_9", "name": "Tags", "type": {"type": "array", "items": "string", "custom": f"{CUSTOM}labels"}},
    {"id": "customfield_10", "name": "Page", "type": {"type": "string", "custom": f"{CUSTOM}url"}},
    {
        "id": "customfield_11",
        "name": "Sprint",
        "type": {"type": "array", "items": "json", "custom": "com.pyxis.greenhopper.jira:gh-sprint"},
    },
    {"id": "customfield_12", "name": "Team", "type": {"type": "team", "custom": f"{CUSTOM}atlassian-team"}},
    {
        "id": "customfield_13",
        "name": "Epic Link",
        "type": {"type": "any", "custom": "com.pyxis.greenhopper.jira:gh-epic-link"},
    },
    {"id": "customfield_14", "name": "Server", "type": {"type": "array", "items": "cmdb-object-field"}},
    {"id": "customfield_15", "name": "Reference", "type": {"type": "string", "custom": f"{CUSTOM}textfield"}},
    {"id": "customfield_16", "name": "Reference", "type": {"type": "string", "custom": f"{CUSTOM}textfield"}},
    {"id": "customfield_17", "name": "Dashboard", "type": {"type": "wall", "custom": "com.example:wall"}},
]
"""A field of each kind, as companies add them to their forms."""


def own_fields(*required: str) -> list[dict[str, Any]]:
    """Return the fields of a form, some of them required."""
    return [field | {"required": field["name"] in required} for field in OWN_FIELDS]


FORMS: dict[str, Any] = WORLD | {
    "projects": [
        *WORLD["projects"],
        {
            "key": "PAY",
            "name": "Payments",
            "issue_types": [
                {"name": "Bug", "fields": own_fields("Components", "Requestor")},
                {"name": "Task", "fields": own_fields()},
                {"name": "Alert", "without": ["description", "priority"], "fields": own_fields("Severity")},
            ],
            "screens": {
                "Done": [
                    {"id": "resolution", "name": "Resolution", "type": {"type": "resolution"}, "required": True},
                    {
                        "id": "fixVersions",
                        "name": "Fix versions",
                        "type": {"type": "array", "items": "version"},
                        "options": ["4.2", "4.3"],
                    },
                ]
            },
        },
    ],
    "issues": [*WORLD["issues"], {"key": "PAY-1", "summary": "Refunds are late", "reporter": ADA}],
}
"""A site with a project whose forms ask for more than a summary."""


def play(story: Callable[[Room], Awaitable[None]], world: dict[str, Any] = WORLD) -> None:
    async def run() -> None:
        receiver, clock = Receiver(), SetClock()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=receiver.app)) as outside:
            jira = JiraSimulator(world, clock=clock.now, http=outside, email=EMAIL, pace=Pace(gap_factor=0))
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
