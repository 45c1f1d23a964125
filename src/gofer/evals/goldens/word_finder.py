"""Finds many words in a text in one pass: each place of the text is looked up, not each word searched."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.evals.goldens.pseudonyms import lower
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.evals.goldens.spellings import is_unbroken, spellings
from gofer.values.errors import ConfigError

MOST_WORDS = 20_000
"""The most words of one case."""
_PART = re.compile(r"[^\W_][^\W_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W_\u0300-\u036f]*)*")
"""Letters and digits with their accents."""
_GAP = r"[\s._+-]{0,2}"
"""What stands between the words of a name, such as in `Ada Lovelace` and `ada.lovelace`."""
_SPACED = re.compile(r"[\s._+-]+")
_LOOKED_UP = 2
"""The parts by which a word of several parts is looked up."""
_START = 2
"""The characters by which words within other words are looked up."""
_LEAST_OWNER = 4
"""The characters of the shortest name that is found with the `s` of a genitive."""


@dataclass(frozen=True, slots=True)
class Found:
    """A word at a place of a text."""

    start: int
    end: int
    word: Sensitive


@dataclass(frozen=True, slots=True)
class _Spelled:
    pattern: re.Pattern[str] | None
    """The spelling, in lower case, from its first letter or digit on; None for one part without signs."""
    before: str
    """The signs before the first letter or digit."""
    word: Sensitive


class WordFinder:
    """Finds a fixed set of words. Raises ConfigError when it is made for too many words."""

    def __init__(self, words: Iterable[Sensitive]) -> None:
        self._parts: dict[tuple[str, ...], list[_Spelled]] = {}
        self._within: dict[str, list[_Spelled]] = {}
        for word in words:
            self._add(word)
        firsts = "".join(sorted({re.escape(start[0]) for start in self._within}))
        self._firsts: re.Pattern[str] | None = None
        if firsts:
            self._firsts = re.compile(f"[{firsts}]")

    def found(self, text: str) -> Sequence[Found]:
        """Return the words in a text, the longest at each place, in order and without overlaps."""
        lowered = lower(text)
        found = [*self._whole(text, lowered), *self._inside(lowered)]
        found.sort(key=lambda one: (one.start, -one.end))
        kept: list[Found] = []
        for one in found:
            if not kept or one.start >= kept[-1].end:
                kept.append(one)
        return kept

    def _add(self, word: Sensitive) -> None:
        written: Sequence[str] = (word.word,)
        if word.form == "name":
            written = spellings(word.word)
        for spelled in dict.fromkeys(map(lower, written)):
            if word.bounds == "any" or is_unbroken(spelled):
                one = _Spelled(re.compile(_inner(spelled, word)), "", word)
                self._within.setdefault(spelled[:_START], []).append(one)
            else:
                self._add_parts(spelled, word)

    def _add_parts(self, spelled: str, word: Sensitive) -> None:
        parts: list[str] = _PART.findall(spelled)
        if not parts:
            return
        at = spelled.index(parts[0])
        pattern: re.Pattern[str] | None = None
        before = ""
        if parts[0] != spelled:
            pattern = re.compile(_inner(spelled[at:], word))
            before = spelled[:at]
        if word.form == "name":
            before = ""
        self._parts.setdefault(tuple(parts[:_LOOKED_UP]), []).append(_Spelled(pattern, before, word))
        if word.form == "name" and len(parts) > 1:
            # The words of a name also stand together, as in a handle.
            self._parts.setdefault(("".join(parts),), []).append(_Spelled(None, "", word))

    def _whole(self, text: str, lowered: str) -> Iterator[Found]:
        parts = list(_PART.finditer(lowered))
        for index, part in enumerate(parts):
            pair = tuple(one[0] for one in parts[index : index + _LOOKED_UP])
            for one in (*self._parts.get((part[0],), ()), *self._parts.get(pair, ())):
                end = _end(one, lowered, part)
                if end and _is_bounded(one, lowered, part.start(), end):
                    yield Found(part.start() - len(one.before), end, one.word)
            if part[0].endswith("s"):
                yield from self._owners(text, part)

    def _owners(self, text: str, part: re.Match[str]) -> Iterator[Found]:
        """Yield the names of one part that have the `s` of a genitive."""
        name = part[0][:-1]
        for one in self._parts.get((name,), ()):
            is_owner = one.pattern is None and one.word.form == "name" and text[part.start()].isupper()
            if is_owner and len(name) >= _LEAST_OWNER and _is_bounded(one, text, part.start(), part.end()):
                yield Found(part.start(), part.end() - 1, one.word)

    def _inside(self, lowered: str) -> Iterator[Found]:
        if self._firsts is None:
            return
        for first in self._firsts.finditer(lowered):
            at = first.start()
            for one in self._within.get(lowered[at : at + _START], ()):
                assert one.pattern is not None  # noqa: S101
                matched = one.pattern.match(lowered, at)
                if matched:
                    yield Found(at, matched.end(), one.word)


def _inner(spelled: str, word: Sensitive) -> str:
    """Return the pattern of a spelling in lower case."""
    if word.form == "code":
        return re.escape(spelled)
    return _GAP.join(re.escape(part) for part in _SPACED.split(spelled) if part)


def _end(one: _Spelled, lowered: str, part: re.Match[str]) -> int:
    """Return where a spelling that begins with a part of the text ends; 0 if another word stands there."""
    if not lowered.endswith(one.before, 0, part.start()):
        return 0
    if one.pattern is None:
        return part.end()
    matched = one.pattern.match(lowered, part.start())
    if matched is None:
        return 0
    return matched.end()


def _is_bounded(one: _Spelled, text: str, start: int, end: int) -> bool:
    """Return whether a word of the text ends where a found one ends, as the bounds of the word want."""
    after = text[end : end + 1]
    if one.word.bounds == "mailbox":
        return after == "@"
    if one.word.bounds == "word" and "_" in (text[start - 1 : start], after):
        return False
    return not after.isalnum() or not text[end - 1].isalnum()


def merged(words: Iterable[Sensitive]) -> Mapping[str, Sensitive]:
    """Return words by their lower case; a word that was found twice has the wider bounds and the form of an id.

    Raises ConfigError for too many words.
    """
    found: dict[str, Sensitive] = {}
    for word in words:
        key = lower(word.word)
        found[key] = _wider(found.get(key, word), word)
        if len(found) > MOST_WORDS:
            raise ConfigError(
                f"The runs hold more than {MOST_WORDS:,} names, addresses and ids, so they are too large for a golden; "
                "choose a smaller run, or leave out --thread."
            )
    return found


def _wider(one: Sensitive, other: Sensitive) -> Sensitive:
    form = one.form
    if other.form == "code":
        form = "code"
    bounds = one.bounds
    if _WIDTHS.index(other.bounds) > _WIDTHS.index(bounds):
        bounds = other.bounds
    return Sensitive(one.word, form, bounds)


_WIDTHS = ("mailbox", "word", "code", "any")
