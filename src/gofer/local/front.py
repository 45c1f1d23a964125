"""The HTTP application of one local server: requests reach receivers and pages."""

import asyncio
import logging

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.dispatch import BODY_LIMIT, Ingress
from gofer.errors import BadRequest, Damaged, TemporaryError
from gofer.local.page_headers import PageHeaders
from gofer.local.pages import Pages
from gofer.local.visitors import LOOPBACK, Visitors
from gofer.triggers.door import RawRequest, Reply

BODY_SECONDS = 10.0
"""How long a body may take to arrive; vendors send theirs at once."""

_log = logging.getLogger(__name__)


def front(ingress: Ingress, pages: Pages, visitors: Visitors = LOOPBACK) -> Starlette:
    """Return the HTTP application: receivers for vendors, and pages for visitors of this machine."""

    async def door(request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(request)
        except ClientDisconnect:
            return refused(request, BadRequest(400, "The request broke off.", code="body_broke_off"))
        except TimeoutError:
            slow = refused(request, BadRequest(408, "The body came too slowly.", code="body_too_slow"))
            slow.headers["Connection"] = "close"
            return slow
        return answer(await ingress.receive(RawRequest(request.method, request.url.path, _headers(request), body)))

    def refused(request: Request, error: BadRequest) -> Response:
        return answer(ingress.refuse(request.url.path, error))

    return Starlette(
        routes=[
            Route("/healthz", healthy, methods=["GET"]),
            *visitors.guard(pages.routes()),
            Route("/{path:path}", door, methods=["POST", "GET", "PUT", "DELETE", "PATCH"]),
        ],
        middleware=[Middleware(PageHeaders)],
        exception_handlers={TemporaryError: unreadable, Damaged: unreadable},
    )


def answer(reply: Reply) -> Response:
    """Return a receiver's reply as an HTTP response."""
    return Response(reply.body, reply.status, media_type=reply.media_type)


async def healthy(request: Request) -> Response:
    """Whether anybody is there at all."""
    return Response(b"ok\n", media_type="text/plain")


async def unreadable(request: Request, error: Exception) -> Response:
    """A page whose rows or journal cannot be read; the sentence is for whoever runs Gofer, not for a visitor."""
    _log.error("%s was not shown: %s", request.url.path, error)
    return Response(b"Gofer cannot read its state now; its log says why.\n", 503, media_type="text/plain")


def _headers(request: Request) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]


async def _body(request: Request) -> bytes:
    """The body, or just enough of it to know that it is too large."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > BODY_LIMIT:
        # Stands for what was not read: ingress refuses it for its length, as it would the whole.
        return bytes(BODY_LIMIT + 1)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            break
    return bytes(body)
