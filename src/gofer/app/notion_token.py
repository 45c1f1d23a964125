"""How does Gofer get the verification token that Notion signs with, and from nobody else?

Notion offers it once, when somebody creates a subscription, and anybody else can offer one too. So it is taken only
while whoever runs Gofer has opened a window, once, and shown to nobody else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from gofer.sources.receiver import Registration
from gofer.values.errors import BadRequest, ConfigError, TemporaryError
from gofer.values.outside import Clock
from gofer.values.secret import Secret

FILE = "notion-verification-token"
"""In the folder of the embedded state, readable for its owner alone."""
MINUTES = 10
"""How long a window stays open."""
_TOKEN = re.compile(r"[!-~]{16,200}", re.ASCII)

Tell = Callable[[Path, Secret], None]
"""Says to whoever opened the window where the token is, and what it is."""


def registered(data: Path) -> tuple[Secret, ...]:
    """The token taken in an earlier window, if there was one. Raises ConfigError for a file that holds none."""
    path = data / FILE
    if not path.exists():
        return ()
    text = path.read_bytes().decode("ascii", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise ConfigError(f"{path} holds no verification token; delete it, and register with Notion again.")
    return (Secret(text),)


@dataclass(slots=True)
class Window:
    """The time in which one verification token is taken."""

    path: Path
    write: Callable[[Path, str], None]
    """Writes a file that its owner alone can read, and keeps it through a crash."""
    tell: Tell
    clock: Clock
    secrets: list[Secret] = field(default_factory=list[Secret])
    """What Notion may sign with: those that were known before, and the one that is taken."""
    closes: float = 0.0
    """Monotonic seconds."""
    taken: str = ""

    def __post_init__(self) -> None:
        self.closes = self.clock.monotonic() + MINUTES * 60

    def is_open(self) -> bool:
        """Whether a token would be taken now."""
        return not self.taken and self.clock.monotonic() < self.closes

    async def register(self, offered: Registration) -> None:
        """Keeps the first token and closes. Raises BadRequest(403) for another one, TemporaryError."""
        token = offered.token.reveal()
        if token == self.taken:
            return
        if not self.is_open():
            raise BadRequest(403, "Nobody waits for a verification token any more.", code="window_closed")
        try:
            self.write(self.path, token)
        except OSError as error:
            raise TemporaryError(f"the verification token cannot be written ({error.strerror})") from error
        self.taken = token
        self.secrets.append(offered.token)
        self.tell(self.path, offered.token)
