"""What Gofer uses of PDFium itself."""

from ctypes import c_double

from pypdfium2 import PdfTextPage

def FPDFText_GetRect(
    page: PdfTextPage, at: int, left: c_double, top: c_double, right: c_double, bottom: c_double
) -> bool: ...
