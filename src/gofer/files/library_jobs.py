"""The readers and jobs that need the libraries of the part `files`."""

from collections.abc import Mapping

from gofer.files.extract import html, mail, notebook, open_document, outlook, pdf, picture, sheets, slides, word
from gofer.files.extract.readers import Readers
from gofer.files.fork import Work
from gofer.files.kind import IMAGES

READERS = Readers(
    texts={
        "odt": open_document.read,
        "odp": open_document.read,
        "html": html.read,
        "eml": mail.read,
        "msg": outlook.read,
    },
    in_parts={"pdf": pdf.read, **dict.fromkeys(("xlsx", "xlsb", "xls", "ods"), sheets.read)},
    wholes={
        "docx": word.read,
        "pptx": slides.read,
        "ipynb": notebook.read,
        **dict.fromkeys(IMAGES, picture.read),
    },
)
JOBS: Mapping[str, Work] = {"draw_pages": pdf.draw, "pages": pdf.count, "resize": picture.resize}


def prepare() -> None:
    """Load the decoders of all formats of images, once for all children."""
    picture.prepare()
