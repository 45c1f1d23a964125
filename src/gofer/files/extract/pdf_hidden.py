"""Text that a page of a PDF has and does not show: drawn invisibly, or in white where nothing lies behind it.

Invisible text over an image is the text of a scan, so it is not marked.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.extract.notation import hidden
from gofer.files.extract.pdf_missing import buffer_text

_OBJECTS = 3_000
"""The most objects of a page that are looked at."""
_PIECES = 200
"""The most pieces of hidden text of a page that are looked for in its text."""
_DEPTH = 5
_WHITE = 250
"""The least red, green and blue of a white color."""
_VISIBLE = 5
"""The least opacity, of 255, of a text that people see."""

_Box = tuple[float, float, float, float]


def with_hidden_marked(said: str, page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> str:
    """Return the text of a page with its hidden pieces marked. A piece that is not found in it is added at its end."""
    added: list[str] = []
    for piece in islice(_hidden_pieces(page, text), _PIECES):
        pattern = r"\s+".join(map(re.escape, piece.split()))
        said, found = re.subn(rf"(?<!\[hidden: ){pattern}", lambda one: hidden(one[0]), said, count=1)
        if not found:
            added.append(hidden(piece))
    return "\n".join([said, *added])


def _hidden_pieces(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage) -> Iterator[str]:
    behind: list[_Box] = []
    for one in islice(page.get_objects(max_depth=_DEPTH), _OBJECTS):
        if one.type != pdfium.FPDF_PAGEOBJ_TEXT:
            if one.type != pdfium.FPDF_PAGEOBJ_PATH or _is_filled(one):
                behind.append(one.get_bounds())
        elif _is_unseen(one) and not _is_over(one.get_bounds(), behind):
            piece = buffer_text(partial(pdfium.FPDFTextObj_GetText, one, text))
            if piece:
                yield piece


def _is_unseen(one: pypdfium2.PdfObject) -> bool:
    """Return whether a text is invisible, transparent or white."""
    if pdfium.FPDFTextObj_GetTextRenderMode(one) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
        return True
    *color, opacity = _color_of(one)
    return opacity < _VISIBLE or min(color) >= _WHITE


def _is_filled(one: pypdfium2.PdfObject) -> bool:
    """Return whether a shape is filled with another color than white."""
    mode = ctypes.c_int()
    stroke = ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(one, mode, stroke)
    *color, opacity = _color_of(one)
    return bool(mode.value) and opacity >= _VISIBLE and min(color) < _WHITE


def _color_of(one: pypdfium2.PdfObject) -> Sequence[int]:
    """Return red, green, blue and opacity of the filling of an object; black if it is unknown."""
    red, green, blue, opacity = (ctypes.c_uint(start) for start in (0, 0, 0, 255))
    pdfium.FPDFPageObj_GetFillColor(one, red, green, blue, opacity)
    return red.value, green.value, blue.value, opacity.value


def _is_over(box: _Box, behind: Sequence[_Box]) -> bool:
    """Return whether the middle of a box lies within one of the boxes behind it."""
    left, bottom, right, top = box
    across = (left + right) / 2
    up = (bottom + top) / 2
    return any(one[0] <= across <= one[2] and one[1] <= up <= one[3] for one in behind)
