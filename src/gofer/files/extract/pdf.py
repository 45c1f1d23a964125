"""The reader of PDFs, page by page: text in reading order, recognised tables, and pages as images."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.child_wire import Packet
from gofer.files.completeness import ALL, Reading, Wanted, numbered
from gofer.files.extract.grid import Segment, with_tables
from gofer.files.extract.pdf_hidden import with_hidden_marked
from gofer.files.extract.pdf_lines import RIGHT_TO_LEFT, Lines, in_order, reread
from gofer.files.extract.pdf_missing import (
    CHARACTERS,
    PAGE_CHARACTERS,
    PAGE_NOTES,
    PAGES,
    ReadPage,
    State,
    missing_of,
    notes,
    refuse_damage,
    state_of,
    without_text,
)
from gofer.files.extract.picture import jpeg
from gofer.values.errors import ToolError

_TABLE_SEGMENTS = (6, 3_000)
"""The least and the most pieces of text on a page with tables. A page with more pieces is a drawing."""
_SPARED = 50
"""One letter in this many may be missing from a page with recognised tables."""

# The characters that PDFium writes for a hyphen at the end of a line, and soft hyphens of the author.
_DIVIDED = re.compile(r"(\w*)(?:[\ufffe\x02]\n?|\xad\n)(\w*)")
_MARKS = ("\ufffe", "\x02", "\xad\n")
_BROKEN = re.compile(r"(\w*[a-zà-öø-ÿа-я])-\n([a-zà-öø-ÿа-я]+)")

_Area = tuple[float, float, float, float]
"""Left, top, right and bottom of a piece of text."""


def read(data: bytes, wanted: Wanted = ALL, most: int = CHARACTERS) -> Reading:
    """Return the text of each requested page under a marker, and the missing parts of the PDF. Raises ToolError.

    After `most` characters no further page is read.
    """
    document = opened(data)
    count = len(document)
    first, last = page_range(wanted.first_page, wanted.last_page, count)
    pages: list[str] = []
    seen: list[ReadPage] = []
    size = 0
    for page in _pages(document, first, min(last, first + PAGES - 1)):
        seen.append(ReadPage(page.number, page.state, cut=page.cut))
        pages.append(f"[page {page.number} of {count}]\n{page.text or without_text(page.state)}")
        size += len(page.text)
        if size > most:
            break
    missing = missing_of(data, wanted, count, seen)
    if not size:
        return Reading(f"(There is no text on {_page_phrase(first, seen[-1].number, count)}.)", missing)
    ends = seen[-1].number
    if ends < count:
        pages.append(f"[{numbered('page', range(ends + 1, count + 1))} missing here]")
    return Reading("\n\n".join(pages), missing)


def page_range(first: int, last: int, count: int) -> tuple[int, int]:
    """Return the first and the last requested page; 0 means the last one. Raises ToolError if they do not exist."""
    if not count:
        raise ToolError("The PDF has no pages.", code="empty")
    if first > count:
        raise ToolError(f"The PDF has {count:,} pages; there is no page {first:,}.", code="no_page")
    if last and last < first:
        raise ToolError(f"last_page {last:,} is before first_page {first:,}.", code="no_page")
    return first, min(last or count, count)


def count(packet: Packet) -> Packet:
    """Return the number of pages of a PDF in the field `pages`.

    A PDF with at most `checked` pages is also checked for damage. Raises ToolError if the PDF cannot be opened, or if
    the check finds that it is cut off or damaged.
    """
    document = opened(packet.data)
    pages = len(document)
    checked = cast(int, packet.fields["checked"])
    if pages <= checked:
        damaged = [at for at in range(1, pages + 1) if not _opens(document, at)]
        refuse_damage(packet.data, damaged)
    return Packet({"pages": pages})


def _opens(document: pypdfium2.PdfDocument, at: int) -> bool:
    try:
        document[at - 1].close()
    except pypdfium2.PdfiumError:
        return False
    return True


def opened(data: bytes) -> pypdfium2.PdfDocument:
    """Return the opened PDF. Raises ToolError."""
    try:
        document = pypdfium2.PdfDocument(data)
        document.init_forms()
        return document
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise ToolError("The PDF has a password; ask for it without one.", code="encrypted") from error
        if "security" in str(error).lower():
            raise ToolError("The PDF is protected in a way that is not read here; ask for it unprotected.") from error
        raise ToolError("The PDF is damaged or cut off; ask for it to be sent again.", code="damaged") from error


@dataclass(frozen=True, slots=True)
class _Page:
    """The text and the state of one page."""

    number: int
    state: State
    text: str = ""
    cut: bool = False
    """Whether the page has more characters or notes than the limits of a page."""


def _pages(document: pypdfium2.PdfDocument, first: int, last: int) -> Iterator[_Page]:
    for at in range(first, last + 1):
        try:
            yield _page(document, at)
        except pypdfium2.PdfiumError:
            yield _Page(at, "damaged")  # Read the other pages even if one is broken.


def _page(document: pypdfium2.PdfDocument, at: int) -> _Page:
    page = document[at - 1]
    text = page.get_textpage()
    try:
        beside = notes(document, page)
        cut = text.count_chars() > PAGE_CHARACTERS or pdfium.FPDFPage_GetAnnotCount(page) > PAGE_NOTES
        shown = with_hidden_marked(_text(text), page, text)
        said = "\n\n".join(part for part in (shown, "\n".join(beside)) if part)
        return _Page(at, state_of(page, said), said, cut)
    finally:
        text.close()
        page.close()


def _text(page: pypdfium2.PdfTextPage) -> str:
    characters = page.count_chars()
    if characters <= 0:
        return ""
    raw = page.get_text_range(0, min(characters, PAGE_CHARACTERS))
    leftward = not raw.isascii() and RIGHT_TO_LEFT.search(raw)
    if characters < PAGE_CHARACTERS:
        areas = list(_areas(page, page.count_rects()))
    else:
        areas = []
    alone = _lines_of(areas)
    plain = ""
    # A table has at least two lines of several pieces.
    if _TABLE_SEGMENTS[0] <= len(areas) <= _TABLE_SEGMENTS[1] and len(areas) - alone > 1 and not leftward:
        plain = with_tables([Segment(*area, page.get_text_bounded) for area in areas])
    # Overlapping pieces are not a table, and their text would appear twice.
    if not plain or not _similar_length(plain, raw):
        rejoined = Lines(page, raw).rejoined()
        plain = Lines(page, raw).with_line_ends(alone) if rejoined == raw else rejoined
        plain = plain.replace("\r\n", "\n").replace("\0", "")
    if leftward:
        ordered = _ordered(Lines(page, raw), raw)
        plain = "\n".join(reread(ordered.get(line, line)) for line in plain.split("\n"))
    return _join_divided_words(plain).strip()


def _ordered(lines: Lines, raw: str) -> dict[str, str]:
    """Return the right-to-left lines of the page, each with its text in reading order."""
    if not lines.plain():
        return {}
    letters = sum(map(str.isalpha, raw))
    leftward = 2 * len(RIGHT_TO_LEFT.findall(raw)) > letters
    found: dict[str, str] = {}
    at = 0
    for line in raw.split("\r\n"):
        if RIGHT_TO_LEFT.search(line):
            found[line] = in_order(line, lambda place, at=at: lines.box(at + place), leftward=leftward)
        at += len(line) + 2
    return found


def _similar_length(ours: str, theirs: str) -> bool:
    """Return whether both texts have nearly the same number of letters and digits."""
    many, few = sorted((sum(map(str.isalnum, ours)), sum(map(str.isalnum, theirs))))[::-1]
    return many - few <= max(2, many // _SPARED)


def _areas(page: pypdfium2.PdfTextPage, count: int) -> Iterator[_Area]:
    """Yield the areas of the pieces of text that the PDF draws at once."""
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for at in range(count if count <= _TABLE_SEGMENTS[1] else 0):
        pdfium.FPDFText_GetRect(page, at, left, top, right, bottom)
        yield left.value, top.value, right.value, bottom.value


def _lines_of(areas: list[_Area]) -> int:
    """Return the number of lines of the pieces."""
    lines = 0
    above = 1e9
    for middle, height in sorted((((top + bottom) / 2, top - bottom) for _, top, _, bottom in areas), reverse=True):
        lines += above - middle >= 0.6 * max(height, 1.0) + 1
        above = middle
    return lines


def _join_divided_words(text: str) -> str:
    """Join words that were divided at the end of a line. Keep the hyphen if the page also has the hyphenated word."""

    def whole(found: re.Match[str]) -> str:
        return f"{found[1]}{'-' if f'{found[1]}-{found[2]}' in text else ''}{found[2]}"

    joined = text
    if any(mark in text for mark in _MARKS):
        joined = _DIVIDED.sub(whole, joined)
    if "-\n" in joined:
        return _BROKEN.sub(whole, joined)
    return joined


def _page_phrase(first: int, last: int, count: int) -> str:
    if (first, last) == (1, count):
        if count == 1:
            return "the only page"
        return f"any of the {count:,} pages"
    return numbered("page", range(first, last + 1))


_DENSEST = 3.0
"""The most pixels per point. A small page is not enlarged further."""

_HALVINGS = 2
"""The most times that a page with too many bytes is scaled to half its size."""


def draw(packet: Packet) -> Packet:
    """Return some pages as JPEGs, one after the other. Raises ToolError if none of them can be drawn.

    Fields of the job: first, last (0 means the last page), pages (the most pages), edge (in pixels), most (bytes of all
    images together). The result has the fields first, last, count, damaged and sizes.
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
    """Return a page as a JPEG, scaled down if it has too many bytes. Raises PdfiumError and ToolError."""
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
