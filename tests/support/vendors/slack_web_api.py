"""The simulated Slack Web API in tests: a workspace, a caller, and readers of answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import httpx2

from gofer_simulators.json_values import is_object, object_of, objects, text_of
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback

NOW = 1_763_709_120.0

TOKEN = {"Authorization": "Bearer xoxb-simulated"}

WORLD: dict[str, object] = {
    "slack": {
        "team": {"id": "T1", "domain": "acme", "name": "Acme"},
        "app": {"id": "A1"},
        "bot": {"user": "UBOT", "bot_id": "BBOT", "name": "Gofer"},
        "users": [
            {"id": "U1", "name": "Release Captain"},
            {"id": "U2", "name": "On-call", "restricted": True},
            {"id": "U3", "name": "Build Bot", "bot": True},
        ],
        "channels": [
            {"id": "C1", "name": "deploys", "members": ["UBOT", "U1", "U2"]},
            {"id": "C2", "name": "random", "members": ["U1"]},
            {"id": "C3", "name": "leads", "private": True, "members": ["UBOT", "U1"]},
            {"id": "C4", "name": "board", "private": True, "members": ["U1"]},
            {"id": "C5", "name": "old", "members": ["UBOT"], "archived": True},
        ],
        "messages": [
            {
                "channel": "deploys",
                "user": "U1",
                "text": "First & foremost",
                "ts": "1763700000.000100",
                "reactions": {"eyes": ["U1", "U2"]},
                "replies": [
                    {"user": "U2", "text": f"reply {number}", "ts": f"17637000{number}0.000100"}
                    for number in range(1, 6)
                ],
            },
            {"channel": "#deploys", "user": "U2", "text": "second", "minutes_ago": 42},
            {"channel": "deploys", "user": "U3", "text": "third", "minutes_ago": 42},
        ],
    }
}

ROOT = "1763700000.000100"


class Slack:
    """A caller of the Web API and the simulator behind it."""

    def __init__(self, http: httpx2.AsyncClient, simulator: SlackSimulator) -> None:
        self.http = http
        self.simulator = simulator

    async def call(self, method: str, **arguments: object) -> dict[str, object]:
        answer = await self.http.post(f"/api/{method}", json=arguments, headers=TOKEN)
        assert answer.status_code == 200
        body: object = answer.json()
        assert is_object(body)
        return body

    async def error(self, method: str, **arguments: object) -> str:
        body = await self.call(method, **arguments)
        assert body["ok"] is False
        return text_of(body, "error")


def play(
    story: Callable[[Slack], Awaitable[None]],
    world: Mapping[str, object] = WORLD,
    clock: Callable[[], float] = lambda: NOW,
) -> None:
    async def run() -> None:
        async with loopback.client() as outside:
            simulator = SlackSimulator(world, clock=clock, http=outside, limited=True)
            transport = httpx2.ASGITransport(app=simulator.app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://slack") as http:
                await story(Slack(http, simulator))

    asyncio.run(run())


def texts(body: Mapping[str, object]) -> list[str]:
    return [text_of(message, "text") for message in objects(body["messages"])]


def cursor(body: Mapping[str, object]) -> str:
    return text_of(object_of(body, "response_metadata"), "next_cursor")
