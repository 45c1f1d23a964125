"""The guess at the encoding of a text that says nothing of it: a rule for Western Europe first, then chardet."""

import re

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
