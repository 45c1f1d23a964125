"""The choice of a reader by the kind of a file, and the refusals of unsupported kinds."""

from gofer.files.child_wire import Packet
from gofer.files.completeness import Reading, Wanted, to_fields, wanted_of
from gofer.files.extract import archive, plain, separated
from gofer.files.extract.readers import OF_LIBRARIES, Readers
from gofer.files.extract.separated import text_from
from gofer.files.kind import KINDS, Kind, extension, kind_of, mislabelled
from gofer.values.canonical_json import clean
from gofer.values.errors import ToolError
from gofer.values.parts import how_to_install

WITHOUT_LIBRARIES = Readers(
    texts=dict.fromkeys(("text", "markdown", "json", "xml", "svg"), plain.read),
    in_parts={"csv": separated.read},
)
"""The readers of every installation. Archives have a reader of their own, which returns a list of files."""
_BY_PAGES = ("pdf",)
_BY_ROWS = ("xlsx", "xlsb", "xls", "ods", "csv")
_BY_SHEETS = ("xlsx", "xlsb", "xls", "ods")
_IN_SMALLER_PARTS = "ask for the document in smaller parts"
_READ_AS_IT_IS = ("text", "markdown", "json", "xml", "svg")
_IN_THE_DOCUMENT = "look for it in the document itself with file_regex"
_TEXTS = frozenset({*_READ_AS_IT_IS, "html", "csv", "ipynb"})
"""The kinds with readers that receive UTF-8 for a file in any encoding."""
_REFUSED = {
    "empty": "The file is empty: it has 0 bytes.",
    "binary": "This is a binary file of an unknown kind. If it is a text, name its `encoding`: utf-16-le.",
    "doc": "This is an old Word document (.doc), which is not read here; save it as .docx or PDF and send that.",
    "ppt": "This is an old PowerPoint presentation (.ppt), which is not read here; save it as .pptx or PDF.",
    "ole": "This is an old Office file of an unknown kind, or a damaged one; save it in a present format.",
    "rtf": "This is a Rich Text document, which is not read here; save it as .docx or PDF and send that.",
    "encrypted": "The document has a password; ask for it without one.",
    "heic": "This is a HEIC image, which is not read here; save it as JPEG or PNG and send that.",
    "epub": "This is an e-book, which is not read here; send the chapters that matter as PDF or text.",
}


NOT_INSTALLED = f"and this Gofer lacks the part that reads it. Its operator can {how_to_install('files')}."
"""The end of a sentence about a document that needs a missing part."""


def run(readers: Readers, packet: Packet) -> Packet:
    """Return the text of a document, read by one of the readers. Raises ToolError.

    Fields of the job: name, declared, encoding and the fields of Wanted. The result has the fields kind, notes, and
    missing in the form of `to_fields`.
    """
    name = str(packet.fields["name"])
    encoding = str(packet.fields["encoding"])
    kind = _kind_read(packet.data, name, encoding)
    note = mislabelled(kind, name)
    notes = [note]
    try:
        data = packet.data
        if kind.name in _TEXTS:
            found = plain.text_of(data, str(packet.fields["declared"]), encoding)
            notes.append(found.note)
            data = found.text.encode("utf-8", "replace")
        reading = _read(readers, kind, data, name, wanted_of(packet.fields))
    except ToolError as error:
        message = f"{note} {error.message_to_model}" if note else error.message_to_model
        raise ToolError(message, code=error.code or kind.name) from error
    text = reading.text
    if not text.strip():
        text = f"(This is {kind.title}, and there is no text in it.)"
    fields: dict[str, object] = {"kind": kind.name, "notes": list(filter(None, notes))}
    return Packet({**fields, "missing": to_fields(reading.missing)}, clean(text).encode())


def _kind_read(data: bytes, name: str, encoding: str) -> Kind:
    """Return the kind by which a file is read: unknown bytes are a text if the call names their encoding."""
    kind = kind_of(data, name)
    if kind.name != "binary" or not encoding:
        return kind
    claimed = extension(name)
    if claimed in _TEXTS:
        return KINDS[claimed]
    return KINDS["text"]


def _read(readers: Readers, kind: Kind, data: bytes, name: str, wanted: Wanted) -> Reading:
    _refuse_other_parts(kind, wanted)
    if reader := readers.in_parts.get(kind.name):
        return reader(data, wanted)
    if kind.name in archive.ARCHIVES:
        return archive.read(data, name)
    if whole := readers.wholes.get(kind.name):
        return _bounded(kind, whole(data), wanted)
    if text := readers.texts.get(kind.name):
        return _bounded(kind, Reading(text(data)), wanted)
    if kind.name in OF_LIBRARIES:
        raise ToolError(f"This is {kind.title}, {NOT_INSTALLED}", code="not_installed")
    message = _REFUSED.get(kind.name, f"This is {kind.title}, and there is no text to read from it.")
    raise ToolError(message, code=kind.name)


def _bounded(kind: Kind, reading: Reading, wanted: Wanted) -> Reading:
    """Return the text, shortened to the limit of one text."""
    if kind.name in _READ_AS_IT_IS:
        instead = _IN_THE_DOCUMENT
    else:
        instead = _IN_SMALLER_PARTS
    part = text_from(reading.text, wanted.first_row, instead)
    return Reading(part.text, (*reading.missing, *part.missing))


def _refuse_other_parts(kind: Kind, wanted: Wanted) -> None:
    """Raise ToolError if the call asks for a part that documents of this kind do not have."""
    asked = {
        "first_page": wanted.first_page > 1 and kind.name not in _BY_PAGES,
        "last_page": wanted.last_page > 0 and kind.name not in _BY_PAGES,
        "first_row": wanted.first_row > 1 and kind.name not in _BY_ROWS,
        "sheet": bool(wanted.sheet) and kind.name not in _BY_SHEETS,
    }
    if refused := [name for name, is_refused in asked.items() if is_refused]:
        raise ToolError(f"This is {kind.title}, which has no {', '.join(refused)}; leave that out.", code="no_part")
