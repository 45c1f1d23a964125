"""The registration of a secret on one machine: a window in which one is taken, and shown to the operator alone.

A source offers its secret once, when an operator subscribes there. Any other sender can offer one too. So it is taken
only within a window that the operator opened, once, and shown to no one else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gofer.sources import receiver
from gofer.sources.receiver_spec import ReceiverSpec, Registration
from gofer.values.errors import BadRequest, ConfigError, TemporaryError
from gofer.values.outside import Clock
from gofer.values.secret import Secret

MINUTES = 10
"""How long a window stays open."""
_TOKEN = re.compile(r"[!-~]{16,200}", re.ASCII)

Show = Callable[[Path, Secret], None]
"""Tells the operator who opened the window where the secret is kept, and what it is."""


@dataclass(frozen=True, slots=True)
class AwaitedSecret:
    """A secret that an operator waits for."""

    spec: ReceiverSpec
    registration: Registration
    show: Show


def registered(data: Path, registration: Registration) -> tuple[Secret, ...]:
    """Return the secret taken in an earlier window, if there was one. Raises ConfigError for a file that holds none."""
    path = data / registration.file
    if not path.exists():
        return ()
    text = path.read_bytes().decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigError(f"{path} holds no {registration.secret}; delete it, and register again.")
    return (Secret(text),)


@dataclass(slots=True)
class Window:
    """The time in which one secret is taken."""

    awaited: AwaitedSecret
    path: Path
    write: Callable[[Path, str], None]
    """Writes a file that its owner alone can read, and keeps it through a crash."""
    clock: Clock
    secrets: list[Secret] = field(default_factory=list[Secret])
    """What the source may sign with: those that were known before, and the one that is taken."""
    closes: float = 0.0
    """Monotonic seconds."""
    taken: str = ""

    def __post_init__(self) -> None:
        self.closes = self.clock.monotonic() + MINUTES * 60

    def is_open(self) -> bool:
        """Return whether a secret would be taken now."""
        return not self.taken and self.clock.monotonic() < self.closes

    async def register(self, offered: receiver.Registration) -> None:
        """Keep the first secret and close. Raises BadRequest(403) for another one, TemporaryError."""
        token = offered.token.reveal()
        if token == self.taken:
            return
        if not self.is_open():
            raise BadRequest(403, f"Nobody waits for a {self._secret} any more.", code="window_closed")
        try:
            self.write(self.path, token)
        except OSError as error:
            raise TemporaryError(f"the {self._secret} cannot be written ({error.strerror})") from error
        self.taken = token
        self.secrets.append(offered.token)
        self.awaited.show(self.path, offered.token)

    @property
    def _secret(self) -> str:
        return self.awaited.registration.secret
