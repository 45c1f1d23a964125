"""The HTTP application of one local server: requests reach receivers and pages.

The bodies of all open requests share one memory, so that unverified senders take no more together. A body counts for
the bytes of it that arrived, until its request is answered. When the memory is full, the bodies that have been
arriving longest make room, because vendors send theirs at once.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.app.pages.run_pages import PageHeaders, Pages
from gofer.app.visitors import LOOPBACK, Visitors
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import BODY_LIMIT, RawRequest, Reply
from gofer.values.errors import BadRequest, Corrupt, TemporaryError

MEMORY = 64_000_000
"""Bytes that bodies take together at most."""
SECONDS = 10.0
"""How long a body may take to arrive."""
RETRY_AFTER = 5
"""Seconds after which a sender that found no room comes again."""


class _Arriving:
    """One body while it arrives."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.size = 0
        """Bytes that it takes of the memory; also when they were passed on."""
        self.deadline = asyncio.timeout(SECONDS)
        self.dropped = False

    def drop(self) -> None:
        """Let go of what arrived, and end the wait for the rest."""
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
        """Those that are not whole yet, the oldest first."""

    @asynccontextmanager
    async def received(self, chunks: AsyncIterable[bytes], limit: int) -> AsyncGenerator[bytes]:
        """Yield a whole body, or enough of it to know that it is above the limit, and keep its room during the block.

        Raises BadRequest(408) for one that takes too long, and BadRequest(503) for one that finds no room.
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
        """Count bytes of a body that arrived. Raises BadRequest(503) where no older body can make room for them."""
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
    said = "Too many bodies arrive at the same time. Send it again in a few seconds."
    return BadRequest(503, said, code="body_without_room")


_log = logging.getLogger(__name__)


def front(ingress: Ingress, pages: Pages, visitors: Visitors = LOOPBACK, bodies: Bodies | None = None) -> Starlette:
    """Return the HTTP application: receivers for vendors, and pages for visitors of this machine.

    `bodies` bounds what the bodies of open requests take together; fronts of one server share it.
    """
    shared = bodies or Bodies()

    async def receiver(request: Request) -> Response:
        try:
            _check_declared(request)
            async with shared.received(request.stream(), BODY_LIMIT) as body:
                return answer(await ingress.receive(_raw(request, body)))
        except ClientDisconnect:
            return refused(request, BadRequest(400, "The request broke off.", code="body_broke_off"))
        except BadRequest as error:
            return _closing(refused(request, error))

    def refused(request: Request, error: BadRequest) -> Response:
        return answer(ingress.refuse(request.url.path, error))

    return Starlette(
        routes=[
            Route("/healthz", healthy, methods=["GET"]),
            *visitors.guard(pages.routes()),
            Route("/{path:path}", receiver, methods=["POST", "GET", "PUT", "DELETE", "PATCH"]),
        ],
        middleware=[Middleware(PageHeaders)],
        exception_handlers={TemporaryError: unreadable, Corrupt: unreadable},
    )


def answer(reply: Reply) -> Response:
    """Return a receiver's reply as an HTTP response."""
    return Response(reply.body, reply.status, media_type=reply.media_type)


async def healthy(request: Request) -> Response:
    """Answer that the server is there."""
    return Response(b"ok\n", media_type="text/plain")


async def unreadable(request: Request, error: Exception) -> Response:
    """Answer for a page whose rows or journal cannot be read; the cause is for the operator, not for a visitor."""
    _log.error("%s was not shown: %s", request.url.path, error)
    return Response(b"Gofer cannot read its state now; its log says why.\n", 503, media_type="text/plain")


def _closing(response: Response) -> Response:
    """Let the connection end with an answer, because the rest of its body is not read."""
    response.headers["Connection"] = "close"
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER)
    return response


def _raw(request: Request, body: bytes) -> RawRequest:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    return RawRequest(request.method, request.url.path, headers, body)


def _check_declared(request: Request) -> None:
    """Raise BadRequest(413) for a body that says that it is too large, before any of it is read."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > BODY_LIMIT:
        raise BadRequest(413, f"The body is larger than {BODY_LIMIT} bytes.", code="body_too_large")
