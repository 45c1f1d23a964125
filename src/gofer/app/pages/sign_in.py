"""The sign-in before the pages: full members of the company's workspace come in.

Each attempt to sign in is bound to the browser that began it: its nonce stands in a cookie that is named after its
state, so that tabs may sign in at once. An attempt counts once: its browser forgets it when it ends, and one
that began a session begins no other.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer.app.pages.cookies import Cookie
from gofer.app.pages.page_headers import HEADERS
from gofer.app.pages.run_pages import for_program
from gofer.app.pages.sessions import SESSION_SECONDS, Session, Sessions
from gofer.app.pages.sign_in_attempts import KEPT_SECONDS, Attempt, Attempts
from gofer.app.pages.signed_in_readers import SIGN_OUT, TOKEN, SignedInReaders
from gofer.journal.store import Store
from gofer.sources.serving import CALLBACK, Identities, PageRefused
from gofer.values.errors import BadRequest
from gofer.values.outside import Outside
from gofer.values.secret import Secret

PATH = "/sign-in"
_OWN = re.compile(r"/|/(runs|prompts)(/[A-Za-z0-9_-]{1,100}){0,2}", re.ASCII)
"""Where a person may be sent after signing in: one of our pages, never another site."""
_FORM_BYTES = 2_000

_AGAIN = "{system} does not say now what you may see ({code}). Try again in a minute."
_MEND = "{system} refused Gofer itself ({code}), so the pages stay closed. The operator of Gofer must mend this."

_log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def _uncounted(refused: PageRefused) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of one stage."""

    identities: Identities
    outside: Outside
    attempts: Attempts
    sessions: Sessions
    count: Callable[[PageRefused], None] = _uncounted
    """Told of each refusal that the operator must mend."""

    @property
    def readers(self) -> SignedInReaders:
        """The people whom the pages behind it are shown to."""
        return SignedInReaders(self.sessions, self.identities.members, self.report)

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
        """Send the browser to the system in which people sign in."""
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
        """Answer the browser that the system sent back: find out who it is, and begin a session."""
        attempt = self.attempts.read(request)
        if attempt is None:
            return _refused(400, "This attempt to sign in was not begun in this browser, or is too old.")
        answer = await self._finished(request, attempt)
        answer.headers.append("set-cookie", self.attempts.forget(attempt))
        return answer

    async def leave(self, request: Request) -> Response:
        """End the sessions of a person who pressed `Sign out` on one of our pages."""
        session = self.sessions.read(request)
        if session is not None:
            form = parse_qs((await request.body())[:_FORM_BYTES].decode("ascii", "replace"))
            (token,) = form.get(TOKEN, [""])[:1]
            if not self._is_ours(request) or not self.sessions.wrote(session, token):
                return _refused(403, "Gofer signs you out when you press `Sign out` on one of its pages.", "/runs")
            await self.sessions.end(session)
        answer = _said(200, "You are signed out, in every browser.", "/runs")
        answer.headers.append("set-cookie", self.sessions.cookie.clear())
        return answer

    def report(self, refused: PageRefused) -> None:
        """Log a refusal, and count one that the operator must mend. It names no person and no token."""
        fields = {"system": refused.system, "path": refused.call, "code": refused.code}
        if refused.remedy:
            _log.error("%s: %s.", refused, refused.remedy, extra={"fields": fields})
            self.count(refused)
        else:
            _log.warning("%s", refused, extra={"fields": fields})

    async def _finished(self, request: Request, attempt: Attempt) -> Response:
        """Return what an attempt came to."""
        to = _own(attempt.to)
        if self.attempts.is_late(attempt):
            return _refused(400, "This attempt to sign in took too long.", to)
        if error := request.query_params.get("error", ""):
            return self._declined(error, to)
        if not (code := request.query_params.get("code", "")):
            return _refused(403, f"{self.identities.system} did not say who you are.", to)
        try:
            user, team = await self.identities.member(code, attempt.nonce, self.outside.clock.now())
        except BadRequest as error:
            return _refused(error.status, str(error), to)
        except PageRefused as error:
            return self._not_now(error, to)
        # Claimed only now: strangers write nothing.
        if not await self.attempts.claim(attempt):
            return _refused(401, "This attempt to sign in was finished before.", to)
        answer = _send(to)
        answer.headers.append("set-cookie", await self.sessions.begin(user, team))
        return answer

    def _declined(self, error: str, to: str) -> Response:
        """Answer a person whom the system sent back without a code."""
        system = self.identities.system
        if error == "access_denied":
            return _refused(403, f"{system} did not say who you are, because you did not allow it.", to)
        # A browser says so, and any person can write an address: it is kept out of the log, and alarms no operator.
        path = self.identities.authorize_path
        _log.warning("%s refused %s", system, path, extra={"fields": {"system": system, "path": path}})
        return _refused(403, f"{system} refused to sign you in. If it goes on, tell the operator of Gofer.", to)

    def _not_now(self, refused: PageRefused, to: str) -> Response:
        """Report that the system did not do its part, and say who must act."""
        self.report(refused)
        if refused.remedy:
            return _refused(503, _MEND.format(system=refused.system, code=refused.code), to)
        return _refused(503, _AGAIN.format(system=refused.system, code=refused.code), to)

    def _is_ours(self, request: Request) -> bool:
        """Return whether a form was not sent by a page of another site, as far as the browser says it."""
        parts = urlsplit(self.identities.pages_url)
        own = f"{parts.scheme}://{parts.netloc}"
        return request.headers.get("origin", own).casefold() == own.casefold()

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
            except PageRefused as error:
                refused = self._not_now(error, to)
                if for_program(request):
                    return PlainTextResponse(f"{error.system} does not say now what you may see.\n", 503)
                return refused
            self._renew(request, session, answer)
            answer.headers.update(HEADERS)
            return answer

        return guarded

    def _renew(self, request: Request, session: Session, answer: Response) -> None:
        if session != self.sessions.read(request):
            answer.headers.append("set-cookie", self.sessions.renew(session))


def sign_in(
    identities: Identities,
    outside: Outside,
    store: Store,
    key: Secret,
    count: Callable[[PageRefused], None] = _uncounted,
) -> SignIn:
    """Return the sign-in with its cookies, made with the installation's key."""
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
    return HTMLResponse(page, status, HEADERS)
