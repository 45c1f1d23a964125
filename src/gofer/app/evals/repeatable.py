"""A repeatable world for the plays of a case: time, ids, keys and random numbers follow from the file and the case.

Two plays of a case therefore send the same bytes to a model, as long as the model answers the same.
"""

import asyncio
import hashlib
import random
from dataclasses import dataclass, field

from typing_extensions import override

from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Clock, Http, Outside, SystemClock
from gofer.values.secret import Secret


class VirtualClock(Clock):
    """A clock that stands still, except for the waits of a run and for the durations that answers had.

    Durations move only `monotonic`, which no request contains, so that a slow answer changes no later request.
    """

    def __init__(self, begin: float, *, really_waits: bool = False) -> None:
        """Begin at `begin`, in unix seconds. With `really_waits`, `sleep` also takes its time."""
        self._begin = begin
        self._now = begin
        self._spent = 0.0
        self._really_waits = really_waits

    @override
    def now(self) -> float:
        return self._now

    @override
    def monotonic(self) -> float:
        return self._now - self._begin + self._spent

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now += max(0.0, seconds)

    def spend(self, seconds: float) -> None:
        """Count the duration of an answer or of a call, in seconds."""
        self._spent += max(0.0, seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait for seconds by this clock."""
        self.advance(seconds)
        if self._really_waits:
            await asyncio.sleep(seconds)
        else:
            await asyncio.sleep(0)


class RealClock(VirtualClock):
    """The real clock, for a play that reaches real systems."""

    def __init__(self) -> None:
        self._system = SystemClock()
        super().__init__(self._system.now(), really_waits=True)

    @override
    def now(self) -> float:
        return self._system.now()

    @override
    def monotonic(self) -> float:
        return self._system.monotonic()


@dataclass(frozen=True, slots=True)
class Seed:
    """The source of all ids, keys and random numbers in the plays of one case."""

    file: str
    case: str
    _ids: random.Random = field(init=False)
    _keys: random.Random = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", self._stream("ids"))
        object.__setattr__(self, "_keys", self._stream("keys"))

    def new_id(self) -> str:
        """Return the next id, 16 hexadecimal digits."""
        return f"{self._ids.getrandbits(64):016x}"

    def new_key(self) -> bytes:
        """Return the next key, 64 bytes."""
        return self._keys.randbytes(64)

    def installation_key(self) -> InstallationKey:
        """Return the key from which the ids of runs follow."""
        return InstallationKey(Secret(self._digest("installation").hex()))

    def outside(self, http: Http, clock: Clock) -> Outside:
        """Return the outside world of the runs of a play."""
        return Outside(http, clock, self.new_id, self._stream("random"), self.new_key)

    def _stream(self, use: str) -> random.Random:
        return random.Random(self._digest(use))  # noqa: S311 - repeatable on purpose, and opens nothing real

    def _digest(self, use: str) -> bytes:
        return hashlib.sha256("\0".join((self.file, self.case, use)).encode()).digest()
