"""The comments on a page of a PDF, and what was filled into its form."""

import ctypes
from collections.abc import Callable, Iterator
from functools import partial

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.extract.pdf_missing import PAGE_NOTES

_LONGEST = 10_000
_LARGEST = 4 << 20
_HIDDEN = 2
_SKIPPED = frozenset({pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP})
_WRITTEN = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX})


def notes(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield a line for each field of a form, then for each comment, as they stand on the page."""
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
        elif kind not in _SKIPPED and (said := _own(note, b"Contents")):
            author = _own(note, b"T")
            comments.append(f"[comment] {author}: {said}" if author else f"[comment] {said}")
        pdfium.FPDFPage_CloseAnnot(note)
    yield from comments


def _field(document: pypdfium2.PdfDocument, note: "pdfium.Annotation") -> Iterator[str]:
    """Yield what a person sees in a field: its text, or whether it is ticked; an empty one is not told of."""
    form = document.formenv
    if form is None:
        return
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, note)
    name = _told(partial(pdfium.FPDFAnnot_GetFormFieldName, form, note))
    if kind in _WRITTEN and (said := _told(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, note))):
        yield f"[field {name}] {said}"
    elif kind == pdfium.FPDF_FORMFIELD_CHECKBOX:
        yield f"[{'x' if pdfium.FPDFAnnot_IsChecked(form, note) else ' '}] {name}"
    elif kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON and pdfium.FPDFAnnot_IsChecked(form, note):
        yield f"[x] {name}: {_told(partial(pdfium.FPDFAnnot_GetFormFieldExportValue, form, note))}"


def _own(note: "pdfium.Annotation", key: bytes) -> str:
    return _told(partial(pdfium.FPDFAnnot_GetStringValue, note, key))


def _told(ask: "Callable[[pdfium.Buffer, int], int]") -> str:
    """Return what PDFium writes into a buffer, as text on one line."""
    size = ask(None, 0)
    if not 2 < size <= _LARGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = " ".join(buffer.raw.decode("utf-16-le", "replace").partition("\0")[0].split())
    if len(text) > _LONGEST:
        return f"{text[:_LONGEST]} [cut here: {len(text) - _LONGEST:,} more characters]"
    return text
