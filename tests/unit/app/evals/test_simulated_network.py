import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.app.evals.simulated_network import SimulatedNetwork, address
from gofer.values.errors import ToolError
from gofer.values.outside import HttpRequest, TooLarge

pytestmark = pytest.mark.anyio


async def echo(request: Request) -> Response:
    found = [request.method, str(request.url), request.headers["x-one"], (await request.body()).decode()]
    return Response("\n".join(found), status_code=201, headers={"X-Two": "b"})


NETWORK = SimulatedNetwork({"slack": Starlette(routes=[Route("/api/{rest:path}", echo, methods=["POST"])])})


async def test_request_reaches_its_system_unchanged() -> None:
    url = f"{address('slack')}/api/ab?c=d%26e"
    answer = await NETWORK.send(HttpRequest("POST", url, {"X-One": "a"}, b"body"))
    assert (answer.status, answer.headers["x-two"]) == (201, "b")
    assert answer.body.decode().split("\n") == ["POST", url, "a", "body"]


async def test_answer_above_the_limit_of_its_request_is_refused() -> None:
    with pytest.raises(TooLarge):
        await NETWORK.send(HttpRequest("POST", f"{address('slack')}/api/x", {"X-One": "a"}, b"x" * 100, limit=50))


@pytest.mark.parametrize(
    "url", ["https://example.com/", "http://jira.simulated/x", "http://127.0.0.1/", "http://slack/"]
)
async def test_every_other_address_is_refused(url: str) -> None:
    with pytest.raises(ToolError, match="eval"):
        await NETWORK.send(HttpRequest("GET", url))
