"""The comments and form fields of a PDF, and the parts that its text lacks: unread pages, scans, damage."""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Literal

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.completeness import AGAIN, AS_ASKED, LOOKED_AT, Wanted, numbered
from gofer.files.extract.notation import with_author
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

State = Literal["text", "image", "blank", "damaged"]
"""The state of a page: it has text, is mostly an image or a drawing, is blank, or cannot be opened."""

PAGES = 2_000
"""The most pages of one text."""

CHARACTERS = 20_000_000
"""The number of characters after which no further page is read."""

PAGE_CHARACTERS = 200_000
"""The most characters read from one page."""

PAGE_NOTES = 1_000
"""The most comments and fields read from one page."""

_IN_PARTS = "ask for the document in smaller parts"
_FULL = f"one text holds at most {PAGES:,} pages and about {CHARACTERS:,} characters"
_DRAWN = "images or drawings take the place of text"
_LONG_PAGE = f"one page holds at most {PAGE_CHARACTERS:,} characters and {PAGE_NOTES:,} comments and fields"
_FEW = 60
"""A page with a large image and fewer letters and digits than this is a scan. They may be a stamp or a page number."""
_LARGE = 0.5
"""The share of a page that a large image covers."""
_OBJECTS = 500
"""The most objects of a page that are searched for an image. The image of a scan is among the first."""
_DEPTH = 3
_END = b"%%EOF"
_PLACE = re.compile(rb"startxref\s+(\d{1,12})\s")
_INDEX = re.compile(rb"\s*(?:xref|\d+\s+\d+\s+obj)")
_TRAILING = 4_096
"""The most bytes after the end mark of an intact PDF. Some programs add a few."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page that was read."""

    number: int
    state: State
    cut: bool = False


def state_of(page: pypdfium2.PdfPage, text: str) -> State:
    """Return the state of a page with this text."""
    letters = sum(map(str.isalnum, text))
    if letters >= _FEW:
        return "text"
    drawn = islice(page.get_objects(max_depth=_DEPTH), _OBJECTS)
    try:
        if letters:
            is_image = any(_is_large(one, page) for one in drawn)
        else:
            is_image = any(one.type != pdfium.FPDF_PAGEOBJ_TEXT for one in drawn)
    except pypdfium2.PdfiumError:
        return "damaged"
    if is_image:
        return "image"
    if letters:
        return "text"
    return "blank"


def _is_large(one: pypdfium2.PdfObject, page: pypdfium2.PdfPage) -> bool:
    if one.type != pdfium.FPDF_PAGEOBJ_IMAGE:
        return False
    left, bottom, right, top = one.get_bounds()
    width, height = page.get_size()
    return (right - left) * (top - bottom) >= _LARGE * width * height


def without_text(state: State) -> str:
    """Return the note in place of the text of a page without text."""
    match state:
        case "damaged":
            return "(this page is damaged and could not be read)"
        case "blank":
            return "(nothing is on this page)"
        case "image" | "text":
            return "(no text: this page is an image or a drawing)"


def missing_of(data: bytes, wanted: Wanted, count: int, seen: Sequence[ReadPage]) -> tuple[Missing, ...]:
    """Return the parts of a PDF that the text of the read pages lacks."""
    return (*_unread(wanted, count, seen), *_without_text(seen), *_damage(data, seen))


def _unread(wanted: Wanted, count: int, seen: Sequence[ReadPage]) -> Iterator[Missing]:
    first, last = seen[0].number, seen[-1].number
    if first > 1:
        yield _range(1, first - 1, AS_ASKED, {"last_page": first - 1})
    if last < count:
        reasons = {wanted.last_page: AS_ASKED}
        yield _range(last + 1, count, reasons.get(last, _FULL), {"first_page": last + 1})
    for page in seen:
        if page.cut:
            part = f"the rest of page {page.number:,}"
            yield Missing("bytes", part, _LONG_PAGE, instead=_IN_PARTS)


def _range(first: int, last: int, reason: str, arguments: dict[str, object]) -> Missing:
    return Missing(
        "pages", part=numbered("page", range(first, last + 1)), reason=reason, tool="extract_file", arguments=arguments
    )


def _without_text(seen: Sequence[ReadPage]) -> Iterator[Missing]:
    scans = [page.number for page in seen if page.state == "image"]
    if not scans:
        return
    run = next(end for end in range(len(scans), 0, -1) if scans[end - 1] - scans[0] == end - 1)
    run = min(run, LOOKED_AT)
    arguments: dict[str, object] = {"first_page": scans[0], "last_page": scans[run - 1]}
    instead = "and the other pages in the same way" * (run < len(scans))
    yield Missing(
        "scans",
        part=f"the text of {numbered('page', scans)}",
        reason=_DRAWN,
        tool="load_file",
        arguments=arguments,
        instead=instead,
    )


def _damage(data: bytes, seen: Sequence[ReadPage]) -> Iterator[Missing]:
    if damaged := [page.number for page in seen if page.state == "damaged"]:
        yield Missing("pages", numbered("page", damaged), "the file is damaged there", instead=AGAIN)
    if _is_cut_off(data):
        yield Missing("bytes", "the end of the file", "the PDF is cut off before its end mark", instead=AGAIN)
    elif seen and all(page.state == "blank" for page in seen):
        reason = "nothing can be drawn on any page that was read: the pages are blank, or their contents are damaged"
        yield Missing("bytes", "every text", reason, instead="ask the person who sent it what is on them")


def refuse_damage(data: bytes, damaged: Sequence[int]) -> None:
    """Raise ToolError for a PDF that is cut off or has damaged pages or no index, as providers refuse it."""
    again = "Look at its intact pages as images with load_file and first_page, or ask for it to be sent again."
    if damaged:
        raise ToolError(f"The PDF is damaged, at {numbered('page', damaged)}. {again}", code="damaged")
    if _is_cut_off(data):
        raise ToolError(f"The PDF is cut off before its end mark. {again}", code="damaged")
    if not _has_index(data):
        raise ToolError(f"The PDF is damaged: its index of objects is not where it says. {again}", code="damaged")


def _has_index(data: bytes) -> bool:
    """Return whether the index of objects is where the end of the PDF says. PDFium reads PDFs without that, too."""
    places = [int(place) for place in _PLACE.findall(data[-_TRAILING:])]
    # Some programs count places from the header, which may follow other bytes.
    header = max(0, data[:1024].find(b"%PDF-"))
    return any(_INDEX.match(data, place + shift) for place in places[-1:] for shift in (0, header))


def _is_cut_off(data: bytes) -> bool:
    return _END not in data[-_TRAILING:]


_LONGEST = 10_000
_LARGEST = 4 << 20
_HIDDEN = 2
_SKIPPED = frozenset({pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP})
_WRITTEN = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX})


def notes(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield a line for each form field, then for each comment, in the order of the page."""
    comments: list[str] = []
    for at in range(min(pdfium.FPDFPage_GetAnnotCount(page), PAGE_NOTES)):
        note = pdfium.FPDFPage_GetAnnot(page, at)
        if not note:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        if pdfium.FPDFAnnot_GetFlags(note) & _HIDDEN:
            pass
        elif kind == pdfium.FPDF_ANNOT_WIDGET:
            yield from _field(document, note)
        elif kind not in _SKIPPED and (text := _string_value(note, b"Contents")):
            author = _string_value(note, b"T")
            comments.append(f"[comment] {with_author(author, text)}")
        pdfium.FPDFPage_CloseAnnot(note)
    yield from comments


def _field(document: pypdfium2.PdfDocument, note: "pdfium.Annotation") -> Iterator[str]:
    """Yield the visible content of a form field: its text, or whether it is ticked. Empty text fields are skipped."""
    form = document.formenv
    if form is None:
        return
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, note)
    name = buffer_text(partial(pdfium.FPDFAnnot_GetFormFieldName, form, note))
    if kind in _WRITTEN and (text := buffer_text(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, note))):
        yield f"[field {name}] {text}"
    elif kind == pdfium.FPDF_FORMFIELD_CHECKBOX:
        yield f"[{'x' if pdfium.FPDFAnnot_IsChecked(form, note) else ' '}] {name}"
    elif kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON and pdfium.FPDFAnnot_IsChecked(form, note):
        yield f"[x] {name}: {buffer_text(partial(pdfium.FPDFAnnot_GetFormFieldExportValue, form, note))}"


def _string_value(note: "pdfium.Annotation", key: bytes) -> str:
    return buffer_text(partial(pdfium.FPDFAnnot_GetStringValue, note, key))


def buffer_text(ask: "Callable[[pdfium.Buffer, int], int]") -> str:
    """Return the text that a function of PDFium writes into a buffer, on one line."""
    size = ask(None, 0)
    if not 2 < size <= _LARGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = " ".join(buffer.raw.decode("utf-16-le", "replace").partition("\0")[0].split())
    if len(text) > _LONGEST:
        return f"{text[:_LONGEST]} [cut here: {len(text) - _LONGEST:,} more characters]"
    return text
