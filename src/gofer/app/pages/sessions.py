"""Sessions of people who signed in, and what ends one before its time.

A session is a cookie. Signing out ends every session of a person, also one in a cookie that was stolen: each session
names the *round* that it belongs to, and signing out begins a new round in a memo. The system of the sign-in is
asked at least every CHECK_SECONDS whether the person is still a full member.
"""

import hmac
from dataclasses import dataclass, replace

from starlette.requests import Request

from gofer.app.pages.cookies import Cookie
from gofer.journal.store import Store
from gofer.sources.serving import Members
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens

SESSION_SECONDS = 8 * 3600
"""After that a person signs in anew."""
CHECK_SECONDS = 3600
"""How long the word that a person is a full member is taken."""


@dataclass(frozen=True, slots=True)
class Session:
    """One person in one browser."""

    user: str
    team: str
    round: str
    """Which of the person's rounds it belongs to; empty before the first time that they signed out."""
    ends: int
    """Unix seconds."""
    checked: int
    """When the system last said that the person is a full member, unix seconds."""

    def fields(self) -> dict[str, str]:
        """Return what its cookie holds."""
        return {
            "user": self.user,
            "team": self.team,
            "round": self.round,
            "ends": str(self.ends),
            "checked": str(self.checked),
        }


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one stage."""

    cookie: Cookie
    members: Members
    store: Store
    outside: Outside

    async def begin(self, user: str, team: str) -> str:
        """Return the `Set-Cookie` header of a new session. Raises TemporaryError."""
        now = self._now
        session = Session(user=user, team=team, round=await self._round(user), ends=now + SESSION_SECONDS, checked=now)
        return self.cookie.set(session.fields(), now, session.ends)

    def read(self, request: Request) -> Session | None:
        """Return the session in the cookie of a request, as it was when the cookie was written."""
        fields = self.cookie.read(request.cookies.get(self.cookie.name, ""), self._now)
        if fields is None or not {"user", "team", "round", "ends", "checked"} <= fields.keys():
            return None
        return Session(
            user=fields["user"],
            team=fields["team"],
            round=fields["round"],
            ends=int(fields["ends"]),
            checked=int(fields["checked"]),
        )

    async def current(self, request: Request) -> Session | None:
        """Return the session of a request, or None where there is none or the person signed out.

        The system is asked anew when the last check is too old. Raises BadRequest(403) when the person is no full
        member any more, TemporaryError when the system or the store does not say.
        """
        session = self.read(request)
        if session is None or session.round != await self._round(session.user):
            return None
        if session.checked + CHECK_SECONDS > self._now:
            return session
        await self.members.check_member(session.user, session.team)
        return replace(session, checked=self._now)

    def renew(self, session: Session) -> str:
        """Return the `Set-Cookie` header of a session that was checked anew; it ends when it did."""
        return self.cookie.set(session.fields(), self._now, session.ends)

    def form_token(self, session: Session) -> str:
        """Return what a form of a page must send back: the same as long as the session lasts, and of no other one."""
        return self.cookie.form_token(f"{session.user} {session.round} {session.ends}")

    def wrote(self, session: Session, token: str) -> bool:
        """Return whether a form comes from a page that was made for a session."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode())

    async def end(self, session: Session) -> None:
        """End every session of a person. Raises TemporaryError."""
        now_ms = int(self.outside.clock.now() * 1000)
        await self.store.put_memo(self._row(session.user), self.outside.new_key().hex()[:32], now_ms)

    async def _round(self, user: str) -> str:
        return await self.store.memo(self._row(user)) or ""

    @property
    def _now(self) -> int:
        return int(self.outside.clock.now())

    def _row(self, user: str) -> str:
        """Return the key of the memo of a person's rounds, which names no person."""
        return f"session:{Tokens(self.cookie.key).session(user)}"
