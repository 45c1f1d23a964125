"""The places that calls act on, as each tool declares them, and the comparison with the place where a run began.

Each tool declares its places, because only the tool knows their spelling. An argument that the declaration omits counts
as another place, so that Gofer asks about a forgotten argument instead of allowing the call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from typing_extensions import override

from gofer.values.events import Actor

Kind = Literal["channel", "person", "project", "issue", "page", "repository", "other"]
"""The kind of a place; `other` is a place of a system that workflow files cannot list under `writes`."""


class Origin(Protocol):
    """The event that started a run, as tools see it: its actor and its place."""

    @property
    def actor(self) -> Actor:
        """The actor of the event."""
        ...

    @property
    def place(self) -> Mapping[str, str]:
        """The place of the event, with the keys of its source."""
        ...

    @property
    def hops(self) -> int:
        """The number of runs in the chain that led to the event."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """One place in another system that a call acts on."""

    system: str
    """The system, by the name of its folder in `sources/`."""
    kind: Kind
    name: str
    """The id, key or name of the place, as in the arguments or the event."""
    argument: str = ""
    """The argument that takes the id instead of the name; empty if the arguments already contain the id."""
    thread: str | None = None
    """The thread that the call writes into, empty for the place itself; None if the call writes into no thread."""

    @override
    def __str__(self) -> str:
        named = self.kind == "channel" and not self.name.isupper()
        return "#" * named + self.name


Here = Callable[[str, Mapping[str, str]], bool]
"""A function that returns whether an argument's value is the place of the run's event, or within that place."""


@dataclass(frozen=True, slots=True)
class Writes:
    """The arguments of a tool that by default writes to the place where its run began."""

    places: Mapping[str, Here]
    """The arguments that name a place, each with the function that compares its values."""
    content: frozenset[str]
    """The arguments for content, or for a position within the place that everyone in the place can see."""
    narrow: bool = False
    """Whether the tool writes only to the `audience` of a place if that is smaller than all people in the place."""

    def here(self, given: Mapping[str, object], place: Mapping[str, str]) -> bool:
        """Return whether a call with these arguments writes only to the place, and only to its audience."""
        return self.at(given, place) and (self.narrow or not place.get("audience"))

    def at(self, given: Mapping[str, object], place: Mapping[str, str]) -> bool:
        """Return whether a call with these arguments writes only to the place, for some or all of the people there."""
        where = {name: value for name, value in given.items() if name not in self.content}
        return all(name in self.places and self.places[name](str(value), place) for name, value in where.items())
