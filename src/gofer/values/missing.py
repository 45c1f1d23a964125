"""The parts that a text made of a document does not hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MissingUnit = Literal["pages", "rows", "sheets", "slides", "scans", "bytes"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A part of a document that the text made from it does not hold."""

    unit: MissingUnit
    part: str
    """Names the part: `pages 2,001 to 2,300`."""
    reason: str
    """The cause, as it follows "because": `one text holds 2,000 pages`."""
    tool: str = ""
    """The tool that gets the part; empty when none can."""
    arguments: Mapping[str, object] | None = None
    """The arguments of that call, without the file."""
    instead: str = ""
    """What to do beside that call, or where no tool gets the part."""
    document: str = ""
    """Id of the document, which is the `file` of that call."""
