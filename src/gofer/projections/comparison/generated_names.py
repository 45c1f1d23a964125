"""The names that two runs of the same work generate differently: their ids, the ids of what they made, and times.

Two texts that differ only in such names have the same meaning. A name is replaced by the order in which its run first
had it, so that texts that confuse two of them still differ.
"""

import re
from collections.abc import Iterable, Mapping
from typing import cast

_TIMES = re.compile(
    r"(?<!\d)\d{10}\.\d{6}(?!\d)"  # seconds since 1970, as messages are named
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{1,2} [A-Z][a-z]+ \d{4}"
    r"|(?:[A-Z][a-z]+day )?\d{1,2}:\d\d(?::\d\d)?(?= UTC| in [A-Z]\w+/)"
)
_WORDS = re.compile(r"[A-Za-z0-9_.-]+")
_AROUND_WORDS = "_.-"
"""Punctuation at the beginning and the end of a word, which is no part of a name."""
TIME = "‹time›"
"""The replacement of a time."""
SHORT = 8
"""The characters of a shortened run id."""


class GeneratedNames:
    """The generated names of one run so far."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, names: Iterable[str]) -> None:
        """Add names, in the order in which the run had them; a known name keeps its replacement."""
        for name in filter(None, names):
            self._known.setdefault(name, f"‹id {len(self._known) + 1}›")

    def plain_text(self, text: str) -> str:
        """Return a text with each generated name and each time replaced."""
        without_times = _TIMES.sub(TIME, text)
        return _WORDS.sub(self._plain_word, without_times)

    def _plain_word(self, found: re.Match[str]) -> str:
        word = found[0].lstrip(_AROUND_WORDS)
        name = word.rstrip(_AROUND_WORDS)
        before = found[0].removesuffix(word)
        return f"{before}{self._known.get(name, name)}{word.removeprefix(name)}"

    def plain(self, value: object) -> object:
        """Return a JSON value with each generated name and each time in its texts replaced."""
        if isinstance(value, str):
            return self.plain_text(value)
        if isinstance(value, Mapping):
            pairs = cast(Mapping[str, object], value).items()
            return {key: self.plain(part) for key, part in pairs}
        if isinstance(value, list | tuple):
            return [self.plain(part) for part in cast(list[object], value)]
        return value
