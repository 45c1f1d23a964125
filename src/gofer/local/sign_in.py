"""Who may look at Gofer's pages from outside? Whoever signed in with Slack as a full member of the workspace.

The attempt to sign in is bound to the browser that began it: its state and nonce stand in a cookie of ours.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer.errors import BadRequest, TemporaryError
from gofer.events import Event
from gofer.local.cookies import Cookie
from gofer.local.pages import for_program
from gofer.local.slack_openid import CALLBACK, SlackOpenId
from gofer.outside import Outside
from gofer.secret import Secret

PATH = "/sign-in"
ATTEMPT_SECONDS = 600
SESSION_SECONDS = 8 * 3600
"""After that Slack is asked again whether somebody still is a member."""
_OWN = re.compile(r"/|/(runs|prompts)(/[A-Za-z0-9_-]{1,100}){0,2}", re.ASCII)
"""Where somebody may be sent after signing in: one of our pages, never another site."""

_HEADERS: Mapping[str, str] = {
    "cache-control": "private, no-store",
    # Pages have no scripts, forms or pictures, and stand in no frame of others.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
"""What every page behind the door tells browsers."""

_log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class SignIn:
    """The door before the pages."""

    slack: SlackOpenId
    outside: Outside
    attempt: Cookie
    session: Cookie

    def routes(self) -> list[Route]:
        """Where people sign in."""
        return [Route(PATH, self.begin, methods=["GET"]), Route(CALLBACK, self.finish, methods=["GET"])]

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """The same pages for members alone; whoever is not known is sent to sign in first."""
        return [Route(page.path, self._guarded(page.endpoint), methods=["GET"]) for page in pages]

    async def begin(self, request: Request) -> Response:
        """Sends the browser to Slack."""
        state, nonce = self.outside.new_key().hex(), self.outside.new_key().hex()
        fields = {"state": state, "nonce": nonce, "to": _own(request.query_params.get("to", ""))}
        return self._send(self.slack.authorize_url(state, nonce), self.attempt.set(fields, self._now))

    async def finish(self, request: Request) -> Response:
        """Where Slack sends the browser back to: shows who it is, and begins a session."""
        begun = self.attempt.read(request.cookies.get(self.attempt.name, ""), self._now)
        if begun is None or not begun["state"] or request.query_params.get("state") != begun["state"]:
            return _refused(400, "This attempt to sign in was not begun in this browser, or is too old.")
        if not (code := request.query_params.get("code", "")):
            return _refused(403, "Slack did not say who you are.")
        try:
            user = await self.slack.member(code, begun["nonce"], self._now)
        except BadRequest as error:
            return _refused(error.status, str(error))
        except TemporaryError:
            return _refused(503, "Slack cannot be asked now.")
        answer = self._send(_own(begun["to"]), self.session.set({"user": user}, self._now))
        answer.headers.append("set-cookie", self.attempt.clear())
        return answer

    async def sees(self, request: Request, event: Event) -> bool:
        """Whether who is signed in is in the channel where something private happened, by what Slack says now."""
        session = self.session.read(request.cookies.get(self.session.name, ""), self._now)
        channel = event.place.get("channel", "") if event.source == "slack" else ""
        if session is None or not channel:
            return False
        try:
            return await self.slack.is_in(channel, session.get("user", ""))
        except TemporaryError as error:
            _log.warning("nobody is shown a private run now: %s", error)
            return False

    @property
    def _now(self) -> float:
        return self.outside.clock.now()

    def _send(self, url: str, cookie: str) -> Response:
        return RedirectResponse(url, 303, {"set-cookie": cookie, "cache-control": "no-store"})

    def _guarded(self, page: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            if self.session.read(request.cookies.get(self.session.name, ""), self._now) is None:
                to = request.url.path
                if for_program(request):
                    # A page to sign in would only confuse it.
                    return PlainTextResponse("Sign in first.\n", 401)
                return RedirectResponse(f"{PATH}?{urlencode({'to': to})}", 303)
            answer = await page(request)
            answer.headers.update(_HEADERS)
            return answer

        return guarded


def sign_in(slack: SlackOpenId, outside: Outside, key: Secret) -> SignIn:
    """The door with its two cookies, made with the installation's key."""
    attempt = Cookie("__Host-gofer-sign-in", key, ATTEMPT_SECONDS)
    return SignIn(slack, outside, attempt, Cookie("__Host-gofer", key, SESSION_SECONDS))


def _own(path: str) -> str:
    return path if _OWN.fullmatch(path) else "/runs"


def _refused(status: int, why: str) -> Response:
    return HTMLResponse(f'<!doctype html><title>Sign in</title><p>{escape(why)}<p><a href="{PATH}">Sign in</a>', status)
