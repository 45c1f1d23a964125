import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.http import SharedHttp, http_client
from gofer.values.errors import TemporaryError
from gofer.values.outside import BadUrl, HttpRequest
from gofer.values.proxies import DIRECT

pytestmark = pytest.mark.anyio


async def echo(request: Request) -> Response:
    return Response(await request.body(), 418, {"X-Said": request.headers["x-say"]})


async def sleep(request: Request) -> Response:
    await asyncio.sleep(5)
    return Response()


async def flood(request: Request) -> Response:
    return Response(b"x" * 200_000)


async def away(request: Request) -> Response:
    return RedirectResponse("http://127.0.0.1:1/elsewhere")


ROUTES = [Route(f"/{act.__name__}", act, methods=["POST", "GET"]) for act in (echo, sleep, flood, away)]


@asynccontextmanager
async def somewhere() -> AsyncIterator[tuple[SharedHttp, str]]:
    async with serve(Starlette(routes=ROUTES), grace_seconds=0) as url, http_client(DIRECT) as client:
        yield SharedHttp(client), url


async def test_http_request_and_response_are_passed_on() -> None:
    async with somewhere() as (http, url):
        response = await http.send(HttpRequest("POST", f"{url}/echo", {"X-Say": "hi"}, content=b"body", timeout=5))
    assert (response.status, response.body, response.headers["x-said"]) == (418, b"body", "hi")


async def test_http_redirect_is_not_followed() -> None:
    async with somewhere() as (http, url):
        response = await http.send(HttpRequest("GET", f"{url}/away", {"Authorization": "Bearer x"}, timeout=5))
    assert response.status == 307


async def test_http_timeout_is_a_temporary_error() -> None:
    async with somewhere() as (http, url):
        with pytest.raises(TemporaryError, match=r"no answer within 0\.1 seconds"):
            await http.send(HttpRequest("GET", f"{url}/sleep", {}, timeout=0.1))


async def test_http_response_above_the_limit_is_not_read_further() -> None:
    async with somewhere() as (http, url):
        with pytest.raises(TemporaryError, match="larger than 1000 bytes"):
            await http.send(HttpRequest("GET", f"{url}/flood", {}, timeout=5, limit=1000))


async def test_proxy_settings_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with somewhere() as (http, url):
        response = await http.send(HttpRequest("POST", f"{url}/echo", {"X-Say": "hi"}, timeout=5))
    assert response.status == 418


@pytest.mark.parametrize("path", [f"/{'a' * 70_000}", ":99999/", "\0/"], ids=["too long", "no port", "not printable"])
async def test_url_that_cannot_be_requested_is_a_refusal(path: str) -> None:
    async with http_client(DIRECT) as client:
        with pytest.raises(BadUrl, match=r"^Nothing was sent, because that URL cannot be requested: "):
            await SharedHttp(client).send(HttpRequest("POST", f"http://127.0.0.1{path}", timeout=5))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/file", "/file", "127.0.0.1/file"])
async def test_url_of_another_protocol_is_a_refusal(url: str) -> None:
    async with http_client(DIRECT) as client:
        with pytest.raises(BadUrl):
            await SharedHttp(client).send(HttpRequest("GET", url, timeout=5))


async def test_refused_http_connection_is_a_temporary_error() -> None:
    async with somewhere() as (http, _):
        with pytest.raises(TemporaryError, match="ConnectError"):
            await http.send(HttpRequest("GET", "http://127.0.0.1:1/", {}, timeout=5))


class Crowd:
    """A server that answers once `size` requests have arrived, and records the port of each caller."""

    def __init__(self, size: int) -> None:
        self.all_here = asyncio.Barrier(size)
        self.callers: list[tuple[str, int]] = []

    async def answer(self, request: Request) -> Response:
        assert request.client is not None
        self.callers.append((request.client.host, request.client.port))
        await self.all_here.wait()
        return Response(b"here")


async def together(http: SharedHttp, url: str, size: int) -> None:
    answers = await asyncio.gather(
        *(http.send(HttpRequest("GET", f"{url}/crowd", {}, timeout=10)) for _ in range(size))
    )
    assert {answer.body for answer in answers} == {b"here"}


@asynccontextmanager
async def a_crowd(size: int) -> AsyncIterator[tuple[SharedHttp, str, Crowd]]:
    crowd = Crowd(size)
    app = Starlette(routes=[Route("/crowd", crowd.answer), *ROUTES])
    async with serve(app, grace_seconds=0) as url, http_client(DIRECT) as client:
        yield SharedHttp(client), url, crowd


async def test_two_hundred_http_requests_run_at_once_and_reuse_their_connections() -> None:
    async with a_crowd(200) as (http, url, crowd):
        await together(http, url, 200)
        await together(http, url, 200)
    assert len(crowd.callers) == 400
    assert len(set(crowd.callers)) == 200


async def test_timed_out_http_requests_free_their_connections() -> None:
    async with a_crowd(200) as (http, url, _):
        for _ in range(3):
            gone = [http.send(HttpRequest("GET", f"{url}/sleep", {}, timeout=0.2)) for _ in range(100)]
            await asyncio.gather(*gone, return_exceptions=True)
        await together(http, url, 200)


async def functions_called_by_a_request(idle: int) -> int:
    """Count the function calls of one more request while `idle` connections are open and idle."""
    async with a_crowd(idle) as (http, url, _):
        await together(http, url, idle)
        called = 0

        def count(frame: object, kind: str, argument: object) -> None:
            nonlocal called
            called += kind == "call"

        sys.setprofile(count)
        try:
            await http.send(HttpRequest("POST", f"{url}/echo", {"X-Say": "hi"}, timeout=5))
        finally:
            sys.setprofile(None)
    return called


async def test_cost_of_an_http_request_does_not_grow_with_idle_connections() -> None:
    few, many = await functions_called_by_a_request(25), await functions_called_by_a_request(200)
    assert many <= few * 1.2
