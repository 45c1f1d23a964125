"""The readers of documents by the kind of a file, and the kinds that need the libraries of the part `files`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gofer.files.completeness import Reading, Wanted
from gofer.files.kind import IMAGES

OF_LIBRARIES = frozenset(
    {"odt", "odp", "html", "eml", "msg", "pdf", "xlsx", "xlsb", "xls", "ods", "docx", "pptx", "ipynb", *IMAGES}
)
"""The kinds whose readers need the libraries of the part `files`."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Readers by the kind of a file. Each raises ToolError for a file that it cannot read."""

    texts: Mapping[str, Callable[[bytes], str]] = field(default_factory=dict[str, Callable[[bytes], str]])
    """The readers that return the whole text and miss nothing."""
    in_parts: Mapping[str, Callable[[bytes, Wanted], Reading]] = field(
        default_factory=dict[str, Callable[[bytes, Wanted], Reading]]
    )
    """The readers that can read a part, and return the missing parts of the whole."""
    wholes: Mapping[str, Callable[[bytes], Reading]] = field(default_factory=dict[str, Callable[[bytes], Reading]])
    """The readers that read the whole document and return the missing parts."""

    def __or__(self, other: "Readers") -> "Readers":
        """Return the readers of both."""
        return Readers(
            {**self.texts, **other.texts}, {**self.in_parts, **other.in_parts}, {**self.wholes, **other.wholes}
        )
