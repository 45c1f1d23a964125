"""The sign-in that guards the pages. Only full members of the company's workspace may see them.

Each attempt to sign in is bound to the browser that began it, by a nonce in a cookie. The name of the cookie comes from
the state of the attempt, so several tabs may sign in at the same time. An attempt can start one session only, and its
cookie is deleted when it ends.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer.app.pages.page_frame import HEADERS, for_program
from gofer.app.pages.sessions import SESSION_SECONDS, Cookie, Session, Sessions
from gofer.app.pages.signed_in_readers import SIGN_OUT, TOKEN, SignedInReaders
from gofer.journal.store import Store
from gofer.sources.serving import CALLBACK, Identities, PageRefused
from gofer.values.errors import BadRequest
from gofer.values.outside import Outside
from gofer.values.secret import Secret

ATTEMPT_SECONDS = 600
ATTEMPTS = 5
"""The most attempts that a browser keeps. Each tab has its own, and the newest ones stay."""
KEPT_SECONDS = 3600
"""How long a browser keeps an attempt. This exceeds ATTEMPT_SECONDS, so a late attempt still knows the wanted page."""
_STATE = re.compile(r"[0-9a-f]{32,128}", re.ASCII)
_NAMED = 16
"""The number of characters of an attempt's state in the name of its cookie."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in."""

    state: str
    nonce: str
    to: str
    """The path of the page to show after the sign-in."""
    until: int
    """The deadline of the attempt in unix seconds."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of all browsers. The store records the attempts that started a session."""

    cookie: Cookie
    """The cookie of an attempt, without the suffix of its name."""
    store: Store
    outside: Outside

    def begin(self, to: str) -> Attempt:
        """Return a new attempt to reach a page."""
        state = self.outside.new_key().hex()
        nonce = self.outside.new_key().hex()
        return Attempt(state=state, nonce=nonce, to=to, until=self._now + ATTEMPT_SECONDS)

    def keep(self, attempt: Attempt, request: Request) -> list[str]:
        """Return the `Set-Cookie` headers that add an attempt to a browser and delete its surplus attempts."""
        fields = {"state": attempt.state, "nonce": attempt.nonce, "to": attempt.to, "until": str(attempt.until)}
        surplus = [replace(self.cookie, name=name).clear() for name in self._surplus(request)]
        return [self._named(attempt.state).set(fields, self._now), *surplus]

    def read(self, request: Request) -> Attempt | None:
        """Return the attempt that a browser comes back with, or None if this browser did not begin it."""
        state = request.query_params.get("state", "")
        if not _STATE.fullmatch(state):
            return None
        cookie = self._named(state)
        fields = cookie.read(request.cookies.get(cookie.name, ""), self._now)
        if fields is None or fields["state"] != state:
            return None
        return Attempt(state=state, nonce=fields["nonce"], to=fields["to"], until=int(fields["until"]))

    def is_late(self, attempt: Attempt) -> bool:
        """Return whether an attempt is past its deadline."""
        return attempt.until <= self._now

    def forget(self, attempt: Attempt) -> str:
        """Return the `Set-Cookie` header that deletes an attempt from its browser."""
        return self._named(attempt.state).clear()

    async def claim(self, attempt: Attempt) -> bool:
        """Claim an attempt for one session. Return False if it was claimed before. Raises TemporaryError."""
        mine = self.outside.new_id()
        return await self.store.exchange_memo(f"sign-in:{attempt.state}", None, mine, self._now * 1000) == mine

    def _named(self, state: str) -> Cookie:
        return replace(self.cookie, name=f"{self.cookie.name}-{state[:_NAMED]}")

    def _surplus(self, request: Request) -> Sequence[str]:
        """Return the names of the cookies to delete for a new attempt: the oldest ones, and unreadable ones."""
        kept = [name for name in request.cookies if name.startswith(f"{self.cookie.name}-")]
        ends: dict[str, int] = {}
        for name in kept:
            if fields := replace(self.cookie, name=name).read(request.cookies[name], self._now):
                ends[name] = int(fields["until"])
        newest = sorted(ends, key=lambda name: ends[name], reverse=True)[: ATTEMPTS - 1]
        return [name for name in kept if name not in newest]

    @property
    def _now(self) -> int:
        return int(self.outside.clock.now())


PATH = "/sign-in"
_OWN = re.compile(r"/|/(runs|prompts)(/[A-Za-z0-9_-]{1,100}){0,2}", re.ASCII)
"""The paths that a person may be sent to after signing in: Gofer's pages, and never another site."""
_FORM_BYTES = 2_000

_AGAIN = "Gofer could not learn from {system} what you may see ({code}). Try again in a minute."
_MEND = "{system} refused Gofer's own access ({code}), so Gofer cannot show its pages. The operator must fix this."

_log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def _uncounted(refused: PageRefused) -> None:
    """Ignore a refusal."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of one stage."""

    identities: Identities
    outside: Outside
    attempts: Attempts
    sessions: Sessions
    count: Callable[[PageRefused], None] = _uncounted
    """Called with each refusal that the operator must act on."""

    @property
    def readers(self) -> SignedInReaders:
        """Return the readers for the pages behind the sign-in."""
        return SignedInReaders(self.sessions, self.identities.members, self.report, self._is_ours)

    def routes(self) -> list[Route]:
        """Return the routes to sign in and out."""
        return [
            Route(PATH, self.begin, methods=["GET"]),
            Route(CALLBACK, self.finish, methods=["GET"]),
            Route(SIGN_OUT, self.leave, methods=["POST"]),
        ]

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """Return the same pages for members only. A person without a session is sent to sign in first."""
        return [Route(page.path, self._guarded(page.endpoint), methods=page.methods or ["GET"]) for page in pages]

    async def begin(self, request: Request) -> Response:
        """Redirect the browser to the system in which people sign in."""
        attempt = self.attempts.begin(_own(request.query_params.get("to", "")))
        try:
            url = await self.identities.authorize_url(attempt.state, attempt.nonce)
        except PageRefused as error:
            return self._not_now(error, attempt.to)
        answer = _send(url)
        for cookie in self.attempts.keep(attempt, request):
            answer.headers.append("set-cookie", cookie)
        return answer

    async def finish(self, request: Request) -> Response:
        """Identify the person whom the system sent back, and start a session."""
        attempt = self.attempts.read(request)
        if attempt is None:
            return _refused(400, "This sign-in was not started in this browser, or it is too old. Sign in again.")
        answer = await self._finished(request, attempt)
        answer.headers.append("set-cookie", self.attempts.forget(attempt))
        return answer

    async def leave(self, request: Request) -> Response:
        """End the sessions of a person who pressed `Sign out` on a page of Gofer."""
        session = self.sessions.read(request)
        if session is not None:
            form = parse_qs((await request.body())[:_FORM_BYTES].decode("ascii", "replace"))
            (token,) = form.get(TOKEN, [""])[:1]
            if not self._is_ours(request) or not self.sessions.wrote(session, token):
                return _refused(403, "You are not signed out. Press `Sign out` on one of Gofer's pages.", "/runs")
            await self.sessions.end(session)
        answer = _message_page(200, "You are signed out in all browsers.", "/runs")
        answer.headers.append("set-cookie", self.sessions.cookie.clear())
        return answer

    def report(self, refused: PageRefused) -> None:
        """Log a refusal without person and token, and count it if the operator must act."""
        fields = {"system": refused.system, "path": refused.call, "code": refused.code}
        if refused.remedy:
            _log.error("%s: %s.", refused, refused.remedy, extra={"fields": fields})
            self.count(refused)
        else:
            _log.warning("%s", refused, extra={"fields": fields})

    async def _finished(self, request: Request, attempt: Attempt) -> Response:
        to = _own(attempt.to)
        if self.attempts.is_late(attempt):
            return _refused(400, "This sign-in took too long. Sign in again.", to)
        if error := request.query_params.get("error", ""):
            return self._declined(error, to)
        if not (code := request.query_params.get("code", "")):
            return _refused(403, f"{self.identities.system} did not tell Gofer who you are. Sign in again.", to)
        try:
            user, team = await self.identities.member(code, attempt.nonce, self.outside.clock.now())
        except BadRequest as error:
            return _refused(error.status, str(error), to)
        except PageRefused as error:
            return self._not_now(error, to)
        # The attempt is claimed only now, so that strangers cannot write into the store.
        if not await self.attempts.claim(attempt):
            return _refused(401, "This sign-in was already used. Sign in again.", to)
        answer = _send(to)
        answer.headers.append("set-cookie", await self.sessions.begin(user, team))
        return answer

    def _declined(self, error: str, to: str) -> Response:
        """Return the page for a person whom the system sent back with an error."""
        system = self.identities.system
        if error == "access_denied":
            return _refused(403, f"{system} did not tell Gofer who you are, because you did not allow it.", to)
        # Anyone can open this URL with any error, so the error is not logged and raises no alarm.
        path = self.identities.authorize_path
        _log.warning("%s refused %s", system, path, extra={"fields": {"system": system, "path": path}})
        return _refused(403, f"{system} refused to sign you in. If this happens again, tell the operator of Gofer.", to)

    def _not_now(self, refused: PageRefused, to: str) -> Response:
        """Report a refusal of the system, and return the page that says who must act."""
        self.report(refused)
        return _refused(503, _sentence(refused), to)

    def _is_ours(self, request: Request) -> bool:
        """Return whether the browser names no other site as the origin of a form."""
        parts = urlsplit(self.identities.pages_url)
        own = f"{parts.scheme}://{parts.netloc}"
        return request.headers.get("origin", own).casefold() == own.casefold()

    def _guarded(self, page: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            to = _own(request.url.path.removesuffix("/feedback"))
            try:
                session = await self.sessions.current(request)
                if session is None:
                    return _sign_in_first(request, to)
                answer = await page(request)
            except BadRequest as error:
                # A person who is no longer a full member loses the session.
                answer = _turned_away(request, error.status, f"{error} You are signed out.", to)
                answer.headers.append("set-cookie", self.sessions.cookie.clear())
                return answer
            except PageRefused as error:
                refused = self._not_now(error, to)
                if for_program(request):
                    return PlainTextResponse(f"{_sentence(error)}\n", 503)
                return refused
            self._renew(request, session, answer)
            answer.headers.update(HEADERS)
            return answer

        return guarded

    def _renew(self, request: Request, session: Session, answer: Response) -> None:
        if session != self.sessions.read(request):
            answer.headers.append("set-cookie", self.sessions.renew(session))


def _sentence(refused: PageRefused) -> str:
    """Return what a refusal means to a reader, and who must act."""
    if refused.remedy:
        return _MEND.format(system=refused.system, code=refused.code)
    return _AGAIN.format(system=refused.system, code=refused.code)


def sign_in(
    identities: Identities,
    outside: Outside,
    store: Store,
    key: Secret,
    count: Callable[[PageRefused], None] = _uncounted,
) -> SignIn:
    """Return the sign-in, with cookies signed under the installation key."""
    attempts = Attempts(Cookie("__Host-gofer-sign-in", key, identities.pages_url, KEPT_SECONDS), store, outside)
    session = Cookie("__Host-gofer", key, identities.pages_url, SESSION_SECONDS)
    return SignIn(identities, outside, attempts, Sessions(session, identities.members, store, outside), count)


def _own(path: str) -> str:
    if _OWN.fullmatch(path):
        return path
    return "/runs"


def _send(url: str) -> Response:
    return RedirectResponse(url, 303, {"cache-control": "no-store"})


def _sign_in_first(request: Request, to: str) -> Response:
    if for_program(request):
        # A program cannot use the sign-in page.
        return PlainTextResponse("Sign in first.\n", 401)
    return RedirectResponse(f"{PATH}?{urlencode({'to': to})}", 303)


def _turned_away(request: Request, status: int, reason: str, to: str) -> Response:
    if for_program(request):
        return PlainTextResponse(f"{reason}\n", status)
    return _refused(status, reason, to)


def _refused(status: int, reason: str, to: str = "/runs") -> Response:
    return _message_page(status, reason, to)


def _message_page(status: int, message: str, to: str) -> Response:
    link = f"{PATH}?{urlencode({'to': to})}"
    page = f'<!doctype html><title>Sign in</title><p>{escape(message)}<p><a href="{escape(link)}">Sign in</a>'
    return HTMLResponse(page, status, HEADERS)
