"""The sessions of people who signed in, and their revocation.

A session is a cookie. Each session names a *round*, and a memo in the store names the current round of each person.
Signing out starts a new round, which ends every session of the person, including one in a stolen cookie. At least every
CHECK_SECONDS, Gofer asks the system of the sign-in whether the person is still a full member.

The value of a cookie holds its fields as JSON, its expiry, and a MAC over both under the installation key. It is valid
for one cookie name and one stage. People can read their own cookies, so these hold ids and no secrets.
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
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

_LONGEST = 4_000
"""The most characters of a value, because browsers store no longer ones."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """A signed cookie that browsers send to this host only, over TLS only, and hide from scripts."""

    name: str
    """The name, which begins with `__Host-`, so that browsers accept it from this host only."""
    key: Secret
    site: str
    """The URL of the pages, which makes a cookie invalid at another stage that has the same key."""
    seconds: int
    """How long a value is valid."""

    def set(self, fields: Mapping[str, str], now: float, until: int | None = None) -> str:
        """Return the `Set-Cookie` header for a value that is valid from `now` to `until` (unix seconds)."""
        end = until
        if end is None:
            end = int(now) + self.seconds
        payload = _text(encode({"until": end, "fields": dict(fields)}))
        return self._header(f"{payload}.{self._mac('value', payload)}", max(0, end - int(now)))

    def clear(self) -> str:
        """Return the `Set-Cookie` header that deletes the cookie."""
        return self._header("", 0)

    def read(self, value: str, now: float) -> Mapping[str, str] | None:
        """Return the fields of a value that this stage signed and that is still valid, or None. Never raises."""
        payload, _, mac = value.partition(".")
        if len(value) > _LONGEST or not value.isascii() or not hmac.compare_digest(self._mac("value", payload), mac):
            return None
        try:
            sealed = as_object(decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
        except (binascii.Error, ValueError, BadRequest):
            return None
        until = sealed.get("until")
        if not isinstance(until, int) or until <= now:
            return None
        return {name: str(text) for name, text in as_object(sealed.get("fields")).items()}

    def form_token(self, payload: str) -> str:
        """Return a MAC for a form of a page, which no other site can make."""
        return self._mac("form", payload)

    def _header(self, value: str, seconds: int) -> str:
        return f"{self.name}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Lax"

    def _mac(self, use: str, payload: str) -> str:
        # Use, site and name separate these MACs from each other and from everything else made with the key.
        content = f"gofer cookie\x00{use}\x00{self.site}\x00{self.name}\x00{payload}".encode()
        return hmac.new(self.key.reveal().encode(), content, hashlib.sha256).hexdigest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


SESSION_SECONDS = 8 * 3600
"""How long a session lasts before the person has to sign in again."""
CHECK_SECONDS = 3600
"""How long a confirmation that the person is a full member is trusted."""


@dataclass(frozen=True, slots=True)
class Session:
    """One person in one browser."""

    user: str
    team: str
    round: str
    """The person's round when the session began. Empty if the person had never signed out."""
    ends: int
    """The end of the session in unix seconds."""
    checked: int
    """When the system last confirmed that the person is a full member, in unix seconds."""

    def fields(self) -> dict[str, str]:
        """Return the fields of the session's cookie."""
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
        """Return the session in the cookie of a request, without checking that it is still valid."""
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
        """Return the session of a request, or None if there is none or the person signed out.

        If the last check is too old, the system is asked again. Raises BadRequest(403) if the person is no longer a
        full member, and TemporaryError if the system or the store does not answer.
        """
        session = self.read(request)
        if session is None or session.round != await self._round(session.user):
            return None
        if session.checked + CHECK_SECONDS > self._now:
            return session
        await self.members.check_member(session.user, session.team)
        return replace(session, checked=self._now)

    def renew(self, session: Session) -> str:
        """Return the `Set-Cookie` header of a session that was checked again. The session's end does not change."""
        return self.cookie.set(session.fields(), self._now, session.ends)

    def form_token(self, session: Session) -> str:
        """Return the token that a form of a page must send back. It is the same for the whole session."""
        return self.cookie.form_token(f"{session.user} {session.round} {session.ends}")

    def wrote(self, session: Session, token: str) -> bool:
        """Return whether a form's token is that of a session."""
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
        """Return the key of the memo with a person's round. The key does not reveal the person."""
        return f"session:{Tokens(InstallationKey(self.cookie.key)).session(user)}"
