"""The HTTP application of one local server: requests reach receivers and pages."""

import logging

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gofer.app.pages.page_headers import PageHeaders
from gofer.app.pages.run_pages import Pages
from gofer.app.request_bodies import RETRY_AFTER, Bodies
from gofer.app.visitors import LOOPBACK, Visitors
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import BODY_LIMIT, RawRequest, Reply
from gofer.values.errors import BadRequest, Corrupt, TemporaryError

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
    """Whether anybody is there at all."""
    return Response(b"ok\n", media_type="text/plain")


async def unreadable(request: Request, error: Exception) -> Response:
    """A page whose rows or journal cannot be read; the sentence is for whoever runs Gofer, not for a visitor."""
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
