"""The decoder of texts: the one place that decides which encoding the bytes of a text are in.

A mark of the bytes decides first, then UTF-8, which other encodings almost never look like, then what the text or its
sender declares, then what Windows writes in Western Europe, and a guess last. A guess says that it is one.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import chardet

SAMPLE = 64 * 1024
"""Bytes that a guess looks at, taken from the lines that are not plain ASCII."""

_GUESSED = (
    "ascii", "big5hkscs", "cp932", "cp949", "euc_jis_2004", "gb18030", "cp874", "cp1250", "cp1251", "cp1252", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "koi8-r", "koi8-u", "iso8859-1", "iso8859-2", "iso8859-5",
    "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-15", "mac-roman", "mac-cyrillic", "cp437", "cp850", "cp852",
    "cp866",
)  # fmt: skip
"""Encodings that a guess chooses from: those that programs still write."""

# Letters and signs of Western Europe where they stand in a text: letters beside letters, signs not inside of words.
# Each of these bytes is the same letter in the encoding of Central Europe, or one that its languages do not have there.
_WESTERN = re.compile(
    rb"(?<=[A-Za-z])[\xc4\xd6\xdc\xdf\xe0\xe1\xe2\xe4\xe5\xe7\xe9\xeb\xed\xee\xf3\xf4\xf6\xfa\xfc]{1,3}"
    rb"|[\xc1\xc4\xc5\xc9\xcd\xd3\xd6\xda\xdc\xe0\xe1\xe2\xe4\xe7\xe9\xf6\xfc]{1,3}(?=[a-z])"
    rb"|(?<=[A-Z])[\xc1\xc7\xc9\xcd\xd3\xda]"
    # Spanish has n with a tilde before vowels only, where Polish writes another letter in place of this byte.
    rb"|\xf1(?:(?=[aeiou])|[\xe1\xe9\xed\xf3\xfa])|\xd1(?:(?=[AEIOU])|[\xc1\xc9\xcd\xd3\xda])"
    # So has French oe before u and i, and these few words; Portuguese has the endings.
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
"""One or two letters beside a Latin one, as all that Windows writes with Latin letters has them."""
_FEW = 4
"""In Latin words one of so many letters is foreign at most."""
_NOT_LATIN_WINDOWS = re.compile(r"mac-|cp[489]|big5|euc|gb|koi8")
"""Encodings of other systems, and those of East Asia."""
_FOREIGN = re.compile(rb"[\x80-\xff]")
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_BEFORE = 400
"""Bytes of a line before its first foreign letter that a guess looks at."""
_BEHIND = 4_000
"""Bytes from there on."""
_MIXED = re.compile("[A-Za-z][\u0370-\u06ff\u0e01-\u0e5b]|[\u0370-\u06ff\u0e01-\u0e5b][A-Za-z]")
_RARE = 10
"""Of so many foreign letters one may stand beside a Latin letter."""


def prepare() -> None:
    """Load what guesses are made with, so that a process that forks pays for it once."""
    likeliest("готово".encode("cp1251"))


def likeliest(data: bytes) -> str:
    """Return the encoding that a text is most probably in, by the name that Python has for it."""
    sample = sample_of(data)
    if not _FOREIGN.search(_WESTERN.sub(b"", sample)):
        return "cp1252"
    ranked = chardet.detect_all(
        sample,
        ignore_threshold=True,
        max_bytes=len(sample) + 1,
        compat_names=False,
        include_encodings=_GUESSED,
    )
    names = [str(one["encoding"]) for one in ranked if one["encoding"]]
    if _is_latin(sample):
        names = [name for name in names if not _NOT_LATIN_WINDOWS.match(name)]
    return next((name for name in names if _plausible(sample.decode(name, "replace"))), "cp1252")


def _is_latin(sample: bytes) -> bool:
    """Return whether the foreign bytes of a text are few, and letters of Latin words as Windows writes them."""
    foreign = len(_FOREIGN.findall(sample))
    letters = len(_LETTER.findall(sample))
    return foreign * _FEW <= letters and not _FOREIGN.search(_LATIN.sub(b"", _WESTERN.sub(b"", sample)))


def _plausible(text: str) -> bool:
    """Return whether hardly any word of a text mixes Latin letters with those of another alphabet."""
    return len(_MIXED.findall(text)) * _RARE <= sum(char > "\x7f" for char in text)


def sample_of(data: bytes) -> bytes:
    """Return a short text whole, and of a long one the lines with foreign letters, up to a size."""
    if len(data) <= SAMPLE:
        return data
    parts: list[bytes] = []
    size = 0
    at = 0
    while size < SAMPLE and (found := _FOREIGN.search(data, at)):
        line = data.rfind(b"\n", at, found.start()) + 1
        start = max(at, line, found.start() - _BEFORE)
        end = data.find(b"\n", found.start(), found.start() + _BEHIND) + 1
        at = end or found.start() + _BEHIND
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
