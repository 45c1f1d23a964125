"""The reader of Outlook messages (`.msg`): headers, text, names of attachments, and attached messages.

A message is an OLE file. Each property is a stream with the number and the type of the property as its name.
"""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO

import olefile

from gofer.files.extract.html import read_text
from gofer.files.extract.plain import text_of, tidy
from gofer.files.file_names import display
from gofer.values.errors import ToolError

_SUBJECT = 0x0037
_SENT = 0x0039
_HEADERS = 0x007D
_SENDER_NAME = 0x0C1A
_SENDER_ADDRESS = 0x0C1F
_SENDER_SMTP = 0x5D01
_CC = 0x0E03
_TO = 0x0E04
_BODY = 0x1000
_RTF = 0x1009
_HTML = 0x1013
_ATTACHED_NAMES = (0x3707, 0x3704, 0x3001)
_ATTACHED_DATA = 0x3701
_CODE_PAGES = (0x3FFD, 0x3FDE)
"""The properties with the code pages of the message's texts and of its internet form."""

_UNICODE = 0x001F
_EIGHT_BIT = 0x001E
_BINARY = 0x0102
_EMBEDDED = 0x000D
_PROPERTIES = "__properties_version1.0"
_ATTACHMENT = "__attach_version1.0_#"
_LENGTHS_OF_HEADS = (32, 24)
"""The bytes before the properties of a message, and of an attached message."""

_DEEPEST = 3
_MOST = 100
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def read(data: bytes) -> str:
    """Return headers, text, attached messages and names of attachments. Raises ToolError.

    The plain text is preferred to HTML.
    """
    try:
        file = olefile.OleFileIO(BytesIO(data))
    except OSError as error:
        raise ToolError("The Outlook message is damaged; ask for it to be sent again.", code="damaged") from error
    return _message(_Storage(file, ()), 0)


class _Storage:
    """A message or an attachment, with the properties below one path of the file."""

    def __init__(self, file: olefile.OleFileIO, path: tuple[str, ...]) -> None:
        self._file = file
        self._path = path

    def raw(self, number: int, kind: int = _BINARY) -> bytes:
        """Return the bytes of a property; empty if it is missing."""
        return self._stream(_named(number, kind))

    def text(self, number: int) -> str:
        """Return the text of a property; empty if it is missing."""
        wide = self.raw(number, _UNICODE)
        if wide:
            return tidy(wide.decode("utf-16-le", "replace")).strip("\0\n ")
        narrow = self.raw(number, _EIGHT_BIT)
        return tidy(text_of(narrow.rstrip(b"\0"), self.code_page()).text).strip()

    def code_page(self) -> str:
        """Return the encoding of texts that are not Unicode; empty if the message names none."""
        numbers = (int.from_bytes(self.fixed(page)[:4], "little") for page in _CODE_PAGES)
        return next((f"cp{number}" for number in numbers if number), "")

    def fixed(self, number: int) -> bytes:
        """Return the eight bytes of a property of fixed size; empty if it is missing."""
        raw = self._stream(_PROPERTIES)
        head = _LENGTHS_OF_HEADS[bool(self._path)]
        for at in range(head, len(raw) - 15, 16):
            if struct.unpack_from("<H", raw, at + 2)[0] == number:
                return raw[at + 8 : at + 16]
        return b""

    def attachments(self) -> "Iterator[_Storage]":
        """Yield the attachments in order."""
        depth = len(self._path)
        names = {
            path[depth]
            for path in self._file.listdir(streams=False, storages=True)
            if tuple(path[:depth]) == self._path and len(path) > depth and path[depth].startswith(_ATTACHMENT)
        }
        for name in sorted(names)[:_MOST]:
            yield _Storage(self._file, (*self._path, name))

    def within(self) -> "_Storage | None":
        """Return the attached message; None if the attachment is something else."""
        path = (*self._path, _named(_ATTACHED_DATA, _EMBEDDED))
        if not self._file.exists("/".join(path)):
            return None
        return _Storage(self._file, path)

    def _stream(self, name: str) -> bytes:
        path = "/".join((*self._path, name))
        if not self._file.exists(path) or self._file.get_type(path) != olefile.STGTY_STREAM:
            return b""
        return self._file.openstream(path).read()


def _named(number: int, kind: int) -> str:
    return f"__substg1.0_{number:04X}{kind:04X}"


def _message(message: _Storage, depth: int) -> str:
    address = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    values = {
        "From": " ".join(filter(None, [message.text(_SENDER_NAME), f"<{address}>"])).replace(" <>", ""),
        "To": message.text(_TO),
        "Cc": message.text(_CC),
        "Date": _sent(message),
        "Subject": message.text(_SUBJECT),
    }
    headers = [f"{name}: {value}" for name, value in values.items() if value.strip("<>")]
    attached: list[str] = []
    inner: list[str] = []
    for one in message.attachments():
        within = one.within()
        if within is not None and depth < _DEEPEST:
            inner.append(f"[forwarded message]\n{_message(within, depth + 1)}")
        else:
            attached.append(_listed(one))
    if attached:
        attached.insert(0, "[attachments; their contents are not part of this text]")
    return "\n\n".join(filter(None, ["\n".join(headers), _body(message), *inner, "\n".join(attached)]))


def _sent(message: _Storage) -> str:
    raw = message.fixed(_SENT)
    for line in message.text(_HEADERS).splitlines():
        if line.lower().startswith("date:"):
            return line.partition(":")[2].strip()
    if not raw:
        return ""
    microseconds = int.from_bytes(raw, "little") // 10
    try:
        return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%d %H:%M UTC")
    except OverflowError:
        return ""


def _body(message: _Storage) -> str:
    plain = message.text(_BODY)
    if plain:
        return plain
    page = message.raw(_HTML)
    shown = message.text(_HTML)
    if page:
        shown = text_of(page, message.code_page()).text
    if shown:
        return read_text(shown).strip()
    if message.raw(_RTF):
        return "(The text of the message is Rich Text only, which is not read here; save it as .eml and send that.)"
    return "(The e-mail has no text.)"


def _listed(attachment: _Storage) -> str:
    names = [attachment.text(number) for number in _ATTACHED_NAMES]
    name = next(filter(None, names), "")
    return f"- {display(name)} ({len(attachment.raw(_ATTACHED_DATA)):,} bytes)"
