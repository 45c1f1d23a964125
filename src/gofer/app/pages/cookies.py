"""Cookies that only Gofer can make: signed values with an end, for one name and one stage.

A value is its JSON, until when it holds and a MAC over both under the installation's key, apart for each name and each
site. Each person can read the own cookie, so it holds ids and nothing secret.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.errors import BadRequest
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
