"""The text of documents, and images that fit into a model's window.

An image is scaled down, turned upright and stripped of its metadata.
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
"""The advice for a document that takes too long, by kind."""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document."""

    kind: Kind
    """The kind by the bytes, not by the name."""
    text: str
    """The text, never empty: for a document without text it is a sentence. Parts begin with markers: `[page 3 of 9]`,
    `[slide 2 of 7]`, `[sheet "Costs": 12 rows × 4 columns]`, `[notes]`, `[header]`, `[comment 1]`."""
    notes: tuple[str, ...] = ()
    """Sentences on the file: a name that claims another kind, an encoding that was guessed."""
    missing: tuple[Missing, ...] = ()
    """The parts that the text lacks; empty if the text is complete."""


async def extract(
    children: Children, data: bytes, *, name: str = "", wanted: Wanted = ALL, encoding: str = "", declared: str = ""
) -> Document:
    """Return the text of a document of any supported format.

    `declared` is the encoding that the sender of a text names. `encoding` overrides it. Equal bytes and arguments give
    equal texts. Raises ToolError with one sentence for the model if the document is encrypted, damaged, too large,
    hostile or of an unsupported kind.
    """
    kind = kind_of(data, name)
    subject = f"This is {kind.title}, and it"
    instead = _SMALLER.get(kind.name, "ask for a smaller part of it")
    fields_of_job = {"name": name, "encoding": encoding, "declared": declared, **wanted.fields()}
    packet = await children.run(Job("extract", fields_of_job, data, subject, instead))
    fields = packet.fields
    notes = tuple(map(str, cast(list[object], fields["notes"])))
    return Document(KINDS[str(fields["kind"])], packet.data.decode(), notes, from_fields(fields["missing"]))


@dataclass(frozen=True, slots=True)
class Member:
    """A file extracted from an archive."""

    name: str
    """The name without folders."""
    data: bytes


async def member_of(children: Children, data: bytes, path: str, *, name: str = "") -> Member:
    """Return the file with a listed path from an archive. Raises ToolError."""
    subject = f"This is {kind_of(data, name).title}, and it"
    packet = await children.run(Job("member", {"name": name, "member": path}, data, subject))
    return Member(str(packet.fields["name"]), packet.data)


async def pages_of(children: Children, data: bytes) -> int:
    """Return the number of pages of a PDF.

    Raises ToolError if the PDF cannot be opened, or is short enough for a model to look at and has damaged pages.
    """
    packet = await children.run(Job("pages", {"checked": LOOKED_AT}, data, "This is a PDF, and it"))
    return cast(int, packet.fields["pages"])


@dataclass(frozen=True, slots=True)
class PageImages:
    """Some pages of a PDF as images."""

    images: tuple[bytes, ...]
    """The JPEGs of the intact pages."""
    first: int
    last: int
    """The last page, included."""
    of: int
    """The number of pages of the PDF."""
    damaged: tuple[int, ...]
    """The pages of the range that could not be drawn."""


async def images_of(
    children: Children, data: bytes, first: int, last: int, *, pages: int = LOOKED_AT, edge: int, most: int
) -> PageImages:
    """Return the pages `first` to `last` as images with edges up to `edge` pixels and together up to `most` bytes.

    `last` may be 0 for the last page. At most `pages` pages are drawn. Raises ToolError.
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
"""The pixels of the longer edge. Most models scale larger images down, and charge for them."""

BYTES = 3_750_000
"""The most bytes of the encoded image. That is 5 MB in base64; providers refuse a request with a larger image."""

EACH = 180_000
"""The bytes that each image or document counts in addition to its own, so that a request has at most a hundred."""

_PIXELS_PER_TOKEN = 750


@dataclass(frozen=True, slots=True)
class Fitted:
    """An image that fits into a model's window."""

    media_type: str
    data: bytes
    width: int
    height: int
    original_width: int
    original_height: int

    @property
    def tokens(self) -> int:
        """The approximate number of tokens that a model counts."""
        return -(-self.width * self.height // _PIXELS_PER_TOKEN)


async def fitted(children: Children, data: bytes, *, edge: int = EDGE, most: int = BYTES) -> Fitted:
    """Return the first frame of an image, scaled down if necessary.

    Raises ToolError if the data is not an image, or the image is too large.
    """
    packet = await children.run(
        Job("resize", {"edge": edge, "most": most}, data, "The image", "a smaller one may work")
    )
    numbers = {
        name: cast(int, packet.fields[name]) for name in ("width", "height", "original_width", "original_height")
    }
    return Fitted(str(packet.fields["media_type"]), packet.data, **numbers)
