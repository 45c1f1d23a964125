"""The simulated Slack for tests of tools: one workspace, one call, no sockets."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx2

from gofer.sources.slack.api import SlackApi
from gofer.tools.definition import Call
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback
from support.tools.calls import any_call

NOW = 1_763_709_120.0
ROOT = "1763700000.000100"
API = SlackApi("http://slack/api/", Secret("xoxb-simulated"))
WORLD: dict[str, object] = {
    "slack": {
        "team": {"id": "T1", "domain": "acme", "name": "Acme"},
        "app": {"id": "A1"},
        "bot": {"user": "UBOT0000", "bot_id": "BBOT", "name": "Gofer"},
        "users": [
            {"id": "U0000001", "name": "Ada", "real_name": "Ada Byron", "title": "Engineer", "tz": "Europe/Berlin"},
            {"id": "U0000002", "name": "Sam", "real_name": "Sam Field", "restricted": True},
            {"id": "U0000003", "name": "Sam", "real_name": "Sam Hill", "deactivated": True},
            {"id": "U0000004", "name": "Build Bot", "bot": True},
        ],
        "channels": [
            {"id": "C0000001", "name": "deploys", "members": ["UBOT0000", "U0000001"]},
            {"id": "C0000002", "name": "random", "members": ["U0000001"]},
            {"id": "C0000003", "name": "old", "members": ["UBOT0000"], "archived": True},
        ],
        "messages": [{"channel": "deploys", "user": "U0000001", "text": "hi", "ts": ROOT}],
    }
}


class SimulatedHttp:
    """HTTP that reaches only the simulated Slack."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def send(self, request: HttpRequest) -> HttpResponse:
        answer = await self._http.request(
            request.method, request.url, headers=dict(request.headers), content=request.content
        )
        return HttpResponse(answer.status_code, dict(answer.headers), answer.content)


Story = Callable[[SlackSimulator, Call], Awaitable[None]]


def play(story: Story) -> None:
    async def run() -> None:
        async with loopback.client() as outside:
            simulator = SlackSimulator(WORLD, clock=lambda: NOW, http=outside)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=simulator.app)) as http:
                place = {"team": "T1", "channel": "C0000001", "ts": ROOT, "thread_ts": ROOT}
                call = any_call(SimulatedHttp(http), key="run1/file/1", place=place)
                await story(simulator, call)

    asyncio.run(run())
