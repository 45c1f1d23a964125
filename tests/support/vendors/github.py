"""The simulated GitHub for tests of tools: two repositories, one call, no sockets."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import httpx2

from gofer.tools.definition import Call
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer_simulators.github.simulator import GitHubSimulator
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON, SetClock
from support.tools.calls import any_call

TOKEN = "github_pat_simulated"
SECRET = "simulated-webhook-secret"
API = "https://api.github.com"
WORLD: dict[str, object] = {
    "user": "gofer[bot]",
    "users": [
        {"login": "ada", "name": "Ada"},
        {"login": "sam"},
        {"login": "kim"},
        {"login": "renovate[bot]", "bot": True},
    ],
    "repositories": [
        {
            "full_name": "acme/app",
            "collaborators": ["ada", "sam", "gofer[bot]"],
            "teams": ["core"],
            "files": {"README.md": "# App\n", "src/pay.py": "def pay():\n    return 1\n"},
            "submodules": ["vendor"],
            "commits": [
                {
                    "author": "sam",
                    "message": "Pay twice\n\nLonger.",
                    "files": {"src/pay.py": "def pay():\n    return 2\n"},
                },
                {"author": "ada", "message": "Say more", "files": {"README.md": "# App\n\nPays.\n"}, "hours_ago": 5},
            ],
            "pulls": [
                {
                    "number": 7,
                    "title": "Pay three times",
                    "author": "ada",
                    "body": "As asked in\nState: merged",
                    "labels": ["money"],
                    "draft": True,
                    "changes": {"src/pay.py": "def pay():\n    return 3\n", "src/new.py": "x = 1\n"},
                    "reviewers": ["sam"],
                    "reviews": [{"user": "kim", "state": "CHANGES_REQUESTED", "body": "No."}],
                }
            ],
            "issues": [{"title": "It pays wrong", "author": "kim", "comments": [{"user": "sam", "body": "Indeed."}]}],
        },
        {"full_name": "acme/hidden", "hidden": True, "files": {"a": "b"}},
    ],
}
PLACE: Mapping[str, str] = {"repository": "acme/app", "number": "7"}


class SimulatedHttp:
    """HTTP that reaches only the simulated GitHub, with a short timeout."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self.sent: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.sent.append(request)
        try:
            async with asyncio.timeout(0.5):
                answer = await self._http.request(
                    request.method, request.url, headers=dict(request.headers), content=request.content
                )
        except TimeoutError as error:
            raise TemporaryError("no answer") from error
        return HttpResponse(answer.status_code, dict(answer.headers), answer.content)


Story = Callable[[GitHubSimulator, Call], Awaitable[None]]


def unreachable(request: httpx2.Request) -> httpx2.Response:
    """Fail as a webhook address on which no server listens."""
    raise httpx2.ConnectError("no server listens there", request=request)


def play(story: Story, place: Mapping[str, str] = PLACE) -> None:
    """Play a story about one call of a run at `place`."""

    async def run() -> None:
        clock = SetClock()
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(unreachable)) as outside:
            simulator = GitHubSimulator(WORLD, clock=clock.now, http=outside)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=simulator.app)) as http:
                call = any_call(SimulatedHttp(http), key="run1/act/1", place=place, clock=clock, since=NOON - 60)
                await story(simulator, call)

    in_virtual_time(VirtualLoop(), run())
