"""The texts of one source in the help of commands."""

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
    """The texts of one source in the help of commands."""

    source: str
    system: str
    settings: str
    """The source's lines among the settings of `gofer serve`, without the setting for Gofer's own account."""
    payload: str
    """An example payload: a file of the evals of a shipped workflow, which `gofer init` writes with the workflow."""
    guide: str = ""
    """The page that explains the set-up until the first event; empty if there is none."""
    serving: str = ""
    """Examples of `gofer serve` for this source."""
    mock: str = ""
    """An example line about one of its tools in a file for `gofer run --mocks`."""

    @property
    def app(self) -> str:
        """Return the name of the source's app, for people."""
        return f"{self.system} app"
