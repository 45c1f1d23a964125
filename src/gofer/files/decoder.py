"""The decoder of texts: the one place that decides which encoding the bytes of a text are in.

A mark of the bytes decides first, then UTF-8, which other encodings almost never look like, then what the text or its
sender declares, then what Windows writes in Western Europe, and a guess last. A guess says that it is one.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from gofer.files.encoding_guess import SAMPLE, likeliest, sample_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = ((re.compile(rb"\x1b\$[@B]|\x1b\([IJ]"), "iso2022_jp_2"), (re.compile(rb"\x1b\$\)C"), "iso2022_kr"))
"""Encodings that are written in ASCII and switch by escapes of their own."""

_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "euc_kr": "cp949",
    "euc_jp": "euc_jis_2004", "iso2022_jp": "iso2022_jp_2",
}  # fmt: skip
"""What is declared, and the encoding that programs write under this name: the same letters and more."""

_NEVER_READ = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings of Python that no text is in, with decoders that take quadratic time or change what is written."""

_NAMES = {
    "cp932": "Shift_JIS", "cp949": "EUC-KR", "euc_jis_2004": "EUC-JP", "gb18030": "GB18030", "big5hkscs": "Big5",
    "iso2022_jp_2": "ISO-2022-JP", "iso2022_kr": "ISO-2022-KR", "cp874": "windows-874", "cp866": "IBM866",
    "mac-roman": "Mac Roman", "mac-cyrillic": "Mac Cyrillic",
}  # fmt: skip

_DECLARED = (
    re.compile(rb"\A\s{0,99}<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE),
    re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE),
    re.compile(rb"\A(?:[^\n]{0,200}\n)?[ \t\f]{0,20}#[^\n]{0,200}?coding[:=][ \t]*([-_.A-Za-z0-9]{2,40})"),
)
"""What XML, HTML and Python say of their own encoding."""

_EVERY_BYTE = bytes(range(256))
_LOOSE = 50
"""Of so many foreign characters one may be unreadable in an encoding that is declared."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and how it was read from its bytes."""

    text: str
    encoding: str
    """The name of the encoding, as people write it: `windows-1252`."""
    guessed: bool = False
    """Whether nothing said which encoding it is."""
    unreadable: int = 0
    """Characters that stand as U+FFFD, because the encoding has none for their bytes."""

    @property
    def note(self) -> str:
        """A sentence for a text that may have been read wrongly; empty for any other."""
        if not self.guessed and not self.unreadable:
            return ""
        said = f"Read as {self.encoding}"
        if self.guessed:
            said += ", guessed"
        if self.unreadable:
            said += f"; characters that cannot be read stand as \ufffd: {self.unreadable:,}"
        return f"{said}."


def decode(data: bytes, declared: str = "") -> Decoded | None:
    """Return the text of some bytes, or None for bytes that are no text.

    `declared` is the encoding that the sender names, as in a header of HTTP or of a mail.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _read(data, encoding)
    wide = _unmarked_wide(data)
    if wide:
        return _read(data, wide)
    if b"\0" in data[:SAMPLE]:
        return None
    return _by_escapes(data) or _utf8(data) or _by_declaration(data, declared) or _guess(data)


def decoded(data: bytes) -> str | None:
    """Return the text alone, or None for bytes that are no text."""
    found = decode(data)
    return found and found.text


def in_brackets(note: str) -> str:
    """Return a note as it follows a name; empty for none."""
    if not note:
        return ""
    return f" ({note})"


def known(encoding: str) -> str:
    """Return the name under which Python reads an encoding; empty for a name of none."""
    try:
        # Python also calls compression an encoding, and refuses it here.
        b"xxxx".decode(encoding, "replace")
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return ""
    if name in _NEVER_READ:
        return ""
    return _WIDER.get(name, name)


def decoded_as(data: bytes, encoding: str) -> Decoded | None:
    """Return the text read in the encoding that a reader names; None for a name of none."""
    name = known(encoding)
    if not name:
        return None
    return _read(data, name)


def _read(data: bytes, encoding: str, *, guessed: bool = False) -> Decoded:
    text = _replacing(data, encoding).removeprefix("\ufeff")
    return Decoded(text, _named(encoding), guessed, text.count("\ufffd"))


def _replacing(data: bytes, encoding: str) -> str:
    """Return the text, with U+FFFD for undefined bytes, in a time that the bytes do not decide.

    Python takes 100 ns for each byte that an encoding of single bytes leaves undefined, and no other thread runs
    meanwhile. A table that has U+FFFD for these bytes is quick.
    """
    decoder = cast(type, codecs.getincrementaldecoder(encoding))
    if decoder.__bases__ != (codecs.IncrementalDecoder,):
        return data.decode(encoding, "replace")
    table = _EVERY_BYTE.decode(encoding, "replace")
    if len(table) != len(_EVERY_BYTE):
        return data.decode(encoding, "replace")
    # A text is a table too, which the stubs of types leave out.
    return codecs.charmap_decode(data, "strict", cast(dict[int, int], table))[0]


def _named(encoding: str) -> str:
    if re.fullmatch(r"cp125\d", encoding):
        return f"windows-{encoding[2:]}"
    return _NAMES.get(encoding, encoding.replace("iso8859", "ISO-8859").replace("koi8", "KOI8").replace("utf", "UTF"))


def _unmarked_wide(data: bytes) -> str:
    """Return which half of UTF-16 a text without a mark is in: every other byte of Latin letters is zero."""
    sample = data[:SAMPLE]
    if b"\0" not in sample:
        return ""
    most = len(sample) // 2 * 3 // 4
    if sample[1::2].count(0) > most and sample[::2].count(0) == 0:
        return "utf-16-le"
    if sample[::2].count(0) > most and sample[1::2].count(0) == 0:
        return "utf-16-be"
    return ""


def _by_escapes(data: bytes) -> Decoded | None:
    if b"\x1b" not in data or not data.isascii():
        return None
    for escape, encoding in _ESCAPES:
        if escape.search(data):
            return _strictly(data, encoding)
    return None


def _utf8(data: bytes) -> Decoded | None:
    """Return the text in UTF-8, also where a few of its characters are broken."""
    strict = _strictly(data, "utf-8")
    if strict:
        return strict
    loosely = sample_of(data).decode("utf-8", "replace")
    wrong = loosely.count("\ufffd")
    right = sum(char > "\x7f" for char in loosely) - wrong
    if right <= 5 * wrong:
        return None
    return _read(data, "utf-8")


def _by_declaration(data: bytes, declared: str) -> Decoded | None:
    """Return the text in the encoding that is declared, unless hardly anything can be read in it."""
    for name in (declared, *_declarations(data)):
        encoding = known(name)
        if not encoding or encoding.startswith("utf"):
            continue
        sample = sample_of(data)
        if _read(sample, encoding).unreadable * _LOOSE <= _foreign(sample) + _LOOSE:
            return _read(data, encoding)
    return None


def _declarations(data: bytes) -> Iterator[str]:
    start = data[:4096]
    for pattern in _DECLARED:
        found = pattern.search(start)
        if found:
            yield found[1].decode("ascii")


def _foreign(data: bytes) -> int:
    return sum(byte > 0x7F for byte in data)


def _guess(data: bytes) -> Decoded:
    name = likeliest(data)
    return _read(data, _WIDER.get(name, name), guessed=True)


def _strictly(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), _named(encoding))
    except UnicodeDecodeError:
        return None
