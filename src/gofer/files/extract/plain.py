"""The reader of plain texts, and the clean-up of texts for all readers."""

import re

from gofer.files.decoder import Decoded, decode, decoded_as, known
from gofer.values.errors import ToolError

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")


def read(data: bytes) -> str:
    """Return the text with line feeds and without control characters. Raises ToolError for binary data."""
    return tidy(text_of(data).text)


def text_of(data: bytes, declared: str = "", named: str = "") -> Decoded:
    """Return the decoded text of some bytes. Raises ToolError for binary data, and for an unknown encoding.

    `declared` is the encoding that the sender names. `named` is the encoding that a tool call names; it overrides all
    others.
    """
    if named and not known(named):
        raise ToolError(
            f"There is no encoding {named[:64]!r}; write one such as windows-1252, Shift_JIS, GB18030 or ISO-8859-2.",
            code="no_such_encoding",
        )
    found = decode(data, declared)
    if named:
        found = decoded_as(data, named)
    if found is None:
        raise ToolError("The file is binary and has no text in it.", code="binary")
    return found


def tidy(text: str) -> str:
    """Return the text with line feeds as its line ends and without control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
