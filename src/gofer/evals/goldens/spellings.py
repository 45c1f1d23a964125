"""The spellings of a name: composed and decomposed letters, without accents, and as other keyboards write them."""

import unicodedata
from collections.abc import Sequence

from gofer.evals.goldens.pseudonyms import lower

_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ø": "oe", "å": "aa"})
_TURKISH = frozenset("ıİşŞğĞ")
_UNBROKEN = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x2E80, 0x31FF),
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),
    (0x20000, 0x3FFFF),
)
"""The code points of scripts that write no space between words: Thai, Lao, Burmese, Hangul, Kana and Chinese."""


def spellings(name: str) -> Sequence[str]:
    """Return the spellings of a name, without repetition."""
    if name.isascii():
        return (name,)
    composed = unicodedata.normalize("NFC", name)
    written = [name, composed, unicodedata.normalize("NFD", name)]
    for plain in (composed, composed.translate(_WRITTEN_OUT)):
        written += [without_accents(plain), without_accents(plain).replace("ß", "ss").replace("ẞ", "SS")]
    written += [one.replace("ß", "ss") for one in written]
    if not _TURKISH.isdisjoint(composed):
        # The small letter of I is i or ı.
        written += [lower(one).replace(small, other) for one in [*written] for small, other in (("ı", "i"), ("i", "ı"))]
    return tuple(dict.fromkeys(written))


def without_accents(text: str) -> str:
    """Return a text with plain letters instead of letters with accents."""
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(char for char in parts if not _is_accent(char)))


def _is_accent(char: str) -> bool:
    return "\u0300" <= char <= "\u036f"


def is_unbroken(name: str) -> bool:
    """Return whether a name is written in a script without spaces between words."""
    return any(first <= ord(char) <= last for char in name for first, last in _UNBROKEN)
