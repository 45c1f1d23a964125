"""What the help of commands says of one source."""

from collections.abc import Iterable
from dataclasses import dataclass


def listed(names: Iterable[str]) -> str:
    """Return names as `A, B and C`."""
    *before, last = names
    if not before:
        return last
    return f"{', '.join(before)} and {last}"


@dataclass(frozen=True, slots=True)
class Manual:
    """The words of one source in the help of commands."""

    source: str
    system: str
    settings: str
    """Its lines among the settings of `gofer serve`, without the account as which Gofer acts."""
    payload: str
    """A file of this repository with a payload of it."""
    guide: str = ""
    """The page that leads from nothing to its first event; empty where it has none."""
    serving: str = ""
    """Its examples of `gofer serve`."""
    mock: str = ""
    """What a file for `gofer run --mocks` says of one of its tools."""

    @property
    def app(self) -> str:
        """Return how people know the app of the source."""
        return f"{self.system} app"
