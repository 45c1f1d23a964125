"""The Web API of the simulated Slack over HTTP: token, scopes, planned failures and files.

The functions behind `/api/<method>` are in `methods`.
"""

import asyncio
from collections import defaultdict, deque
from dataclasses import replace
from typing import TypeAlias
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer_simulators.http_server import disconnected, origin
from gofer_simulators.slack.arguments import Arguments, read_arguments
from gofer_simulators.slack.backend import Backend, Method
from gofer_simulators.slack.files import store_upload
from gofer_simulators.slack.methods import METHODS
from gofer_simulators.slack.streams import close_expired
from gofer_simulators.slack.workspace import SlackRefusal

Failure: TypeAlias = str | int
"""A Slack error code, or an HTTP status."""
RETRY_AFTER_SECONDS = 1
MINUTE = 60_000_000
"""One minute in microseconds."""
_CUSTOM = ("username", "icon_emoji", "icon_url")
"""The arguments for another name or picture than the app's own."""


class WebApi:
    """The Web API over HTTP."""

    def __init__(self, backend: Backend, token: str, *, limited: bool = False) -> None:
        self._backend = backend
        self._token = token
        self._failures: defaultdict[str, deque[tuple[Failure, bool]]] = defaultdict(deque)
        self._limited = limited
        self._calls: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
        """The times of the calls of the last minute, by method and, for some methods, channel."""
        self._held: dict[str, asyncio.Event] = {}
        self.scopes_used: set[str] = set()
        """The scopes that the calls so far needed."""

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/api/{method:path}", self._call, methods=["GET", "POST"]),
            Route("/upload/v1/{file}", self._upload, methods=["POST"]),
            Route("/files-pri/{place}/{name:path}", self._download, methods=["GET"]),
            Route("/login", _login, methods=["GET"]),
        ]

    def fail_next(self, method: str, *failures: Failure, after_effect: bool = False) -> None:
        """Let the next calls of a method fail, each with one failure.

        With `after_effect`, Slack does the work of the call before it answers with the failure. Raises ValueError for
        an unknown method.
        """
        if method not in METHODS:
            raise ValueError(f"The simulated Slack has no method {method!r}; it has {', '.join(METHODS)}.")
        self._failures[method].extend((failure, after_effect) for failure in failures)

    def hold_next(self, method: str) -> asyncio.Event:
        """Hold the next call of a method: Slack does the work, sets the returned event and never answers."""
        return self._held.setdefault(method, asyncio.Event())

    async def _call(self, request: Request) -> Response:
        name: str = request.path_params["method"]
        body = await request.body()
        content_type = request.headers.get("content-type", "")
        try:
            arguments = read_arguments(content_type, body, request.url.query)
            method = self._authorized_call(name, request.headers.get("authorization", ""), arguments)
        except SlackRefusal as refusal:
            return _refusal_response(refusal)
        if wait := self._wait(name, method, arguments):
            return _too_many(wait)
        close_expired(self._backend.workspace)
        planned = None
        if self._failures[name]:
            planned = self._failures[name].popleft()
        if planned and not planned[1]:
            return self._failure_response(planned[0], method)
        answer = self._answer(method, arguments, origin(request))
        if held := self._held.pop(name, None):
            held.set()
            await disconnected(request)
        if planned:
            return self._failure_response(planned[0], method)
        return answer

    async def _upload(self, request: Request) -> Response:
        try:
            file = store_upload(self._backend.workspace, request.path_params["file"], await request.body())
        except SlackRefusal as refusal:
            return PlainTextResponse(refusal.code, 400)
        return PlainTextResponse(f"OK - {len(file.content or b'')}")

    async def _download(self, request: Request) -> Response:
        """Answer with the bytes of a file. Redirect a caller without access to the login page, as Slack does."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        scopes = self._backend.workspace.bot.scopes
        if kind != "Bearer" or token != self._token or (scopes is not None and "files:read" not in scopes):
            return RedirectResponse(f"/login?redir={quote(request.url.path)}", 302)
        file = self._backend.workspace.files.get(request.path_params["place"].partition("-")[2])
        if file is None or not file.shared or file.content is None:
            return HTMLResponse("<!DOCTYPE html><title>File not found</title>", 404)
        self.scopes_used.add("files:read")
        return Response(file.content, media_type=file.mimetype)

    def _authorized_call(self, name: str, authorization: str, arguments: Arguments) -> Method:
        kind, _, bearer = authorization.partition(" ")
        token = bearer.strip() if kind.lower() == "bearer" else arguments.text("token")
        if not token:
            raise SlackRefusal("not_authed")
        if token != self._token:
            raise SlackRefusal("invalid_auth")
        method = METHODS.get(name)
        if method is None:
            raise SlackRefusal("unknown_method")
        scopes = self._backend.workspace.bot.scopes
        needed = {self._needed(method, arguments)} - {""}
        if any(arguments.text(name) for name in _CUSTOM):
            needed.add("chat:write.customize")
        for scope in sorted(needed - (needed if scopes is None else scopes)):
            raise SlackRefusal("missing_scope", scope)
        self.scopes_used |= needed
        return method

    def _wait(self, name: str, method: Method, arguments: Arguments) -> int:
        """Return the seconds after which Slack takes this call, or 0 and count the call."""
        if not (self._limited and method.per_minute):
            return 0
        now = self._backend.workspace.now()
        calls = self._calls[name, arguments.text("channel") if method.by_channel else ""]
        while calls and now - calls[0] >= MINUTE:
            calls.popleft()
        if len(calls) >= method.per_minute:
            return -(-(MINUTE - now + calls[0]) // 1_000_000)
        calls.append(now)
        return 0

    def _needed(self, method: Method, arguments: Arguments) -> str:
        """Return the scope of a call: `channels:read` becomes `groups:read` for a private channel, and so on."""
        family, _, verb = method.scope.partition(":")
        if family == "channels" and arguments.text("types") == "private_channel":
            return f"groups:{verb}"
        channel = self._backend.workspace.channels.get(arguments.text("channel"))
        if family != "channels" or channel is None or channel.kind == "channel":
            return method.scope
        if channel.kind == "group":
            return f"groups:{verb}"
        return f"{channel.kind}:{verb}"

    def _answer(self, method: Method, arguments: Arguments, origin: str) -> Response:
        scopes = self._backend.workspace.bot.scopes
        headers: dict[str, str] = {}
        if scopes is not None:
            headers["X-OAuth-Scopes"] = ",".join(sorted(scopes))
        try:
            fields = method.run(replace(self._backend, origin=origin), arguments)
            return JSONResponse({"ok": True} | fields, headers=headers)
        except SlackRefusal as refusal:
            return _refusal_response(refusal)

    def _failure_response(self, failure: Failure, method: Method) -> Response:
        match failure:
            case 429:
                return _too_many(RETRY_AFTER_SECONDS)
            case int():
                return HTMLResponse("<html><body>Something went wrong at our end.</body></html>", failure)
            case str():
                return _refusal_response(SlackRefusal(failure, method.scope if failure == "missing_scope" else ""))


async def _login(_: Request) -> Response:
    return HTMLResponse("<!DOCTYPE html><html><body>Sign in to your workspace</body></html>")


def _too_many(wait: int) -> Response:
    return JSONResponse({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(wait)})


def _refusal_response(refusal: SlackRefusal) -> Response:
    body: dict[str, object] = {"ok": False, "error": refusal.code}
    if refusal.code == "missing_scope":
        body |= {"needed": refusal.hint, "provided": "none"}
    elif refusal.hint.startswith("[ERROR]"):
        body |= {"errors": [refusal.hint], "response_metadata": {"messages": [refusal.hint]}}
    return JSONResponse(body)
