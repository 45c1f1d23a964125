"""What does a PDF say, page by page? Its text in reading order, and its tables where they can be seen."""

import ctypes
import re
from collections.abc import Iterator

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.errors import ToolError
from gofer.files.extract.grid import Segment, with_tables
from gofer.files.extract.pdf_leftward import in_order
from gofer.files.extract.pdf_lines import RIGHT_TO_LEFT, Lines, reread
from gofer.files.extract.pdf_notes import notes
from gofer.files.wire import Packet
from gofer.outside import Clock, SystemClock

PAGES = 2_000
"""Pages that are read in one go; the next begins behind them."""

PAGE_CHARACTERS = 200_000
"""Characters of one page that are read."""

SECONDS = 6.0
"""Seconds after which no further page is begun: what was read by then is better than nothing at a child's end."""

_CLOCK = SystemClock()
_CHARACTERS = 20_000_000
_TABLE_SEGMENTS = (6, 3_000)
"""A page with fewer pieces of text has no table; one with more is a drawing."""
_SPARED = 50
"""Of so many letters one may be missing where a table is told from the places of its pieces."""

_DRAWN = "scans or drawings"

# What PDFium writes for a hyphen at the end of a line, and soft hyphens of its author.
_DIVIDED = re.compile(r"(\w*)(?:[\ufffe\x02]\n?|\xad\n)(\w*)")
_MARKS = ("\ufffe", "\x02", "\xad\n")
_BROKEN = re.compile(r"(\w*[a-zà-öø-ÿа-я])-\n([a-zà-öø-ÿа-я]+)")

_Area = tuple[float, float, float, float]
"""Left, top, right, bottom of a piece of text."""


def read(data: bytes, first: int = 1, clock: Clock = _CLOCK) -> str:
    """Each page from `first` on under a marker, as many as there is time for; says which pages have no text.

    Raises ToolError.
    """
    ends = clock.monotonic() + SECONDS
    document = _opened(data)
    count = len(document)
    if not count:
        raise ToolError("The PDF has no pages.", code="empty")
    if not 1 <= first <= count:
        raise ToolError(f"The PDF has {count:,} pages; there is no page {first:,}.", code="no_page")
    pages: list[str] = []
    empty: list[int] = []
    size = 0
    for at, text in _pages(document, first, count):
        if not text:
            empty.append(at)
        pages.append(f"[page {at} of {count}]\n{text or '(no text on this page)'}")
        size += len(text)
        if size > _CHARACTERS or clock.monotonic() > ends:
            break
    told = _told(first, first + len(pages) - 1, count, empty)
    return "\n\n".join([*told, *pages] if len(empty) < len(pages) else told)


def count(packet: Packet) -> Packet:
    """How many pages a PDF has. Gives the field pages. Raises ToolError for one that cannot be opened."""
    return Packet({"pages": len(_opened(packet.data))})


def _opened(data: bytes) -> pypdfium2.PdfDocument:
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


def _pages(document: pypdfium2.PdfDocument, first: int, count: int) -> Iterator[tuple[int, str]]:
    for at in range(first, min(count, first + PAGES - 1) + 1):
        try:
            page = document[at - 1]
            text = page.get_textpage()
        except pypdfium2.PdfiumError:
            yield at, ""  # One page that is broken is no reason to lose the others.
            continue
        beside = notes(document, page)
        yield at, "\n\n".join(part for part in (_text(text), "\n".join(beside)) if part)
        text.close()
        page.close()


def _text(page: pypdfium2.PdfTextPage) -> str:
    characters = page.count_chars()
    if characters <= 0:
        return ""
    raw = page.get_text_range(0, min(characters, PAGE_CHARACTERS))
    leftward = not raw.isascii() and RIGHT_TO_LEFT.search(raw)
    areas = list(_areas(page, page.count_rects())) if characters < PAGE_CHARACTERS else []
    alone = _lines_of(areas)
    plain = ""
    # Two lines at least are of several pieces where there is a table.
    if _TABLE_SEGMENTS[0] <= len(areas) <= _TABLE_SEGMENTS[1] and len(areas) - alone > 1 and not leftward:
        plain = with_tables([Segment(*area, page.get_text_bounded) for area in areas])
    # Pieces that lie over each other are no table, and would be told twice.
    if not plain or not _alike(plain, raw):
        whole = Lines(page, raw).whole()
        plain = Lines(page, raw).divided(alone) if whole == raw else whole
        plain = plain.replace("\r\n", "\n").replace("\0", "")
    if leftward:
        ordered = _ordered(Lines(page, raw), raw)
        plain = "\n".join(reread(ordered.get(line, line)) for line in plain.split("\n"))
    return _joined(plain).strip()


def _ordered(lines: Lines, raw: str) -> dict[str, str]:
    """For lines of the page that run leftwards, how they are read."""
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


def _alike(ours: str, theirs: str) -> bool:
    """Whether both have nearly as many letters and digits."""
    many, few = sorted((sum(map(str.isalnum, ours)), sum(map(str.isalnum, theirs))))[::-1]
    return many - few <= max(2, many // _SPARED)


def _areas(page: pypdfium2.PdfTextPage, count: int) -> Iterator[_Area]:
    """Where pieces of text lie that were drawn in one go."""
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for at in range(count if count <= _TABLE_SEGMENTS[1] else 0):
        pdfium.FPDFText_GetRect(page, at, left, top, right, bottom)
        yield left.value, top.value, right.value, bottom.value


def _lines_of(areas: list[_Area]) -> int:
    """On how many lines the pieces lie, each on as few as may be."""
    lines, above = 0, 1e9
    for middle, height in sorted((((top + bottom) / 2, top - bottom) for _, top, _, bottom in areas), reverse=True):
        lines += above - middle >= 0.6 * max(height, 1.0) + 1
        above = middle
    return lines


def _joined(text: str) -> str:
    """Words that were divided at the end of a line are whole again, unless the page also writes them with a hyphen."""

    def whole(found: re.Match[str]) -> str:
        return f"{found[1]}{'-' if f'{found[1]}-{found[2]}' in text else ''}{found[2]}"

    joined = text
    if any(mark in text for mark in _MARKS):
        joined = _DIVIDED.sub(whole, joined)
    return _BROKEN.sub(whole, joined) if "-\n" in joined else joined


def _told(first: int, last: int, count: int, empty: list[int]) -> list[str]:
    told: list[str] = []
    if len(empty) == last - first + 1:
        drawn = "a scan or a drawing" if first == last else _DRAWN
        told.append(
            f"(No text in {_these(first, last, count)}: probably {drawn}, and text in images is not read here. Ask for "
            "a version with text; a short one can be looked at with load_file.)"
        )
    elif empty:
        pages = f"page {empty[0]}" if len(empty) == 1 else f"{len(empty):,} pages: {_ranges(empty)}"
        told.append(f"(No text on {pages}; probably {_DRAWN}.)")
    if last < count:
        told.append(f"({count - last:,} more pages follow; extract again from page {last + 1:,}.)")
    return told


def _these(first: int, last: int, count: int) -> str:
    if (first, last) == (1, count):
        return "the only page" if count == 1 else f"any of the {count:,} pages"
    return f"pages {first:,} to {last:,}"


def _ranges(numbers: list[int]) -> str:
    """Numbers in order as people write them: 1-3, 7."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    said = ["-".join(map(str, run)) for run in found]
    return ", ".join(said[:20]) + (", …" if len(said) > 20 else "")
