"""The type of a file by what is said of it, before its bytes are there."""

import re
from typing import Literal

from gofer.files.kind import KINDS, extension

Likely = Literal["text", "image", "pdf", "other"]

LOOKED_AT = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/bmp"})
"""Images that can be made ready for a model; others are for people only."""
_TEXTS = frozenset(
    {
        "application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
        "application/toml", "application/javascript", "application/x-sh", "application/sql", "application/graphql",
    }
)  # fmt: skip
_MORE = {
    "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql",
    "py": "text/x-python", "js": "application/javascript", "sh": "application/x-sh",
}  # fmt: skip
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_EXPECTED = frozenset({"", "utf-8", "utf8", "us-ascii"})
"""Encodings that need no word, because texts are taken to be in UTF-8."""
UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/binary"})
"""Media types that say nothing."""


def likely(media_type: str, name: str) -> Likely:
    """Return what a file probably is: by its media type, or by its name where the type says nothing."""
    said = told(media_type, name)
    if said in LOOKED_AT:
        return "image"
    if said == KINDS["pdf"].media_type:
        return "pdf"
    text = said.startswith("text/") or said in _TEXTS or said.endswith(("+json", "+xml", "+yaml"))
    if text:
        return "text"
    return "other"


def told(media_type: str, name: str) -> str:
    """Return the media type that a file is said to have, else the one of its name; empty for an unknown one."""
    said = plain(media_type)
    if said in UNTOLD:
        return guessed(name) or said
    return said


def guessed(name: str) -> str:
    """Return the media type that the ending of a name stands for; empty when it stands for none that is known here."""
    claimed = extension(name)
    if claimed:
        return KINDS[claimed].media_type
    return _MORE.get(name.rpartition(".")[2].lower(), "")


def with_charset(media_type: str, sent: str) -> str:
    """Return the media type of a text with the old encoding that a `Content-Type` declares; any other as it is."""
    charset = charset_of(sent)
    if charset in _EXPECTED or likely(media_type, "") != "text":
        return media_type
    return f"{media_type}; charset={charset}"


def charset_of(media_type: str) -> str:
    """Return the encoding that a media type declares; empty when it declares none."""
    found = _CHARSET.search(media_type)
    if not found:
        return ""
    return found[1].lower()


def plain(media_type: str) -> str:
    """Return a media type without parameters, as in `text/html; charset=utf-8`; empty for what is none."""
    said = media_type.partition(";")[0].strip().lower()
    if said.isascii() and said.isprintable() and said.count("/") == 1 and " " not in said:
        return said
    return ""
