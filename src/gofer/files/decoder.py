"""The decoder of texts, the only place that decides on the encoding of a text.

A byte order mark decides first. Then comes UTF-8, which texts in other encodings almost never resemble, then the
encoding that the text or its sender declares, then windows-1252, and a guess last. The result says if it was guessed.
"""

import codecs
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

SAMPLE = 64 * 1024
"""The bytes that a guess examines, from lines that are not plain ASCII."""

_GUESSED = (
    "ascii", "big5hkscs", "cp932", "cp949", "euc_jis_2004", "gb18030", "cp874", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8-r", "koi8-u", "iso8859-1", "iso8859-2", "iso8859-5",
    "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-15", "mac-roman", "mac-cyrillic", "cp437", "cp850", "cp852",
    "cp866",
)  # fmt: skip
"""The encodings that a guess chooses from, all still written by programs."""

# Letters and signs of Western Europe in their usual places: letters beside letters, signs not within words. Each byte
# is the same letter in the Central European encoding, or a letter that its languages do not have in this place.
_WESTERN = re.compile(
    rb"(?<=[A-Za-z])[\xc4\xd6\xdc\xdf\xe0\xe1\xe2\xe4\xe5\xe7\xe9\xeb\xed\xee\xf3\xf4\xf6\xfa\xfc]{1,3}"
    rb"|[\xc1\xc4\xc5\xc9\xcd\xd3\xd6\xda\xdc\xe0\xe1\xe2\xe4\xe7\xe9\xf6\xfc]{1,3}(?=[a-z])"
    rb"|(?<=[A-Z])[\xc1\xc7\xc9\xcd\xd3\xda]"
    # Spanish has n with a tilde before vowels only. In Polish this byte is another letter.
    rb"|\xf1(?:(?=[aeiou])|[\xe1\xe9\xed\xf3\xfa])|\xd1(?:(?=[AEIOU])|[\xc1\xc9\xcd\xd3\xda])"
    # French has oe before u and i only, and these few words. Portuguese has the endings.
    rb"|[\x8c\x9c](?=[UIui])"
    rb"|(?<![A-Za-z\x80-\xff])(?:[\xc0\xca](?=[a-z])|\xc0(?= )|(?:[Oo]|[Pp]i)\xf9(?![A-Za-z\x80-\xff])|O\xd9(?= ))"
    rb"|(?<=[Oo])\xfb(?=t)|(?<=br)\xfb(?=l)|(?<=fl)\xfb(?=t)|(?<=[Ss])\xfb(?=ret)"
    rb"|(?<=[a-z])\xe8(?=(?:[gmrv]e|s)(?![A-Za-z\x80-\xff]))|(?<=\xe9[a-z])\xe8(?=ne)"
    rb"|\xe3(?=[eo])|\xc3(?=O)|(?<=\xe7)\xf5(?=es)"
    rb"|(?<=[a-z])[\x92\xef](?=[a-z])"
    rb"|(?<![A-Za-z\x80-\xff])[\x80\x84\x85\x93\x96\x97\xa7\xa9\xab\xb0-\xb2\xb7\xbb]"
    rb"|[\x80\x84\x85\x92-\x94\x96\x97\xa0\xa7\xa9\xab\xb0-\xb2\xb7\xbb](?![A-Za-z\x80-\xff])"
    rb"|\xa0"
)
_LATIN = re.compile(rb"(?<=[A-Za-z])[\xc0-\xd6\xd8-\xf6\xf8-\xff]{1,2}|[\xc0-\xd6\xd8-\xf6\xf8-\xff]{1,2}(?=[A-Za-z])")
"""One or two non-ASCII letters beside an ASCII letter, as in all Latin encodings of Windows."""
_FEW = 4
"""In Latin text at most one of this many letters is non-ASCII."""
_NOT_LATIN_WINDOWS = re.compile(r"mac-|cp[489]|big5|euc|gb|koi8")
"""Encodings of other systems and of East Asia."""
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_BEFORE = 400
"""The bytes of a line before its first non-ASCII byte that a guess examines."""
_AFTER = 4_000
"""The bytes of a line from its first non-ASCII byte on that a guess examines."""
_MIXED = re.compile("[A-Za-z][\u0370-\u06ff\u0e01-\u0e5b]|[\u0370-\u06ff\u0e01-\u0e5b][A-Za-z]")
_RARE = 10
"""One non-ASCII letter in this many may be beside a Latin letter."""


class RankedEncodings(Protocol):
    """The module `ranked_encodings`."""

    def ranked(self, sample: bytes, encodings: Sequence[str]) -> Sequence[str]:
        """Return the names of the encodings that a text may have, the most probable first."""
        ...


def prepare() -> None:
    """Load the models of the guess, so that a forking process loads them once."""
    likeliest("готово".encode("cp1251"))


def likeliest(data: bytes) -> str:
    """Return the most probable encoding of a text, by its name in Python."""
    sample = sample_of(data)
    if not _NON_ASCII.search(_WESTERN.sub(b"", sample)):
        return "cp1252"
    names = _library().ranked(sample, _GUESSED)
    if _is_latin(sample):
        names = [name for name in names if not _NOT_LATIN_WINDOWS.match(name)]
    return next((name for name in names if _plausible(sample.decode(name, "replace"))), "cp1252")


def _library() -> RankedEncodings:
    """Load the library with the first guess, because almost every text is UTF-8 (decision 62)."""
    return cast(RankedEncodings, importlib.import_module("gofer.files.ranked_encodings"))


def _is_latin(sample: bytes) -> bool:
    """Return whether the non-ASCII bytes of a text are few, and letters of Latin words in an encoding of Windows."""
    non_ascii = len(_NON_ASCII.findall(sample))
    letters = len(_LETTER.findall(sample))
    return non_ascii * _FEW <= letters and not _NON_ASCII.search(_LATIN.sub(b"", _WESTERN.sub(b"", sample)))


def _plausible(text: str) -> bool:
    """Return whether few words of a text mix Latin letters with letters of another alphabet."""
    return len(_MIXED.findall(text)) * _RARE <= sum(char > "\x7f" for char in text)


def sample_of(data: bytes) -> bytes:
    """Return a short text whole, and the lines with non-ASCII bytes of a long text, up to a limit."""
    if len(data) <= SAMPLE:
        return data
    parts: list[bytes] = []
    size = 0
    at = 0
    while size < SAMPLE and (found := _NON_ASCII.search(data, at)):
        line = data.rfind(b"\n", at, found.start()) + 1
        start = max(at, line, found.start() - _BEFORE)
        end = data.find(b"\n", found.start(), found.start() + _AFTER) + 1
        at = end or found.start() + _AFTER
        parts.append(data[start:at])
        size += len(parts[-1])
    return b"".join(parts)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = ((re.compile(rb"\x1b\$[@B]|\x1b\([IJ]"), "iso2022_jp_2"), (re.compile(rb"\x1b\$\)C"), "iso2022_kr"))
"""Encodings of ASCII bytes that switch character sets by escape sequences."""

_WIDER = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "euc_kr": "cp949",
    "euc_jp": "euc_jis_2004", "iso2022_jp": "iso2022_jp_2",
}  # fmt: skip
"""Declared encodings, and the supersets that programs actually write under these names."""

_NEVER_READ = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings of Python that no text uses. Their decoders take quadratic time or change the text."""

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
"""The declarations of encoding in XML, HTML and Python."""

_ALL_BYTES = bytes(range(256))
_TOLERANCE = 50
"""One non-ASCII character in this many may be unreadable in a declared encoding."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text and its encoding."""

    text: str
    encoding: str
    """The name of the encoding as people write it, such as `windows-1252`."""
    guessed: bool = False
    """Whether the encoding was neither marked nor declared nor certain."""
    unreadable: int = 0
    """The number of U+FFFD in the text, in place of bytes that the encoding does not define."""

    @property
    def note(self) -> str:
        """The warning about a text that may be decoded wrongly; empty for any other text."""
        if not self.guessed and not self.unreadable:
            return ""
        note = f"Read as {self.encoding}"
        if self.guessed:
            note += ", guessed"
        if self.unreadable:
            note += f"; characters that cannot be read are shown as \ufffd: {self.unreadable:,}"
        return f"{note}."


def decode(data: bytes, declared: str = "") -> Decoded | None:
    """Return the decoded text of some bytes, or None for binary data.

    `declared` is the encoding that the sender names, as in a header of HTTP or of an e-mail.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data, encoding)
    wide = _unmarked_wide(data)
    if wide:
        return _decode_as(data, wide)
    if b"\0" in data[:SAMPLE]:
        return None
    return _from_escapes(data) or _utf8(data) or _from_declaration(data, declared) or _guess(data)


def decoded(data: bytes) -> str | None:
    """Return only the text of some bytes, or None for binary data."""
    found = decode(data)
    return found and found.text


def in_brackets(note: str) -> str:
    """Return a note in brackets, to follow a name; empty for an empty note."""
    if not note:
        return ""
    return f" ({note})"


def known(encoding: str) -> str:
    """Return Python's name of an encoding; empty for an unknown encoding."""
    try:
        # Python registers compression as an encoding too, and raises LookupError here.
        b"xxxx".decode(encoding, "replace")
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return ""
    if name in _NEVER_READ:
        return ""
    return _WIDER.get(name, name)


def decoded_as(data: bytes, encoding: str) -> Decoded | None:
    """Return the text decoded in the named encoding; None for an unknown encoding."""
    name = known(encoding)
    if not name:
        return None
    return _decode_as(data, name)


def _decode_as(data: bytes, encoding: str, *, guessed: bool = False) -> Decoded:
    text = _decode_with_replacement(data, encoding).removeprefix("\ufeff")
    return Decoded(text, _display_name(encoding), guessed, text.count("\ufffd"))


def _decode_with_replacement(data: bytes, encoding: str) -> str:
    """Return the text, with U+FFFD for undefined bytes, in a time that does not depend on the bytes.

    Python takes 100 ns for each undefined byte of a single-byte encoding, and no other thread runs meanwhile. A table
    with U+FFFD for these bytes is fast.
    """
    decoder = cast(type, codecs.getincrementaldecoder(encoding))
    if decoder.__bases__ != (codecs.IncrementalDecoder,):
        return data.decode(encoding, "replace")
    table = _ALL_BYTES.decode(encoding, "replace")
    if len(table) != len(_ALL_BYTES):
        return data.decode(encoding, "replace")
    # `charmap_decode` also accepts a string as its table, which the type stubs omit.
    return codecs.charmap_decode(data, "strict", cast(dict[int, int], table))[0]


def _display_name(encoding: str) -> str:
    if re.fullmatch(r"cp125\d", encoding):
        return f"windows-{encoding[2:]}"
    return _NAMES.get(encoding, encoding.replace("iso8859", "ISO-8859").replace("koi8", "KOI8").replace("utf", "UTF"))


def _unmarked_wide(data: bytes) -> str:
    """Return the byte order of UTF-16 without a mark: in Latin text every other byte is zero. Empty for other text."""
    sample = data[:SAMPLE]
    if b"\0" not in sample:
        return ""
    most = len(sample) // 2 * 3 // 4
    if sample[1::2].count(0) > most and sample[::2].count(0) == 0:
        return "utf-16-le"
    if sample[::2].count(0) > most and sample[1::2].count(0) == 0:
        return "utf-16-be"
    return ""


def _from_escapes(data: bytes) -> Decoded | None:
    if b"\x1b" not in data or not data.isascii():
        return None
    for escape, encoding in _ESCAPES:
        if escape.search(data):
            return _decode_strictly(data, encoding)
    return None


def _utf8(data: bytes) -> Decoded | None:
    """Return the text in UTF-8, even if a few of its characters are broken."""
    strict = _decode_strictly(data, "utf-8")
    if strict:
        return strict
    sample = sample_of(data).decode("utf-8", "replace")
    wrong = sample.count("\ufffd")
    right = sum(char > "\x7f" for char in sample) - wrong
    if right <= 5 * wrong:
        return None
    return _decode_as(data, "utf-8")


def _from_declaration(data: bytes, declared: str) -> Decoded | None:
    """Return the text in the declared encoding, unless too much is unreadable in it."""
    for name in (declared, *_declarations(data)):
        encoding = known(name)
        if not encoding or encoding.startswith("utf"):
            continue
        sample = sample_of(data)
        if _decode_as(sample, encoding).unreadable * _TOLERANCE <= _count_non_ascii(sample) + _TOLERANCE:
            return _decode_as(data, encoding)
    return None


def _declarations(data: bytes) -> Iterator[str]:
    start = data[:4096]
    for pattern in _DECLARED:
        found = pattern.search(start)
        if found:
            yield found[1].decode("ascii")


def _count_non_ascii(data: bytes) -> int:
    return sum(byte > 0x7F for byte in data)


def _guess(data: bytes) -> Decoded:
    name = likeliest(data)
    return _decode_as(data, _WIDER.get(name, name), guessed=True)


def _decode_strictly(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), _display_name(encoding))
    except UnicodeDecodeError:
        return None
