"""The registration of a secret on AWS: a receiver takes what its source offers while the parameter says so.

The parameter of the secret then holds `register until 2026-11-21T12:00:00Z` in place of the secret, and beside the
older one where there is one. The first that is offered takes its place. Any sender can offer one, so the operator who
reads it there and confirms it in the source learns whether it was the source's.
"""

import asyncio
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gofer.sources.receiver import Registration
from gofer.values.errors import BadRequest
from gofer.values.outside import Clock
from gofer.values.secret import Secret

LONGEST = 3600.0
"""Seconds that a window is open at most; one that is to close later is none."""
_OPEN = re.compile(r"register until ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)")


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which one secret is taken and written into its parameter."""

    what: str
    """The secret as people know it."""
    closes: float
    """Unix seconds."""
    secrets: list[Secret]
    """What the source may sign with."""
    read: Callable[[], str]
    """The parameter as it is now. Raises TemporaryError, as the next one does."""
    write: Callable[[str], None]
    clock: Clock

    def is_open(self) -> bool:
        """Return whether a secret would be taken now."""
        return 0 < self.closes - self.clock.now() <= LONGEST

    async def register(self, offered: Registration) -> None:
        """Check the offered secret and write it into its parameter. Raises BadRequest, TemporaryError."""
        # Another process may have taken one.
        standing, before = _parts(await asyncio.to_thread(self.read))
        token = offered.token.reveal()
        if not any(hmac.compare_digest(token.encode(), known.encode()) for known in before):
            if not standing or not self.is_open():
                raise BadRequest(403, f"The window for a {self.what} is closed.", code="window_closed")
            await asyncio.to_thread(self.write, ",".join([token, *before]))
        if token not in {known.reveal() for known in self.secrets}:
            self.secrets.append(offered.token)


@dataclass(frozen=True, slots=True)
class SecretParameter:
    """The parameter of a secret that its source registers."""

    name: str
    what: str
    """The secret as people know it."""
    read: Callable[[], str]
    """Return the parameter as it is now. Raises TemporaryError, as the next one does."""
    write: Callable[[str], None]

    def opened(self, environment: Mapping[str, str], clock: Clock) -> tuple[Mapping[str, str], Window | None]:
        """Return the environment with the known secrets, and the window if the parameter opens one."""
        standing, known = _parts(environment.get(self.name, ""))
        told = {**environment, self.name: ",".join(known)}
        if not standing:
            return told, None
        closes = datetime.fromisoformat(standing).timestamp()
        secrets = [Secret(one) for one in known]
        return told, Window(self.what, closes, secrets, self.read, self.write, clock)


def _parts(value: str) -> tuple[str, Sequence[str]]:
    """Return when the window closes, or the empty string; and the tokens."""
    parts = [part.strip() for part in value.split(",") if part.strip()]
    times = [found[1] for part in parts if (found := _OPEN.fullmatch(part)) and _is_time(found[1])]
    # A wrong `register` is no secret either, because everybody could sign with it.
    return (times or [""])[0], [part for part in parts if not part.startswith("register")]


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False
