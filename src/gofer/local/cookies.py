"""What did we ourselves write into a browser, and is it still good? Cookies that nobody else can make.

A value is its JSON, until when it holds and a MAC over both under the installation's key, apart for each name. Whoever
has the cookie can read it, so it holds ids and nothing secret.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.canonical import as_object, decode, encode
from gofer.errors import BadRequest
from gofer.secret import Secret

_LONGEST = 4_000
"""Characters of a value at most, as browsers keep them."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie of a name, for this host alone, over TLS alone, out of scripts' sight."""

    name: str
    """Begins with `__Host-`, so that browsers take it from this host only."""
    key: Secret
    seconds: int
    """How long a value is good."""

    def set(self, fields: Mapping[str, str], now: float) -> str:
        """The `Set-Cookie` header for a value that is good from `now` (unix seconds) on."""
        said = _text(encode({"until": int(now) + self.seconds, "fields": dict(fields)}))
        return self._header(f"{said}.{self._mac(said)}", self.seconds)

    def clear(self) -> str:
        """The `Set-Cookie` header that takes it away."""
        return self._header("", 0)

    def read(self, value: str, now: float) -> Mapping[str, str] | None:
        """What we wrote, if we wrote it and it is still good; nothing a browser sends raises."""
        said, _, mac = value.partition(".")
        if len(value) > _LONGEST or not value.isascii() or not hmac.compare_digest(self._mac(said), mac):
            return None
        try:
            sealed = as_object(decode(base64.urlsafe_b64decode(said + "=" * (-len(said) % 4))))
        except (binascii.Error, ValueError, BadRequest):
            return None
        until = sealed.get("until")
        if not isinstance(until, int) or until <= now:
            return None
        return {name: str(text) for name, text in as_object(sealed.get("fields")).items()}

    def _header(self, value: str, seconds: int) -> str:
        return f"{self.name}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Lax"

    def _mac(self, said: str) -> str:
        # The name keeps the cookies apart from each other and from everything else that is made with the key.
        told = f"gofer cookie\x00{self.name}\x00{said}".encode()
        return hmac.new(self.key.reveal().encode(), told, hashlib.sha256).hexdigest()


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
