"""The sign-in before the pages: full members of the workspace come in, with Slack.

Each attempt to sign in is bound to the browser that began it: its nonce stands in a cookie that is named after its
state, so that tabs may sign in at once. An attempt counts once: whatever it came to, its browser forgets it, and one
that began a session begins no other.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer.errors import BadRequest
from gofer.journal.store import Store
from gofer.local.cookies import Cookie
from gofer.local.pages import for_program
from gofer.local.sessions import SESSION_SECONDS, Session, Sessions
from gofer.local.slack_openid import AUTHORIZE, CALLBACK, SlackOpenId
from gofer.local.slack_readers import SIGN_OUT, TOKEN, SlackReaders
from gofer.local.slack_web import UNSAID, SlackRefused
from gofer.outside import Outside
from gofer.secret import Secret

PATH = "/sign-in"
ATTEMPT_SECONDS = 600
ATTEMPTS = 5
"""Attempts of one browser that are kept at once, the newest."""
_KEPT_SECONDS = 3600
"""How long a browser keeps an attempt: one that took too long still knows which page was wanted."""
_OWN = re.compile(r"/|/(runs|prompts)(/[A-Za-z0-9_-]{1,100}){0,2}", re.ASCII)
"""Where a person may be sent after signing in: one of our pages, never another site."""
_STATE = re.compile(r"[0-9a-f]{32,128}", re.ASCII)
_CODE = re.compile(r"[a-z_]{1,40}", re.ASCII)
_NAMED = 16
"""Characters of its state by which the cookie of an attempt is named."""
_FORM_BYTES = 2_000

_HEADERS: Mapping[str, str] = {
    "cache-control": "private, no-store",
    # Pages have no scripts and no pictures, stand in no frame of others, and send their one form to Gofer.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
"""What every page behind the sign-in tells browsers."""
_UNKNOWN = "This attempt to sign in was not begun in this browser, or is too old."
_AGAIN = "Slack cannot be asked now. Try again in a minute."
_MEND = "Slack refused Gofer itself ({code}), so the pages stay closed. The operator of Gofer must mend this."

_log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def _uncounted(refused: SlackRefused) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of one stage."""

    slack: SlackOpenId
    outside: Outside
    store: Store
    attempt: Cookie
    sessions: Sessions
    count: Callable[[SlackRefused], None] = _uncounted
    """Told of each refusal that the operator must mend."""

    @property
    def readers(self) -> SlackReaders:
        """The people whom the pages behind it are shown to."""
        return SlackReaders(self.sessions, self.slack.people, self.report)

    def routes(self) -> list[Route]:
        """Return where people sign in and out."""
        return [
            Route(PATH, self.begin, methods=["GET"]),
            Route(CALLBACK, self.finish, methods=["GET"]),
            Route(SIGN_OUT, self.leave, methods=["POST"]),
        ]

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """Return the same pages for members alone; a person who is not known is sent to sign in first."""
        return [Route(page.path, self._guarded(page.endpoint), methods=["GET"]) for page in pages]

    async def begin(self, request: Request) -> Response:
        """Send the browser to Slack."""
        to = _own(request.query_params.get("to", ""))
        state = self.outside.new_key().hex()
        nonce = self.outside.new_key().hex()
        try:
            url = await self.slack.authorize_url(state, nonce)
        except SlackRefused as error:
            return self._not_now(error, to)
        fields = {"state": state, "nonce": nonce, "to": to, "until": str(self._now + ATTEMPT_SECONDS)}
        answer = _send(url)
        answer.headers.append("set-cookie", self._attempt(state).set(fields, self._now))
        for name in self._surplus(request):
            answer.headers.append("set-cookie", replace(self.attempt, name=name).clear())
        return answer

    async def finish(self, request: Request) -> Response:
        """Answer the browser that Slack sent back: find out who it is, and begin a session."""
        state = request.query_params.get("state", "")
        if not _STATE.fullmatch(state):
            return _refused(400, _UNKNOWN)
        cookie = self._attempt(state)
        begun = cookie.read(request.cookies.get(cookie.name, ""), self._now)
        if begun is None or begun["state"] != state:
            return _refused(400, _UNKNOWN)
        answer = await self._finished(request, begun)
        answer.headers.append("set-cookie", cookie.clear())
        return answer

    async def leave(self, request: Request) -> Response:
        """End the sessions of a person who pressed `Sign out` on one of our pages."""
        session = self.sessions.read(request)
        if session is not None:
            form = parse_qs((await request.body())[:_FORM_BYTES].decode("ascii", "replace"))
            expected = self.sessions.cookie.form_token(self.sessions.value(request))
            origin = request.headers.get("origin", self.slack.pages_url)
            if form.get(TOKEN) != [expected] or origin != self.slack.pages_url:
                return _refused(403, "Gofer signs you out when you press `Sign out` on one of its pages.", "/runs")
            await self.sessions.end(session)
        answer = _said(200, "You are signed out, in every browser.", "/runs")
        answer.headers.append("set-cookie", self.sessions.cookie.clear())
        return answer

    def report(self, refused: SlackRefused) -> None:
        """Log a refusal of Slack, and count one that the operator must mend. It names no person and no token."""
        fields = {"system": "Slack", "path": refused.call, "code": refused.code}
        if refused.remedy:
            _log.error("%s: %s.", refused, refused.remedy, extra={"fields": fields})
            self.count(refused)
        else:
            _log.warning("%s", refused, extra={"fields": fields})

    async def _finished(self, request: Request, begun: Mapping[str, str]) -> Response:
        """Return what an attempt came to."""
        to = _own(begun["to"])
        if int(begun["until"]) <= self._now:
            return _refused(400, "This attempt to sign in took too long.", to)
        if error := request.query_params.get("error", ""):
            return self._declined(error, to)
        if not (code := request.query_params.get("code", "")):
            return _refused(403, "Slack did not say who you are.", to)
        try:
            user, team = await self.slack.member(code, begun["nonce"], self._now)
        except BadRequest as error:
            return _refused(error.status, str(error), to)
        except SlackRefused as error:
            return self._not_now(error, to)
        # Claimed only now: strangers write nothing.
        if not await self._claim(begun["state"]):
            return _refused(401, "This attempt to sign in was finished before.", to)
        answer = _send(to)
        answer.headers.append("set-cookie", await self.sessions.begin(user, team))
        return answer

    async def _claim(self, state: str) -> bool:
        """Take an attempt; False when it was taken before."""
        mine = self.outside.new_id()
        return await self.store.exchange_memo(f"sign-in:{state}", None, mine, self._now * 1000) == mine

    def _declined(self, error: str, to: str) -> Response:
        """Answer a person whom Slack sent back without a code."""
        if error == "access_denied":
            return _refused(403, "Slack did not say who you are, because you did not allow it.", to)
        if not _CODE.fullmatch(error):
            return self._not_now(SlackRefused(AUTHORIZE, UNSAID), to)
        return self._not_now(SlackRefused(AUTHORIZE, error), to)

    def _not_now(self, refused: SlackRefused, to: str) -> Response:
        """Report that Slack did not do its part, and say who must act."""
        self.report(refused)
        if refused.remedy:
            return _refused(503, _MEND.format(code=refused.code), to)
        return _refused(503, _AGAIN, to)

    def _attempt(self, state: str) -> Cookie:
        return replace(self.attempt, name=f"{self.attempt.name}-{state[:_NAMED]}")

    def _surplus(self, request: Request) -> Sequence[str]:
        """Return the names of cookies of attempts that one more leaves no room for: the oldest, and unreadable ones."""
        kept = [name for name in request.cookies if name.startswith(f"{self.attempt.name}-")]
        ends: dict[str, int] = {}
        for name in kept:
            if begun := replace(self.attempt, name=name).read(request.cookies[name], self._now):
                ends[name] = int(begun["until"])
        newest = sorted(ends, key=lambda name: ends[name], reverse=True)[: ATTEMPTS - 1]
        return [name for name in kept if name not in newest]

    @property
    def _now(self) -> int:
        return int(self.outside.clock.now())

    def _guarded(self, page: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            to = _own(request.url.path)
            try:
                session = await self.sessions.current(request)
                if session is None:
                    return _sign_in_first(request, to)
                answer = await page(request)
            except BadRequest as error:
                # Who is no full member any more has no session either.
                answer = _turned_away(request, error.status, f"{error} You are signed out.", to)
                answer.headers.append("set-cookie", self.sessions.cookie.clear())
                return answer
            except SlackRefused as error:
                refused = self._not_now(error, to)
                if for_program(request):
                    return PlainTextResponse("Slack cannot be asked now.\n", 503)
                return refused
            self._renew(request, session, answer)
            answer.headers.update(_HEADERS)
            return answer

        return guarded

    def _renew(self, request: Request, session: Session, answer: Response) -> None:
        if session != self.sessions.read(request):
            answer.headers.append("set-cookie", self.sessions.renew(session))


def sign_in(
    slack: SlackOpenId,
    outside: Outside,
    store: Store,
    key: Secret,
    count: Callable[[SlackRefused], None] = _uncounted,
) -> SignIn:
    """Return the sign-in with its cookies, made with the installation's key."""
    attempt = Cookie("__Host-gofer-sign-in", key, slack.pages_url, _KEPT_SECONDS)
    session = Cookie("__Host-gofer", key, slack.pages_url, SESSION_SECONDS)
    return SignIn(slack, outside, store, attempt, Sessions(session, slack.people, store, outside), count)


def _own(path: str) -> str:
    return path if _OWN.fullmatch(path) else "/runs"


def _send(url: str) -> Response:
    return RedirectResponse(url, 303, {"cache-control": "no-store"})


def _sign_in_first(request: Request, to: str) -> Response:
    if for_program(request):
        # A page to sign in would only confuse it.
        return PlainTextResponse("Sign in first.\n", 401)
    return RedirectResponse(f"{PATH}?{urlencode({'to': to})}", 303)


def _turned_away(request: Request, status: int, why: str, to: str) -> Response:
    if for_program(request):
        return PlainTextResponse(f"{why}\n", status)
    return _refused(status, why, to)


def _refused(status: int, why: str, to: str = "/runs") -> Response:
    return _said(status, why, to)


def _said(status: int, why: str, to: str) -> Response:
    link = f"{PATH}?{urlencode({'to': to})}"
    page = f'<!doctype html><title>Sign in</title><p>{escape(why)}<p><a href="{escape(link)}">Sign in</a>'
    return HTMLResponse(page, status, _HEADERS)
