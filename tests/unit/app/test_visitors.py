"""Pages without sign-in: allowed hosts and machines, and response headers."""

from collections.abc import Mapping

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.pages.page_frame import HEADERS, PageHeaders
from gofer.app.visitors import LOOPBACK, Visitors, visitors
from support.http import loopback

pytestmark = pytest.mark.anyio

OWN = ["localhost", "LOCALHOST:8765", "127.0.0.1", "127.0.0.1:8765", "127.8.9.10:80", "[::1]", "[::1]:8765"]
FOREIGN = [
    "",
    "evil.example",
    "evil.example:8765",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "0.0.0.0",
    "0.0.0.0:8765",
    "[::]",
    "10.0.0.5:8765",
    "[::ffff:10.0.0.5]",
    "127.0.0.1@evil.example",
    "evil.example/localhost",
    "localhost, evil.example",
    "localhost evil.example",
    "[::1",
    "[localhost]",
    "\u00b5.example",
]


@pytest.mark.parametrize("host", OWN)
def test_loopback_host_is_allowed_at_any_port(host: str) -> None:
    assert LOOPBACK.knows(host)


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_host_is_refused(host: str) -> None:
    assert not LOOPBACK.knows(host)
    assert not visitors("https://gofer.example.com", "0.0.0.0").knows(host)


def test_public_host_and_listening_host_are_allowed() -> None:
    known = visitors("https://Gofer.Example.com:8443/base", "10.0.0.5")
    assert known == Visitors(frozenset({"gofer.example.com", "10.0.0.5"}))
    assert known.knows("GOFER.example.com")
    assert known.knows("10.0.0.5:8765")
    assert not known.knows("a.gofer.example.com")
    assert visitors("", "::") == LOOPBACK


async def page(_: Request) -> Response:
    return PlainTextResponse("runs")


async def ask(scope: Mapping[str, object], known: Visitors = LOOPBACK) -> httpx2.Response:
    """Return the response of a page to a connection with this ASGI scope."""
    app = Starlette(routes=known.guard([Route("/", page, methods=["GET"])]))

    async def connected(inner: Mapping[str, object], receive: object, send: object) -> None:
        await app({**inner, **scope}, receive, send)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(connected), base_url="http://localhost") as client:
        return await client.get("/")


@pytest.mark.parametrize(
    ("client", "server", "status"),
    [
        (("127.0.0.1", 50_000), ("127.0.0.1", 8765), 200),
        (("::1", 50_000), ("::1", 8765), 200),
        (("::ffff:127.0.0.1", 50_000), ("::ffff:127.0.0.1", 8765), 200),
        (("10.0.0.5", 50_000), ("10.0.0.5", 8765), 200),
        (("10.0.0.6", 50_000), ("10.0.0.5", 8765), 403),
        (("::ffff:10.0.0.6", 50_000), ("::ffff:10.0.0.5", 8765), 403),
        (("172.17.0.1", 50_000), None, 403),
        (None, None, 403),
    ],
)
async def test_remote_machine_is_refused_for_any_host_header(client: object, server: object, status: int) -> None:
    answer = await ask({"client": client, "server": server})
    assert answer.status_code == status
    assert ("have no sign-in" in answer.text) == (status == 403)


async def test_refusal_names_the_allowed_hosts_and_the_setting() -> None:
    async with loopback.client() as http:
        app = Starlette(routes=visitors("https://gofer.example.com", "").guard([Route("/", page)]))
        async with serve(app) as url:
            answer = await http.get(url, headers={"Host": "evil.example"})
            assert answer.status_code == 421
            assert "localhost, 127.0.0.1, gofer.example.com" in answer.text
            assert "set GOFER_URL" in answer.text
            assert "evil" not in answer.text
            # Forwarded headers are ignored, even with proxies in the environment.
            forwarded = {"X-Forwarded-For": "10.0.0.6", "X-Forwarded-Host": "evil.example"}
            assert (await http.get(url, headers=forwarded)).status_code == 200


async def test_pages_have_security_headers_and_may_override_a_header() -> None:
    async def own(_: Request) -> Response:
        return PlainTextResponse("", headers={"Content-Security-Policy": "default-src 'self'"})

    routes = [Route("/", page), Route("/own", own)]
    app = Starlette(routes=routes, middleware=[Middleware(PageHeaders)])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        for path in ("/", "/nowhere"):
            assert HEADERS.items() <= dict((await client.get(path)).headers).items()
        assert (await client.get("/own")).headers["content-security-policy"] == "default-src 'self'"
