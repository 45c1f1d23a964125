"""What of the outside world does a run get to see: time, ids, chance and HTTP, all passed in.

Nothing below `bootstrap` reads a clock, draws a random number or opens a connection by other means.
"""

import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a server answered: `headers` has lower-case names, `body` is at most the limit asked for."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Http(Protocol):
    """One HTTP request. Raises TemporaryError when no answer came (refused, reset, timed out)."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        timeout: float,
        limit: int = 5_000_000,
    ) -> HttpResponse:
        """Sends once, without retries or redirects. `timeout` is seconds for the whole exchange."""
        ...


class Clock(Protocol):
    """Two clocks: `now` may jump and is for people; `monotonic` never goes back and is for deadlines."""

    def now(self) -> float:
        """Wall clock, unix seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment of this process."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> float:
        """Wall clock, unix seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some fixed moment of this process."""
        return time.monotonic()


def random_id() -> str:
    """16 hexadecimal digits, drawn from the system's randomness."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Outside:
    """Everything a run may touch that is not its journal."""

    http: Http
    clock: Clock
    new_id: Callable[[], str]
    """Fresh unique names, used for owners and nonces."""
    random: random.Random
