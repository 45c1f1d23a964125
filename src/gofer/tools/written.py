"""Where does a call write, as its arguments say it, and is that where its run began?

Every tool that writes says it for itself, because only it knows how its places are spelled. What it does not speak of
is elsewhere, so that an argument somebody forgot is asked about and never passes unasked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Here = Callable[[str, Mapping[str, str]], bool]
"""Whether a value of an argument means the place of the event that started the run, or is in it."""


@dataclass(frozen=True, slots=True)
class Writes:
    """The arguments of a tool that writes where its run began when nothing says otherwise."""

    places: Mapping[str, Here]
    """Those that say where, each with how its values are read."""
    content: frozenset[str]
    """Those that only say what, or where within the place: whoever sees the place sees all of it."""
    narrow: bool = False
    """Whether it writes for the `audience` of a place alone, where that is less than all who see the place."""

    def here(self, given: Mapping[str, object], place: Mapping[str, str]) -> bool:
        """Whether a call with these arguments, without those it leaves out, writes nowhere but at the place."""
        if place.get("audience") and not self.narrow:
            return False
        where = {name: value for name, value in given.items() if name not in self.content}
        return all(name in self.places and self.places[name](str(value), place) for name, value in where.items())
