"""The places outside that calls act on, as each tool declares them, and which of them a run began with.

Every tool declares its own places, because only it knows how they are spelled. An argument that a declaration leaves
out means elsewhere, so that a forgotten argument is asked about and never passes unasked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from typing_extensions import override

from gofer.values.events import Actor

Kind = Literal["channel", "person", "project", "issue", "page", "repository", "other"]
"""What a place is; `other` is a place of a system for which workflow files have no entry under `writes`."""


class Origin(Protocol):
    """What a tool reads of the event that started a run: who did it, and where."""

    @property
    def actor(self) -> Actor:
        """Who did it."""
        ...

    @property
    def place(self) -> Mapping[str, str]:
        """Coordinates of the event, in the words of its source."""
        ...

    @property
    def hops(self) -> int:
        """How many runs stand in a row behind the event."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """One place outside that a call acts on."""

    system: str
    """The system, by the name of its folder in `sources/`."""
    kind: Kind
    name: str
    """Its id, key or name, as the arguments or the event name it."""
    argument: str = ""
    """The argument that takes its id instead; empty where the arguments hold the id already."""

    @override
    def __str__(self) -> str:
        named = self.kind == "channel" and not self.name.isupper()
        return "#" * named + self.name


Here = Callable[[str, Mapping[str, str]], bool]
"""Whether a value of an argument means the place of the event that started the run, or is in it."""


@dataclass(frozen=True, slots=True)
class Writes:
    """The arguments of a tool that writes where its run began when nothing says otherwise."""

    places: Mapping[str, Here]
    """Those that say where, each with how its values are read."""
    content: frozenset[str]
    """Those that only say what, or where within the place: a person who sees the place sees all of it."""
    narrow: bool = False
    """Whether it writes for the `audience` of a place alone, where that is less than all who see the place."""

    def here(self, given: Mapping[str, object], place: Mapping[str, str]) -> bool:
        """Return whether a call with these arguments, without those it leaves out, writes only at the place."""
        return self.at(given, place) and (self.narrow or not place.get("audience"))

    def at(self, given: Mapping[str, object], place: Mapping[str, str]) -> bool:
        """Return whether such a call writes nowhere but at the place, for some or all of the people there."""
        where = {name: value for name, value in given.items() if name not in self.content}
        return all(name in self.places and self.places[name](str(value), place) for name, value in where.items())
