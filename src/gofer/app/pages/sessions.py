"""Sessions of people who signed in, and what ends one before its time.

A session is a cookie. Signing out ends every session of a person, also one in a cookie that was stolen: each session
names the *round* that it belongs to, and signing out begins a new round in a memo. The system of the sign-in is
asked at least every CHECK_SECONDS whether the person is still a full member.

A cookie holds signed values with an end, for one name and one stage: its JSON, until when it holds, and a MAC over both
under the installation's key. Each person can read the own cookie, so it holds ids and nothing secret.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from starlette.requests import Request

from gofer.journal.store import Store
from gofer.sources.serving import Members
from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.errors import BadRequest
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

_LONGEST = 4_000
"""Characters of a value at most, as browsers keep them."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie of a name, for this host alone, over TLS alone, out of scripts' sight."""

    name: str
    """Begins with `__Host-`, so that browsers take it from this host only."""
    key: Secret
    site: str
    """The URL of the pages: the cookie of one stage is none of another, which may have the same key."""
    seconds: int
    """How long a value is good."""

    def set(self, fields: Mapping[str, str], now: float, until: int | None = None) -> str:
        """Return the `Set-Cookie` header for a value that is good from `now` to `until` (unix seconds)."""
        end = int(now) + self.seconds if until is None else until
        said = _text(encode({"until": end, "fields": dict(fields)}))
        return self._header(f"{said}.{self._mac('value', said)}", max(0, end - int(now)))

    def clear(self) -> str:
        """Return the `Set-Cookie` header that takes it away."""
        return self._header("", 0)

    def read(self, value: str, now: float) -> Mapping[str, str] | None:
        """Return the fields of a value that this stage made and that is still good; no value raises."""
        said, _, mac = value.partition(".")
        if len(value) > _LONGEST or not value.isascii() or not hmac.compare_digest(self._mac("value", said), mac):
            return None
        try:
            sealed = as_object(decode(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4))))
        except (binascii.Error, ValueError, BadRequest):
            return None
        until = sealed.get("until")
        if not isinstance(until, int) or until <= now:
            return None
        return {name: str(text) for name, text in as_object(sealed.get("fields")).items()}

    def form_token(self, said: str) -> str:
        """Return a MAC for a form of a page, which no other site can write."""
        return self._mac("form", said)

    def _header(self, value: str, seconds: int) -> str:
        return f"{self.name}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Lax"

    def _mac(self, use: str, said: str) -> str:
        # Name, site and use keep the MACs apart from each other and from everything else that is made with the key.
        told = f"gofer cookie\x00{use}\x00{self.site}\x00{self.name}\x00{said}".encode()
        return hmac.new(self.key.reveal().encode(), told, hashlib.sha256).hexdigest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


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
        return {name: str(value) for name, value in asdict(self).items()}


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
