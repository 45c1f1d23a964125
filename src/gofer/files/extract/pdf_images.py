"""Pages of a PDF drawn as images, for models that look at them."""

from typing import cast

import pypdfium2

from gofer.files.child_wire import Packet
from gofer.files.extract.pdf import opened, page_range
from gofer.files.extract.picture import jpeg
from gofer.values.errors import ToolError

_DENSEST = 3.0
"""Pixels per point at most: a small page is not blown up further."""

_HALVINGS = 2
"""How often a page that has too many bytes is made half as large."""


def draw(packet: Packet) -> Packet:
    """Draw some pages. Raises ToolError when none of them can be drawn.

    Fields: first and last (0 is the last page), pages (at most so many), edge (pixels), most (bytes of all together).
    Gives the fields first, last, count, damaged and sizes, and the JPEGs one after the other.
    """
    document = opened(packet.data)
    asked_first, asked_last, pages, edge, most = (
        cast(int, packet.fields[name]) for name in ("first", "last", "pages", "edge", "most")
    )
    first, last = page_range(asked_first, asked_last, len(document))
    last = min(last, first + pages - 1)
    images: list[bytes] = []
    damaged: list[int] = []
    for at in range(first, last + 1):
        try:
            images.append(_drawn(document, at, edge, most // (last - first + 1)))
        except pypdfium2.PdfiumError:
            damaged.append(at)
    if not images:
        raise ToolError("These pages of the PDF are damaged; ask for it to be sent again.", code="damaged")
    fields = {"first": first, "last": last, "count": len(document), "damaged": damaged, "sizes": [*map(len, images)]}
    return Packet(fields, b"".join(images))


def _drawn(document: pypdfium2.PdfDocument, at: int, edge: int, most: int) -> bytes:
    """Return a page as an image, smaller where it has too many bytes. Raises PdfiumError, and ToolError."""
    page = document[at - 1]
    scale = min(edge / max(*page.get_size(), 1.0), _DENSEST)
    bitmap = page.render(scale=scale)
    image = bitmap.to_pil()
    for _ in range(_HALVINGS):
        try:
            return jpeg(image, most)
        except ToolError:
            # A noisy scan has too many bytes; with fewer pixels it can still be read.
            image = image.reduce(2)
    return jpeg(image, most)
