"""An estimate of the tokens of a text, without a vocabulary.

Most vocabularies divide text at similar places: before capitals, between groups of three digits, around punctuation.
The estimate counts pieces by class and weighs each class. For prose, code, JSON, logs, tables and CJK it is within
about 10 % of the real count. `projections/requests/token_account.py` corrects the difference by the provider's counts.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

SAMPLE = 64 * 1024
"""The characters that are examined; a longer text is sampled in slices from its whole length."""

_SLICES = 16

_REMEMBERED = 4_096
"""The most texts with a cached weight, and with a cached kind of content."""

Found = TypeVar("Found")
_Text: TypeAlias = tuple[int, int]
"""A text as the caches know it: its hash and its length, because no text may outlive its run."""

_weights: dict[_Text, float] = {}
_kinds: dict[_Text, "Content"] = {}

_PIECES = re.compile(
    r"""
    (?P<glued>(?<=[A-Za-z0-9])(?:[A-Z]?[a-z]{1,3}(?![a-z])|[A-Z]{1,3}(?![A-Za-z])))  # in hashes and base64
  | (?P<long>[A-Z]?[a-z]{8,14}|[A-Z]{8,14})
  | (?P<word>[A-Z]?[a-z]{1,14}|[A-Z]{1,14}(?![a-z])|[A-Z])
  | (?P<digits>[0-9]{1,3})
  | (?P<free>\ (?=[^\W\d_]))                      # one space belongs to the next word
  | (?P<joined>(?<![!-/:-@\[-`{-~])[!-/:-@\[-`{-~](?=[A-Za-z]))  # and so may one sign
  | (?P<signs>\ ?[!-/:-@\[-`{-~]{1,4}[\r\n]{0,8}) # line ends belong to the signs before them
  | (?P<line>[\ \t]{0,32}[\r\n]{1,8})
  | (?P<space>[^\S\n]{1,32})
  | (?P<ideograph>[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])
  | (?P<hangul>[\uac00-\ud7af])
  | (?P<letters>[^\W\d_]{1,3})
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WEIGHTS = {
    "glued": 1.4,
    "long": 1.35,
    "word": 1.02,
    "digits": 1.0,
    "free": 0.0,
    "line": 1.0,
    "space": 0.95,
    "joined": 0.35,
    "signs": 1.0,
    "ideograph": 0.8,
    "hangul": 0.73,
    "letters": 0.95,
    "other": 1.5,
}


def estimate(text: str) -> int:
    """Return the approximate number of tokens of a text: 0 for the empty text, else at least 1. Takes milliseconds."""
    if len(text) <= SAMPLE:
        return _rounded(_weight(text))
    size = SAMPLE // _SLICES
    step = (len(text) - size) / (_SLICES - 1)
    sample = "".join(text[round(n * step) : round(n * step) + size] for n in range(_SLICES))
    return _rounded(_weight(sample) * len(text) / len(sample))


def _weight(text: str) -> float:
    # A tool result is weighed several times, and again when its run resumes.
    return _cached(_weights, text, _counted)


def _cached(cache: dict[_Text, Found], text: str, find: Callable[[str], Found]) -> Found:
    """Return what `find` returns for a text, or returned when it was last called for it."""
    key = (hash(text), len(text))
    known = cache.get(key)
    if known is None:
        if len(cache) >= _REMEMBERED:
            cache.clear()
        known = cache[key] = find(text)
    return known


def _counted(text: str) -> float:
    counts = Counter(piece.lastgroup for piece in _PIECES.finditer(text))
    return sum(_WEIGHTS[name] * count for name, count in counts.items() if name)


def _rounded(weight: float) -> int:
    if weight:
        return max(1, round(weight))
    return 0


Content = Literal["prose", "code", "json", "cjk", "dense", "image"]
"""The kind of content: words; source code and logs; JSON and tables; Chinese, Japanese and Korean; hashes and base64;
images."""

KIND_SAMPLE = 8_192
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SIGNS = re.compile(r"[^\w\s]|_")
_WORD = re.compile(r"[^\W\d_]+")


def content_of(text: str) -> Content:
    """Return the predominant kind of content of a text. A long text is sampled."""
    return _cached(_kinds, text, _kind)


def _kind(text: str) -> Content:
    if len(text) <= KIND_SAMPLE:
        sample = text
    else:
        sample = text[: KIND_SAMPLE // 2] + text[len(text) // 2 :][: KIND_SAMPLE // 2]
    letters = sum(map(len, _WORD.findall(sample)))
    if len(_CJK.findall(sample)) * 4 > len(sample):
        return "cjk"
    if sample.count('"') * 15 > len(sample):
        return "json"
    longest = max(map(len, sample.split()), default=0)
    if longest > 200 or letters * 2 < len("".join(sample.split())):
        return "dense"
    if len(_SIGNS.findall(sample)) * 12 > len(sample):
        return "code"
    return "prose"
