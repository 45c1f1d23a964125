"""The HTTP application of one local server, with receivers for vendors and pages for people.

The bodies of all open requests share one limit of memory, because their senders are not verified yet. A body counts
with the bytes that have arrived, until its request is answered. When the limit is reached, the oldest incomplete
bodies are dropped, because vendors send a whole body at once.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.app.pages.page_frame import PageHeaders
from gofer.app.pages.run_pages import Pages
from gofer.app.visitors import LOOPBACK
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import BODY_LIMIT, RawRequest, Reply
from gofer.values.errors import BadRequest, Corrupt, TemporaryError

MEMORY = 64_000_000
"""The most bytes that all bodies may take together."""
SECONDS = 10.0
"""How long a body may take to arrive."""
RETRY_AFTER = 5
"""Seconds after which a sender should retry when its body found no room."""


class _Arriving:
    """One body while it arrives."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.size = 0
        """Bytes that the body takes of the limit, also after the whole body was passed on."""
        self.deadline = asyncio.timeout(SECONDS)
        self.dropped = False

    def drop(self) -> None:
        """Discard the bytes that arrived, and end the wait for the rest."""
        self.dropped = True
        self.bytes.clear()
        if not self.deadline.expired():
            self.deadline.reschedule(asyncio.get_running_loop().time())


class Bodies:
    """The bodies of one server."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._taken = 0
        self._arriving: dict[_Arriving, None] = {}
        """The incomplete bodies, oldest first."""

    @asynccontextmanager
    async def received(self, chunks: AsyncIterable[bytes], limit: int) -> AsyncGenerator[bytes]:
        """Yield a whole body, or its beginning if it exceeds `limit`. Its bytes count until the block ends.

        Raises BadRequest(408) for a body that takes too long, and BadRequest(503) for a body that finds no room.
        """
        body = _Arriving()
        self._arriving[body] = None
        try:
            yield await self._whole(body, chunks, limit)
        finally:
            self._release(body)

    async def _whole(self, body: _Arriving, chunks: AsyncIterable[bytes], limit: int) -> bytes:
        try:
            async with body.deadline:
                async for chunk in chunks:
                    self._take(body, len(chunk))
                    body.bytes += chunk
                    if body.size > limit:
                        break
        except TimeoutError as error:
            if body.dropped:
                raise _no_room() from error
            raise BadRequest(408, "The body came too slowly.", code="body_too_slow") from error
        if body.dropped:
            raise _no_room()
        del self._arriving[body]
        whole = bytes(body.bytes)
        body.bytes.clear()
        return whole

    def _take(self, body: _Arriving, size: int) -> None:
        """Count bytes that arrived, and drop older bodies if needed. Raises BadRequest(503) if this body is dropped."""
        while not body.dropped and self._taken + size > self._memory:
            oldest = next(iter(self._arriving))
            oldest.drop()
            self._release(oldest)
        if body.dropped:
            raise _no_room()
        body.size += size
        self._taken += size

    def _release(self, body: _Arriving) -> None:
        self._arriving.pop(body, None)
        self._taken -= body.size
        body.size = 0


def _no_room() -> BadRequest:
    message = "Too many requests are arriving at once. Send this one again in a few seconds."
    return BadRequest(503, message, code="body_without_room")


_log = logging.getLogger(__name__)


class Guard(Protocol):
    """The rule for the people who may open the pages."""

    def routes(self) -> list[Route]:
        """Return the routes to sign in and out; none without a sign-in."""
        ...

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """Return the same pages, restricted to these people."""
        ...


def front(
    ingress: Ingress,
    pages: Pages,
    guard: Guard = LOOPBACK,
    bodies: Bodies | None = None,
    probes: Sequence[Route] = (),
) -> Starlette:
    """Return the HTTP application: receivers for vendors, pages for people, and `probes` for every machine.

    `bodies` limits the memory of the bodies of open requests. All applications of one server share it.
    """
    shared = bodies or Bodies()

    async def receiver(request: Request) -> Response:
        try:
            _check_declared(request)
            async with shared.received(request.stream(), BODY_LIMIT) as body:
                return answer(await ingress.receive(_raw(request, body)))
        except ClientDisconnect:
            return refused(
                request,
                BadRequest(400, "The connection closed before the whole request arrived.", code="body_broke_off"),
            )
        except BadRequest as error:
            return _closing(refused(request, error))

    def refused(request: Request, error: BadRequest) -> Response:
        return answer(ingress.refuse(request.url.path, error))

    return Starlette(
        routes=[
            Route("/healthz", healthy, methods=["GET"]),
            *probes,
            *guard.routes(),
            *guard.guard(pages.routes()),
            Route("/{path:path}", receiver, methods=["POST", "GET", "PUT", "DELETE", "PATCH"]),
        ],
        middleware=[Middleware(PageHeaders)],
        exception_handlers={TemporaryError: unreadable, Corrupt: unreadable},
    )


def answer(reply: Reply) -> Response:
    """Return a receiver's reply as an HTTP response."""
    return Response(reply.body, reply.status, dict(reply.headers), reply.media_type)


async def healthy(request: Request) -> Response:
    """Answer that the server is running."""
    return Response(b"ok\n", media_type="text/plain")


_UNREADABLE = b"Gofer cannot show this page, because it cannot read its state now. The reason is in Gofer's log.\n"


async def unreadable(request: Request, error: Exception) -> Response:
    """Answer for a page whose rows or journal cannot be read. The log has the cause, which visitors do not see."""
    _log.error("%s was not shown: %s", request.url.path, error)
    return Response(_UNREADABLE, 503, media_type="text/plain")


def _closing(response: Response) -> Response:
    """Close the connection after this answer, because the rest of the request's body is not read."""
    response.headers["Connection"] = "close"
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER)
    return response


def _raw(request: Request, body: bytes) -> RawRequest:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    return RawRequest(request.method, request.url.path, headers, body, request.url.query)


def _check_declared(request: Request) -> None:
    """Raise BadRequest(413) for a declared length above the limit, before any of the body is read."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > BODY_LIMIT:
        raise BadRequest(413, f"The body is larger than {BODY_LIMIT} bytes.", code="body_too_large")
