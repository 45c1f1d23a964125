"""The network of a play: the simulated systems, each called within the process, and nothing else.

The addresses of the systems are fixed, because links to them are part of what a model reads.
"""

import asyncio
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp
from typing_extensions import override

from gofer.values.errors import ToolError
from gofer.values.outside import Http, HttpRequest, HttpResponse, TooLarge


def address(source: str) -> str:
    """Return the base URL of a simulated system, by the name of its source."""
    return f"http://{source}.simulated"


@dataclass(frozen=True, slots=True)
class SimulatedNetwork(Http):
    """HTTP to the simulated systems of one play."""

    systems: Mapping[str, ASGIApp]
    """The systems by the name of their source."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        parts = urlsplit(request.url)
        source, _, domain = (parts.hostname or "").rpartition(".")
        app = self.systems.get(source)
        if domain != "simulated" or app is None:
            raise ToolError("This run is part of an eval, which reaches nothing but its world.", code="elsewhere")
        exchange = _Exchange(request)
        await app(_scope(request), exchange.receive, exchange.send)
        if len(exchange.body) > request.limit:
            raise TooLarge(f"the answer is larger than {request.limit} bytes")
        return HttpResponse(exchange.status, exchange.headers, bytes(exchange.body))


@dataclass(slots=True)
class _Exchange:
    """One request and its response, as the two functions of an ASGI application."""

    request: HttpRequest
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytearray = field(default_factory=bytearray)
    _sent: bool = False

    async def receive(self) -> dict[str, object]:
        """Return the body of the request, and afterwards wait, because the caller keeps the connection open."""
        if self._sent:
            await asyncio.Event().wait()
        self._sent = True
        return {"type": "http.request", "body": self.request.content, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Take a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in message["headers"]}
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")


def _scope(request: HttpRequest) -> dict[str, object]:
    parts = urlsplit(request.url)
    headers = [(b"host", parts.netloc.encode("latin-1"))]
    headers += [(name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in request.headers.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": parts.scheme,
        "path": unquote(parts.path),
        "raw_path": parts.path.encode("ascii"),
        "root_path": "",
        "query_string": parts.query.encode("ascii"),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": (parts.hostname, 80),
    }
