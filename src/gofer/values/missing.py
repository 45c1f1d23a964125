"""The parts of a document that its extracted text lacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MissingUnit = Literal["pages", "rows", "sheets", "slides", "scans", "bytes"]


@dataclass(frozen=True, slots=True)
class Missing:
    """One part of a document that its extracted text lacks."""

    unit: MissingUnit
    part: str
    """The name of the part, such as `pages 2,001 to 2,300`."""
    reason: str
    """The clause that follows "because", such as `one text holds 2,000 pages`."""
    tool: str = ""
    """The tool that gets the part; empty when no tool can."""
    arguments: Mapping[str, object] | None = None
    """The arguments of that call, without the file."""
    instead: str = ""
    """The advice beside that call, or in its place when no tool gets the part."""
    document: str = ""
    """The id of the document, for the argument `file` of that call."""
