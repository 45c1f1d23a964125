"""A document as the text a person would read in it."""

from dataclasses import dataclass
from typing import cast

from gofer.files.child import Children, Job
from gofer.files.kind import KINDS, Kind, kind_of

LOOKED_AT = 10
"""Pages of a PDF that a model looks at in one go at most: each costs what some thousand characters cost, in every call
after it. Longer ones are searched and read as text."""


@dataclass(frozen=True, slots=True)
class Document:
    """What was read of a document."""

    kind: Kind
    """What it is, whatever it is called."""
    text: str
    """Never empty: a document without text says so. Parts begin with markers: `[page 3 of 9]`, `[slide 2 of 7]`,
    `[sheet "Costs": 12 rows × 4 columns]`, `[notes]`, `[header]`, `[comment 1]`."""
    notes: tuple[str, ...] = ()
    """Sentences on what the text does not show: a name that claims another kind, an encoding that was guessed."""


async def extract(
    children: Children, data: bytes, *, name: str = "", first: int = 1, encoding: str = "", declared: str = ""
) -> Document:
    """The text of a document in any format that is read here; `first` is the page of a PDF to begin with.

    `declared` is the encoding that the sender of a text names, and `encoding` the one to read it in in any case.

    Raises ToolError with one sentence for the model when there is nothing to be had: it is encrypted, damaged, too
    large, made to hurt, or of a kind that is not read.
    """
    what = f"This is {kind_of(data, name).title}, and it"
    fields = {"name": name, "first": first, "encoding": encoding, "declared": declared}
    packet = await children.run(Job("extract", fields, data, what))
    notes = tuple(map(str, cast(list[object], packet.fields["notes"])))
    return Document(KINDS[str(packet.fields["kind"])], packet.data.decode(), notes)


@dataclass(frozen=True, slots=True)
class Member:
    """A file that was taken from an archive."""

    name: str
    """Without its folders."""
    data: bytes


async def member_of(children: Children, data: bytes, path: str, *, name: str = "") -> Member:
    """Return one file of an archive, by its path as it is listed. Raises ToolError."""
    what = f"This is {kind_of(data, name).title}, and it"
    packet = await children.run(Job("member", {"name": name, "member": path}, data, what))
    return Member(str(packet.fields["name"]), packet.data)


async def pages_of(children: Children, data: bytes) -> int:
    """How many pages a PDF has. Raises ToolError for one that cannot be opened."""
    packet = await children.run(Job("pages", {}, data, "This is a PDF, and it"))
    return cast(int, packet.fields["pages"])
