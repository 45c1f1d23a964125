"""A document as the text a person would read in it."""

from dataclasses import dataclass
from typing import cast

from gofer.errors import ToolError
from gofer.files.child import Children, Job
from gofer.files.kind import KINDS, Kind, kind_of

LOOKED_AT = 10
"""Pages of a PDF that a model looks at at most: each is paid for as an image and as its text."""


@dataclass(frozen=True, slots=True)
class Document:
    """What was read of a document."""

    kind: Kind
    """What it is, whatever it is called."""
    text: str
    """Never empty: a document without text says so. Parts begin with markers: `[page 3 of 9]`, `[slide 2 of 7]`,
    `[sheet "Costs": 12 rows × 4 columns]`, `[notes]`, `[header]`, `[comment 1]`."""
    note: str
    """A sentence when its name claims another kind; else empty."""


async def extract(children: Children, data: bytes, *, name: str = "", first: int = 1) -> Document:
    """The text of a document in any format that is read here; `first` is the page of a PDF to begin with.

    Raises ToolError with one sentence for the model when there is nothing to be had: it is encrypted, damaged, too
    large, made to hurt, or of a kind that is not read.
    """
    what = f"This is {kind_of(data, name).title}, and it"
    packet = await children.run(Job("extract", {"name": name, "first": first}, data, what))
    return Document(KINDS[str(packet.fields["kind"])], packet.data.decode(), str(packet.fields["note"]))


async def pages_to_look_at(children: Children, data: bytes) -> int:
    """How many pages a PDF has. Raises ToolError for one that a provider would refuse, and for more than LOOKED_AT."""
    packet = await children.run(Job("pages", {}, data, "The PDF"))
    pages = cast(int, packet.fields["pages"])
    if not 1 <= pages <= LOOKED_AT:
        raise ToolError(
            f"The PDF has {pages} pages, and only up to {LOOKED_AT} are looked at; extract_file gives its text."
        )
    return pages
