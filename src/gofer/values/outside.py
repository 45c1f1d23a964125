"""What of the outside world does a run get to see: time, ids, chance and HTTP, all passed in.

Nothing below `app` reads a clock, draws a random number or opens a connection by other means.
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
"""Seconds of a wait that a server asks for at most; a longer one counts as this."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a server answered: `headers` has lower-case names, `body` is at most the limit asked for."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after(self) -> float:
        """Seconds that the server asks to wait; 0 where it does not say, or says it as a date."""
        try:
            seconds = float(self.headers.get("retry-after", "0"))
        except ValueError:
            return 0.0
        return min(max(0.0, seconds), LONGEST_RETRY_AFTER)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request: sent once, without retries and redirects."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes = b""
    timeout: float = 15.0
    """Seconds for the whole exchange."""
    limit: int = 5_000_000
    """Bytes of the answer that are read at most."""
    public_only: bool = False
    """Whether the request may reach addresses of the public internet only; for addresses that Gofer was sent."""


class NotPublic(ToolError):
    """A request for the public internet leads into a private network; nothing of it was sent."""

    def __init__(self) -> None:
        super().__init__("That address leads into a private network, and Gofer sends nothing there.", code="elsewhere")


class TooLarge(TemporaryError):
    """An answer was larger than its reader takes; nothing of it was kept."""


class Http(Protocol):
    """The network as a tool sees it."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Return the answer to a request.

        Raises TooLarge for more than its limit, NotPublic where the request may not reach its host, TemporaryError when
        no answer came (refused, reset, timed out).
        """
        ...


class Clock(Protocol):
    """Two clocks: `now` may jump and is for people; `monotonic` never goes back and is for deadlines."""

    def now(self) -> float:
        """Return the wall clock, unix seconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some fixed moment of this process."""
        ...


class SystemClock:
    """The machine's own clocks."""

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
    """Return 64 bytes of the system's randomness: the key of one run's seal."""
    return secrets.token_bytes(64)


@dataclass(frozen=True, slots=True)
class Outside:
    """Everything a run may touch that is not its journal."""

    http: Http
    clock: Clock
    new_id: Callable[[], str]
    """Fresh unique names, used for owners and nonces."""
    random: random.Random
    new_key: Callable[[], bytes]
    """A fresh key for the seal of a run."""


_URL = re.compile(r"[a-zA-Z]+://[\w.\-\[\]:]+(/[\w.~\-/:%+=,!@&'()]*)?")
"""A base URL without what would end its path, and without a name or a pattern."""


def is_base_url(value: str) -> bool:
    """Return whether a text is the base URL of an endpoint, without a query, a user or a fragment."""
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bool(_URL.fullmatch(value))
