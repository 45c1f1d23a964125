"""The outside world as a run sees it: time, ids, random numbers and HTTP, all passed in.

No room below `app` reads a clock, draws a random number or opens a connection by other means.
"""

import random
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from gofer.values.errors import TemporaryError, ToolError

LONGEST_RETRY_AFTER = 86_400.0
"""The longest wait in seconds that a server may ask for; a longer one is shortened to this."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A server's response. `headers` has lower-case names; `body` is no longer than the limit of the request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after(self) -> float:
        """The wait in seconds that the server asks for; 0 if it names none, or names a date."""
        try:
            seconds = float(self.headers.get("retry-after", "0"))
        except ValueError:
            return 0.0
        return min(max(0.0, seconds), LONGEST_RETRY_AFTER)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request, sent once without retries or redirects."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes = b""
    timeout: float = 15.0
    """The seconds for the whole exchange."""
    limit: int = 5_000_000
    """The most bytes of the response that are read."""
    public_only: bool = False
    """Whether only public addresses may be reached; for URLs that Gofer received from outside."""


class NotPublic(ToolError):
    """A public-only request to a host in a private network. The request was not sent."""

    def __init__(self) -> None:
        super().__init__("That address is in a private network, and Gofer sends no requests there.", code="elsewhere")


class BadUrl(ToolError):
    """A request with a URL that cannot be requested, such as one that is too long. The request was not sent."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Nothing was sent, because that URL cannot be requested: {reason}", code="bad_url")


class TooLarge(TemporaryError):
    """A response larger than the limit of its request. None of its bytes were kept."""


class Http(Protocol):
    """The network as a tool sees it."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request.

        Raises TooLarge if the response exceeds the limit of the request, NotPublic if the request may not reach the
        host, BadUrl if there can be no such request, TemporaryError if no response arrived (refused, reset, timed out).
        """
        ...


class Clock(Protocol):
    """Two clocks. `now` is for people and may jump. `monotonic` is for deadlines and never goes back."""

    def now(self) -> float:
        """Return the wall clock, unix seconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some fixed moment of this process."""
        ...


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> float:
        """Return the wall clock, unix seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds since some fixed moment of this process."""
        return time.monotonic()


def random_id() -> str:
    """Return 16 hexadecimal digits, drawn from the system's randomness."""
    return secrets.token_hex(8)


def random_key() -> bytes:
    """Return 64 bytes of the system's randomness, the key of one run's seal."""
    return secrets.token_bytes(64)


@dataclass(frozen=True, slots=True)
class Outside:
    """The outside world of one run: everything it may use except its journal."""

    http: Http
    clock: Clock
    new_id: Callable[[], str]
    """Returns a new unique id, for an owner or a nonce."""
    random: random.Random
    new_key: Callable[[], bytes]
    """Returns a new key for the seal of a run."""


_URL = re.compile(r"[a-zA-Z]+://[\w.\-\[\]:]+(/[\w.~\-/:%+=,!@&'()]*)?")
"""A base URL without query, fragment, user name or wildcard."""


def is_base_url(value: str) -> bool:
    """Return whether a text is the base URL of an endpoint, without a query, a user or a fragment."""
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bool(_URL.fullmatch(value))
