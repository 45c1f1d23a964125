"""What people see of a run in outside systems."""

from dataclasses import dataclass
from typing import Literal

VisibleKind = Literal["message", "edit", "button", "reaction", "file", "comment", "issue", "page"]
"""The kinds of objects that people see, with `edit` for a message that changed."""


@dataclass(frozen=True, slots=True)
class Visible:
    """An object in an outside system that a person sees."""

    kind: VisibleKind
    place: str
    """Where it is: its path in a simulated world, or the recorded arguments that name its place."""
    text: str
