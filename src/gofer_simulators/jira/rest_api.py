"""The REST API of the simulated Jira over HTTP: credentials, request bodies, error bodies and files.

The functions behind the paths below `/rest/api/3` are in `resources`.
"""

import base64
import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer_simulators.faults import Fault, Faults
from gofer_simulators.http_server import METHODS, find, origin, respond
from gofer_simulators.jira.api_request import INVALID, ApiRequest
from gofer_simulators.jira.people import People
from gofer_simulators.jira.resources import RESOURCES
from gofer_simulators.jira.searching import Answer
from gofer_simulators.jira.site import JiraRefusal, Site
from gofer_simulators.json_values import parsed

_PREFIX = "/rest/api/3"
_CONTENT = re.compile(_PREFIX + r"/attachment/content/([^/]+)")
_REASONS = {
    403: "You do not have permission to perform this operation.",
    429: "Rate limit exceeded.",
}


class RestApi:
    """The REST API over HTTP."""

    def __init__(self, site: Site, people: People, email: str, token: str, faults: Faults) -> None:
        self._site = site
        self._people = people
        self._basic = base64.b64encode(f"{email}:{token}".encode()).decode()
        self._faults = faults

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/file/{attachment}/binary", self._media, methods=["GET"]),
            Route("/{path:path}", self._call, methods=METHODS),
        ]

    async def _call(self, request: Request) -> Response:
        return await respond(self._faults, request, lambda: self._answer(request), _fault_response)

    async def _answer(self, request: Request) -> Response:
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic" or given.strip() != self._basic:
            return _unknown_caller()
        try:
            if request.method == "GET" and (content := _CONTENT.fullmatch(request.url.path)):
                return self._content(request, content[1])
            run, path = _resource(request)
            api_request = ApiRequest(self._site, self._people, path, dict(request.query_params), await _body(request))
            return _json_response(run(api_request))
        except JiraRefusal as refusal:
            return _refusal_response(refusal)

    def _content(self, request: Request, attachment: str) -> Response:
        """Redirect to the bytes of a file on the media host, at a signed address that needs no account.

        With `redirect=false`, answer with the bytes.
        """
        one = self._site.attachment(attachment)
        if request.query_params.get("redirect") == "false":
            return Response(one.content, media_type=one.mime_type)
        address = f"{origin(request)}/file/{one.id}/binary"
        return RedirectResponse(f"{address}?token={one.signature}&name={quote(one.filename)}", 303)

    async def _media(self, request: Request) -> Response:
        """Answer for the media host, which accepts only the signature in the address and no token."""
        try:
            one = self._site.attachment(request.path_params["attachment"])
        except JiraRefusal:
            return JSONResponse({"error": {"code": "NotFoundError"}}, 404)
        if "authorization" in request.headers or request.query_params.get("token") != one.signature:
            return JSONResponse({"error": {"code": "JwtAuthoriserError", "title": "Unauthorized"}}, 401)
        return Response(one.content, media_type=one.mime_type)


def _resource(request: Request) -> tuple[Callable[[ApiRequest], Answer], Mapping[str, str]]:
    path = request.url.path.removeprefix(_PREFIX)
    if path == request.url.path or not any(one.path.fullmatch(path) for one in RESOURCES):
        raise JiraRefusal(404, "No such resource.")
    found = find(RESOURCES, request.method, path)
    if found is None:
        raise JiraRefusal(405, "Method Not Allowed")
    return found


async def _body(request: Request) -> object:
    """Return the JSON value of a request, None for a GET. Raises JiraRefusal."""
    if request.method == "GET":
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise JiraRefusal(415, "Unsupported Media Type")
    try:
        return parsed(await request.body())
    except ValueError as error:
        raise JiraRefusal(400, INVALID) from error


def _json_response(answer: Answer) -> Response:
    status, content = answer
    if content is None:
        return Response(status_code=status)
    return JSONResponse(content, status)


def _fault_response(fault: Fault) -> Response:
    if fault.kind == "expired_token":
        return _unknown_caller()
    if fault.status >= 500:
        return HTMLResponse("<html><body>Jira is taking a break.</body></html>", fault.status, fault.headers)
    return _refusal_response(JiraRefusal(fault.status, _REASONS.get(fault.status, INVALID)), fault.headers)


def _unknown_caller() -> Response:
    """Return the answer to a wrong or expired token: a plain text, with the reason in a header."""
    headers = {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED", "WWW-Authenticate": 'OAuth realm="https%3A%2F%2Fjira"'}
    return PlainTextResponse("Client must be authenticated to access this resource.", 401, headers)


def _refusal_response(refusal: JiraRefusal, headers: Mapping[str, str] | None = None) -> Response:
    body = {"errorMessages": list(refusal.messages), "errors": refusal.errors}
    return JSONResponse(body, refusal.status, headers)
