"""The REST API of the simulated GitHub over HTTP: token, version, pages, error bodies and rate limits.

The functions behind the paths are in `resources`.
"""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from gofer_simulators.faults import Fault, Faults
from gofer_simulators.github.api_request import ApiRequest
from gofer_simulators.github.people import People
from gofer_simulators.github.repositories import GitHubRefusal, Hub
from gofer_simulators.github.resources import RESOURCES, Answer
from gofer_simulators.github.shapes import BREAKING
from gofer_simulators.http_server import METHODS, find, respond
from gofer_simulators.json_values import JsonObject, is_array, is_object, parsed

OLDEST = "2022-11-28"
"""The API version of a request that names none."""
PER_PAGE = 30
MOST_PER_PAGE = 100
LIMIT = 5_000
"""Requests per hour. The simulator reports the limit and does not enforce it."""
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_MESSAGES = {401: "Bad credentials", 403: _SECONDARY, 404: "Not Found", 429: _SECONDARY}


class RestApi:
    """The REST API over HTTP."""

    def __init__(self, hub: Hub, people: People, token: str, faults: Faults) -> None:
        self._hub = hub
        self._people = people
        self._token = token
        self._faults = faults
        self._used = 0

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [Route("/{path:path}", self._serve, methods=METHODS)]

    async def _serve(self, request: Request) -> Response:
        body = await request.body()
        self._used += 1
        return await respond(self._faults, request, lambda: self._answer(request, body), _fault_response)

    async def _answer(self, request: Request, body: bytes) -> Response:
        try:
            run, version, path = self._authorized_call(request)
            api_request = ApiRequest(
                self._hub, self._people, version, path, dict(request.query_params), _fields(request, body)
            )
            response = _json_response(request, run(api_request))
        except GitHubRefusal as refusal:
            response = _refusal_response(refusal)
        response.headers.update(self._rate())
        return response

    def _authorized_call(self, request: Request) -> tuple[Callable[[ApiRequest], Answer], str, Mapping[str, str]]:
        if not request.headers.get("user-agent"):
            raise GitHubRefusal(403, "Request forbidden by administrative rules. Please make sure it has a User-Agent.")
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if not token:
            # The simulator refuses every request without a token, also for public repositories.
            raise GitHubRefusal(401, "Requires authentication")
        if kind.lower() not in ("bearer", "token") or token.strip() != self._token:
            raise GitHubRefusal(401, "Bad credentials")
        version = request.headers.get("x-github-api-version", OLDEST)
        if version not in (OLDEST, BREAKING):
            raise GitHubRefusal(400, f'API version "{version}" is not supported.')
        found = find(RESOURCES, request.method, "/" + request.path_params["path"])
        if found is None:
            raise GitHubRefusal(404, "Not Found")
        run, path = found
        return run, version, path

    def _rate(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(LIMIT),
            "X-RateLimit-Remaining": str(max(0, LIMIT - self._used)),
            "X-RateLimit-Reset": str(int(self._hub.clock()) // 3600 * 3600 + 3600),
            "X-GitHub-Request-Id": f"SIM:{self._used:06}",
        }


def _json_response(request: Request, answer: Answer) -> Response:
    status, content = answer
    if status == 204:
        return Response(status_code=204)
    if not is_array(content):
        return JSONResponse(content, status)
    if request.url.path.split("/")[4:5] == ["contents"]:
        return JSONResponse(content, status)
    page = _number(request, "page", 1)
    size = min(MOST_PER_PAGE, _number(request, "per_page", PER_PAGE))
    pages = max(1, -(-len(content) // size))
    return JSONResponse(content[(page - 1) * size : page * size], status, _links(request, page, pages))


def _links(request: Request, page: int, pages: int) -> dict[str, str]:
    """Return the Link header; no header if there is one page."""
    places = {"prev": page - 1, "next": page + 1, "first": 1, "last": pages}
    if page <= 1:
        places = {name: number for name, number in places.items() if name not in ("prev", "first")}
    if page >= pages:
        places = {name: number for name, number in places.items() if name not in ("next", "last")}
    base = str(request.url).partition("?")[0]
    query = dict(request.query_params)
    links = [f'<{base}?{urlencode(query | {"page": str(number)})}>; rel="{name}"' for name, number in places.items()]
    if links:
        return {"Link": ", ".join(links)}
    return {}


def _number(request: Request, name: str, default: int) -> int:
    value = request.query_params.get(name, "")
    if value.isascii() and value.isdecimal() and int(value) > 0:
        return int(value)
    return default


def _fields(request: Request, body: bytes) -> JsonObject:
    """Return the JSON object of a request, empty for a GET. Raises GitHubRefusal(400)."""
    if request.method == "GET":
        return {}
    try:
        value = parsed(body)
    except ValueError as error:
        raise GitHubRefusal(400, "Problems parsing JSON") from error
    if not is_object(value):
        raise GitHubRefusal(400, "Body should be a JSON object")
    return value


def _fault_response(fault: Fault) -> Response:
    if fault.kind == "expired_token":
        return _refusal_response(GitHubRefusal(401, "Bad credentials"))
    if fault.status >= 500:
        return HTMLResponse("<html><body>Unicorn! Please try again.</body></html>", fault.status, fault.headers)
    message = _MESSAGES.get(fault.status, "Something is wrong with the request")
    return _refusal_response(GitHubRefusal(fault.status, message), fault.headers)


def _refusal_response(refusal: GitHubRefusal, headers: Mapping[str, str] | None = None) -> Response:
    body: dict[str, object] = {"message": refusal.message}
    if refusal.errors:
        body["errors"] = [dict(error) for error in refusal.errors]
    body |= {"documentation_url": "https://docs.github.com/rest", "status": str(refusal.status)}
    return JSONResponse(body, refusal.status, headers)
