"""The words of a request that say what it is about: no mentions, numbers, links, code or filler words."""

import re
from collections.abc import Sequence
from pathlib import Path

MOST_CHARACTERS = 4_000
"""The most characters of a request that are compared."""
_LEFT_OUT = re.compile(r"```.*?```|`[^`]*`|<[^>]*>|https?://\S+|\S+@\S+|[@#]\S+|\b[A-Z][A-Z0-9]+-\d+\b", re.DOTALL)
"""Code, mentions, links, addresses, channels and keys of issues."""
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’-][^\W\d_]+)*")
_FILLER = frozenset(Path(__file__).with_name("filler_words.txt").read_text(encoding="utf-8").split())
"""Words of English and German that say nothing about the subject of a request."""


def words_of(text: str) -> Sequence[str]:
    """Return the words of a request in their order, in lower case and without the plural `s`."""
    plain = _LEFT_OUT.sub(" ", text[:MOST_CHARACTERS])
    words = [word.lower() for word in _WORD.findall(plain)]
    return [_singular(word) for word in words if word not in _FILLER]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
