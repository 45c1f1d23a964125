"""The registration of a secret on one machine: a window in which Gofer accepts one, and shows it to the operator.

A source offers its secret once, when an operator subscribes there. Any other sender can offer one too. So Gofer accepts
one secret only, within a window that the operator opened, and shows it to the operator alone.
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
"""Shows the file of the secret, and the secret, to the operator who opened the window."""


@dataclass(frozen=True, slots=True)
class AwaitedSecret:
    """A secret that the operator expects a source to offer."""

    spec: ReceiverSpec
    registration: Registration
    show: Show


def registered(data: Path, registration: Registration) -> tuple[Secret, ...]:
    """Return the secret of an earlier registration, if there is one. Raises ConfigError for a file without a secret."""
    path = data / registration.file
    if not path.exists():
        return ()
    text = path.read_bytes().decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigError(f"{path} does not hold a {registration.secret}; delete the file, and register again.")
    return (Secret(text),)


@dataclass(slots=True)
class Window:
    """The time in which Gofer accepts one secret."""

    awaited: AwaitedSecret
    path: Path
    write: Callable[[Path, str], None]
    """Writes a durable file that only its owner can read."""
    clock: Clock
    secrets: list[Secret] = field(default_factory=list[Secret])
    """The secrets that the source may sign with: the earlier ones, and the registered one."""
    closes: float = 0.0
    """The end of the window in monotonic seconds."""
    taken: str = ""
    """The registered secret; empty until a source offers one."""

    def __post_init__(self) -> None:
        self.closes = self.clock.monotonic() + MINUTES * 60

    def is_open(self) -> bool:
        """Return whether a secret would be accepted now."""
        return not self.taken and self.clock.monotonic() < self.closes

    async def register(self, offered: receiver.Registration) -> None:
        """Store the first offered secret and close the window. Raises BadRequest(403) for another, TemporaryError."""
        token = offered.token.reveal()
        if token == self.taken:
            return
        if not self.is_open():
            raise BadRequest(403, f"The window for a {self._secret} is closed.", code="window_closed")
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
