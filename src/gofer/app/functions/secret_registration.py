"""The registration of a secret on AWS: a receiver accepts a secret that its source offers, within a window of time.

The operator opens the window by writing `register until 2026-11-21T12:00:00Z` into the parameter of the secret, alone
or after an older secret and a comma. The first offered secret replaces this text. Any sender can offer one, so the
operator must read the secret from the parameter and confirm it in the source.
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
"""The longest window in seconds. A window with a later end counts as closed."""
_OPEN = re.compile(r"register until ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)")


@dataclass(frozen=True, slots=True)
class Window:
    """The time in which one secret is accepted and written into its parameter."""

    what: str
    """The name of the secret, for people."""
    closes: float
    """The end of the window in unix seconds."""
    secrets: list[Secret]
    """The secrets that the source may sign with."""
    read: Callable[[], str]
    """Returns the present value of the parameter. `read` and `write` may raise TemporaryError."""
    write: Callable[[str], None]
    clock: Clock

    def is_open(self) -> bool:
        """Return whether a secret would be accepted now."""
        return 0 < self.closes - self.clock.now() <= LONGEST

    async def register(self, offered: Registration) -> None:
        """Check the offered secret and write it into its parameter. Raises BadRequest, TemporaryError."""
        # Another process may have accepted a secret meanwhile.
        end, before = _parts(await asyncio.to_thread(self.read))
        token = offered.token.reveal()
        if not any(hmac.compare_digest(token.encode(), known.encode()) for known in before):
            if not end or not self.is_open():
                raise BadRequest(403, f"The window for a {self.what} is closed.", code="window_closed")
            await asyncio.to_thread(self.write, ",".join([token, *before]))
        if token not in {known.reveal() for known in self.secrets}:
            self.secrets.append(offered.token)


@dataclass(frozen=True, slots=True)
class SecretParameter:
    """The parameter for a secret that its source registers."""

    name: str
    what: str
    """The name of the secret, for people."""
    read: Callable[[], str]
    """Returns the present value of the parameter. `read` and `write` may raise TemporaryError."""
    write: Callable[[str], None]

    def opened(self, environment: Mapping[str, str], clock: Clock) -> tuple[Mapping[str, str], Window | None]:
        """Return the environment with the known secrets only, and the window if the parameter opens one."""
        end, known = _parts(environment.get(self.name, ""))
        without_window = {**environment, self.name: ",".join(known)}
        if not end:
            return without_window, None
        closes = datetime.fromisoformat(end).timestamp()
        secrets = [Secret(text) for text in known]
        return without_window, Window(self.what, closes, secrets, self.read, self.write, clock)


def _parts(value: str) -> tuple[str, Sequence[str]]:
    """Return the end of the window, or an empty text, and the secrets in a parameter."""
    parts = [part.strip() for part in value.split(",") if part.strip()]
    ends = [found[1] for part in parts if (found := _OPEN.fullmatch(part)) and _is_time(found[1])]
    # A malformed `register …` is no secret, because anyone could guess it and sign with it.
    secrets = [part for part in parts if not part.startswith("register")]
    return next(iter(ends), ""), secrets


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False
