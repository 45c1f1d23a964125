"""Attempts to sign in: each bound to the browser that began it, by a cookie that is named after its state."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request

from gofer.app.pages.cookies import Cookie
from gofer.journal.store import Store
from gofer.values.outside import Outside

ATTEMPT_SECONDS = 600
ATTEMPTS = 5
"""Attempts of one browser that are kept at once, the newest: each tab has its own."""
KEPT_SECONDS = 3600
"""How long a browser keeps an attempt: one that took too long still knows which page was wanted."""
_STATE = re.compile(r"[0-9a-f]{32,128}", re.ASCII)
_NAMED = 16
"""Characters of its state by which the cookie of an attempt is named."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in."""

    state: str
    nonce: str
    to: str
    """The page that was wanted."""
    until: int
    """Unix seconds after which it took too long."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of all browsers; a store knows those that began a session."""

    cookie: Cookie
    """The cookie of an attempt, but for the end of its name."""
    store: Store
    outside: Outside

    def begin(self, to: str) -> Attempt:
        """Return a new attempt to reach a page."""
        state = self.outside.new_key().hex()
        nonce = self.outside.new_key().hex()
        return Attempt(state=state, nonce=nonce, to=to, until=self._now + ATTEMPT_SECONDS)

    def keep(self, attempt: Attempt, request: Request) -> list[str]:
        """Return the `Set-Cookie` headers that keep one more attempt in a browser, and as many as fit beside it."""
        fields = {"state": attempt.state, "nonce": attempt.nonce, "to": attempt.to, "until": str(attempt.until)}
        surplus = [replace(self.cookie, name=name).clear() for name in self._surplus(request)]
        return [self._named(attempt.state).set(fields, self._now), *surplus]

    def read(self, request: Request) -> Attempt | None:
        """Return the attempt that a browser comes back with, if it began there."""
        state = request.query_params.get("state", "")
        if not _STATE.fullmatch(state):
            return None
        cookie = self._named(state)
        fields = cookie.read(request.cookies.get(cookie.name, ""), self._now)
        if fields is None or fields["state"] != state:
            return None
        return Attempt(state=state, nonce=fields["nonce"], to=fields["to"], until=int(fields["until"]))

    def is_late(self, attempt: Attempt) -> bool:
        """Return whether an attempt took too long."""
        return attempt.until <= self._now

    def forget(self, attempt: Attempt) -> str:
        """Return the `Set-Cookie` header that takes an attempt from its browser."""
        return self._named(attempt.state).clear()

    async def claim(self, attempt: Attempt) -> bool:
        """Take an attempt for one session; False when it was taken before. Raises TemporaryError."""
        mine = self.outside.new_id()
        return await self.store.exchange_memo(f"sign-in:{attempt.state}", None, mine, self._now * 1000) == mine

    def _named(self, state: str) -> Cookie:
        return replace(self.cookie, name=f"{self.cookie.name}-{state[:_NAMED]}")

    def _surplus(self, request: Request) -> Sequence[str]:
        """Return the names of cookies of attempts that one more leaves no room for: the oldest, and unreadable ones."""
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
