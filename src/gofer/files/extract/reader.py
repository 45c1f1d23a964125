"""Which reader takes which kind of file, and what is said where none does?"""

from collections.abc import Callable
from typing import cast

from gofer.canonical import clean
from gofer.errors import ToolError
from gofer.files.extract import (
    archive,
    mail,
    notebook,
    open_document,
    outlook,
    pdf,
    picture,
    plain,
    separated,
    sheets,
    slides,
    web,
    word,
)
from gofer.files.kind import IMAGES, Kind, kind_of, mislabelled
from gofer.files.wire import Packet

CHARACTERS = 20_000_000
"""Characters of text that are kept at most."""

_READERS: dict[str, Callable[[bytes], str]] = {
    "docx": word.read,
    "pptx": slides.read,
    "xlsx": sheets.read,
    "xlsb": sheets.read,
    "xls": sheets.read,
    "ods": sheets.read,
    "odt": open_document.read,
    "odp": open_document.read,
    "html": web.read,
    "csv": separated.read,
    "eml": mail.read,
    "msg": outlook.read,
    "ipynb": notebook.read,
    **dict.fromkeys(IMAGES, picture.read),
    **dict.fromkeys(("text", "markdown", "json", "xml", "svg"), plain.read),
}
_TEXTS = frozenset({"text", "markdown", "json", "xml", "svg", "html", "csv", "ipynb"})
"""Kinds whose readers are given UTF-8, whatever encoding the file is in."""
_REFUSED = {
    "empty": "The file is empty: it has 0 bytes.",
    "doc": "This is an old Word document (.doc), which is not read here; save it as .docx or PDF and send that.",
    "ppt": "This is an old PowerPoint presentation (.ppt), which is not read here; save it as .pptx or PDF.",
    "ole": "This is an old Office file of an unknown kind, or a damaged one; save it in a present format.",
    "rtf": "This is a Rich Text document, which is not read here; save it as .docx or PDF and send that.",
    "encrypted": "The document has a password; ask for it without one.",
    "heic": "This is a HEIC image, which is not read here; save it as JPEG or PNG and send that.",
    "epub": "This is an e-book, which is not read here; send the chapters that matter as PDF or text.",
}


def run(packet: Packet) -> Packet:
    """Return the text of a document, with the fields kind and notes. Raises ToolError.

    Fields: name, first (a page), declared, encoding.
    """
    name = str(packet.fields["name"])
    first = cast(int, packet.fields["first"])
    kind = kind_of(packet.data, name)
    note = mislabelled(kind, name)
    notes = [note]
    try:
        data = packet.data
        if kind.name in _TEXTS:
            found = plain.text_of(data, str(packet.fields["declared"]), str(packet.fields["encoding"]))
            notes.append(found.note)
            data = found.text.encode("utf-8", "replace")
        text = _read(kind, data, name, first)
    except ToolError as error:
        said = f"{note} {error.message_to_model}" if note else error.message_to_model
        raise ToolError(said, code=error.code or kind.name) from error
    if not text.strip():
        text = f"(This is {kind.title}, and there is no text in it.)"
    if len(text) > CHARACTERS:
        text = f"{text[:CHARACTERS]}\n[cut here: {len(text) - CHARACTERS:,} more characters]"
    return Packet({"kind": kind.name, "notes": list(filter(None, notes))}, clean(text).encode())


def _read(kind: Kind, data: bytes, name: str, first: int) -> str:
    if kind.name == "pdf":
        return pdf.read(data, first)
    if kind.name in archive.ARCHIVES:
        return archive.read(data, name)
    if reader := _READERS.get(kind.name):
        return reader(data)
    said = _REFUSED.get(kind.name, f"This is {kind.title}, and there is no text to read from it.")
    raise ToolError(said, code=kind.name)
