"""A document as the text that a person would read in it, and images as a model may get them.

An image is made small enough and upright, and loses its metadata.
"""

from dataclasses import dataclass
from typing import cast

from gofer.files.child import Children, Job
from gofer.files.completeness import ALL, LOOKED_AT, Wanted, from_fields
from gofer.files.kind import KINDS, Kind, kind_of
from gofer.values.missing import Missing

_SMALLER = {
    "pdf": "ask for fewer pages with first_page and last_page",
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods"), "ask for one sheet with `sheet`, or for the workbook in parts"),
}
"""What to ask for instead of a document that takes too long, by its kind."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document."""

    kind: Kind
    """What its bytes are, not what its name says."""
    text: str
    """Never empty: a document without text says so. Parts begin with markers: `[page 3 of 9]`, `[slide 2 of 7]`,
    `[sheet "Costs": 12 rows × 4 columns]`, `[notes]`, `[header]`, `[comment 1]`."""
    notes: tuple[str, ...] = ()
    """Sentences on what the text does not show: a name that claims another kind, an encoding that was guessed."""
    missing: tuple[Missing, ...] = ()
    """The parts that the text lacks; empty when it is complete."""


async def extract(
    children: Children, data: bytes, *, name: str = "", wanted: Wanted = ALL, encoding: str = "", declared: str = ""
) -> Document:
    """Return the text of a document in any format that is read here.

    `declared` is the encoding that the sender of a text names, and `encoding` the one to read it in in any case. The
    same bytes and the same arguments give the same text. Raises ToolError with one sentence for the model when there
    is nothing to be had: it is encrypted, damaged, too large, made to hurt, or of a kind that is not read.
    """
    kind = kind_of(data, name)
    what = f"This is {kind.title}, and it"
    instead = _SMALLER.get(kind.name, "ask for a smaller part of it")
    asked = {"name": name, "encoding": encoding, "declared": declared, **wanted.fields()}
    packet = await children.run(Job("extract", asked, data, what, instead))
    fields = packet.fields
    notes = tuple(map(str, cast(list[object], fields["notes"])))
    return Document(KINDS[str(fields["kind"])], packet.data.decode(), notes, from_fields(fields["missing"]))


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
    """Return how many pages a PDF has.

    Raises ToolError for one that cannot be opened, and for one that could be looked at and is damaged.
    """
    packet = await children.run(Job("pages", {"checked": LOOKED_AT}, data, "This is a PDF, and it"))
    return cast(int, packet.fields["pages"])


@dataclass(frozen=True, slots=True)
class PageImages:
    """Some pages of a PDF as images."""

    images: tuple[bytes, ...]
    """JPEGs, of intact pages only."""
    first: int
    last: int
    """Included."""
    of: int
    """How many pages the PDF has."""
    damaged: tuple[int, ...]
    """Pages of the range that could not be drawn."""


async def images_of(
    children: Children, data: bytes, first: int, last: int, *, pages: int = LOOKED_AT, edge: int, most: int
) -> PageImages:
    """Return pages `first` to `last` as images of at most `edge` pixels and together `most` bytes.

    `last` may be 0, or too far: no more than `pages` are drawn. Raises ToolError.
    """
    fields = {"first": first, "last": last, "pages": pages, "edge": edge, "most": most}
    job = Job("draw_pages", fields, data, "This is a PDF, and it", "ask for fewer pages with first_page and last_page")
    packet = await children.run(job)
    sizes = cast(list[int], packet.fields["sizes"])
    images: list[bytes] = []
    begin = 0
    for size in sizes:
        images.append(packet.data[begin : begin + size])
        begin += size
    drawn_first, drawn_last, count = (cast(int, packet.fields[name]) for name in ("first", "last", "count"))
    damaged = tuple(cast(list[int], packet.fields["damaged"]))
    return PageImages(tuple(images), first=drawn_first, last=drawn_last, of=count, damaged=damaged)


EDGE = 1_568
"""Pixels of the longer edge; more is made smaller by most models anyway, and paid for."""

BYTES = 3_750_000
"""Bytes of the encoded image at most: 5 MB in base64, of which providers refuse more, and with it the whole request."""

EACH = 180_000
"""Bytes that each thing to look at counts for beside its own, so that one request never has more than a hundred."""

_PIXELS_PER_TOKEN = 750


@dataclass(frozen=True, slots=True)
class Fitted:
    """An image for the window."""

    media_type: str
    data: bytes
    width: int
    height: int
    original_width: int
    original_height: int

    @property
    def tokens(self) -> int:
        """About what a model counts it as."""
        return -(-self.width * self.height // _PIXELS_PER_TOKEN)


async def fitted(children: Children, data: bytes, *, edge: int = EDGE, most: int = BYTES) -> Fitted:
    """Return the first frame of an image, smaller where it must be.

    Raises ToolError for what is no image, or enormous.
    """
    packet = await children.run(
        Job("resize", {"edge": edge, "most": most}, data, "The image", "a smaller one may work")
    )
    numbers = {
        name: cast(int, packet.fields[name]) for name in ("width", "height", "original_width", "original_height")
    }
    return Fitted(str(packet.fields["media_type"]), packet.data, **numbers)
