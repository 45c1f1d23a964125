"""What a call may read, and the error for everything else."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.values.errors import ToolError

MAY_BE_HIDDEN = (
    "Or this run may not read it: it reads what only some people see only where it began, or where its file lists it "
    "under `reads`."
)
"""The sentence of a read whose object is missing or hidden."""


def hidden(missing: str) -> ToolError:
    """Return the error for an object that a run may not read; tools answer the same for one that does not exist.

    `missing` is the vendor's sentence for such an object.
    """
    return ToolError(f"{missing} {MAY_BE_HIDDEN}", code="not_found")


def readers(people: str, *, private: bool) -> Mapping[str, str]:
    """Return the detail of a result that says who could read it, without names; empty for what all members may read."""
    return {"readers": people} if private else {}


@dataclass(frozen=True, slots=True)
class Readable:
    """What a call may read in the system of its tool, besides the object that the run is about."""

    listed: frozenset[str] = frozenset()
    """The entries of `reads` for the system, in lower case."""
    outsiders: bool = False
    """Whether people from outside read the answer of the run, which then reads only what is listed."""

    def holds(self, *within: str, private: bool) -> bool:
        """Return whether a call may read an object, from the names of the places that contain it."""
        return not (private or self.outsiders) or bool(self.listed & {name.casefold() for name in within})
