"""Passages that several prompts share, and that could be one skill.

Two prompts share a passage if at least FEWEST_WORDS of its words are equal and in the same order, with small edits
between them. Case, marks and line breaks make no difference.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

FEWEST_WORDS = 40
"""The equal words from which on a passage counts."""
LONGEST_EDIT = 8
"""The most words between two equal parts of a passage, in either prompt."""
SHORTEST_PART = 4
"""The fewest words of an equal part."""
MOST_WORDS = 5_000
"""The most words of one prompt that are compared, from its beginning."""
MOST_PROMPTS = 200
"""The most prompts that are compared."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Place:
    """The lines of a passage in a file, counted from 1, the last one included."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SharedPassage:
    """A passage, in the words of the first file that has it."""

    text: str
    words: int
    """The equal words of the two files that share the most of it."""
    places: Sequence[Place]


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a file in lower case, and the number of the line of each."""

    file: str
    lines: Sequence[str]
    words: Sequence[str]
    line_of: Sequence[int]

    def place(self, first: int, last: int) -> Place:
        return Place(self.file, self.line_of[first] + 1, self.line_of[last] + 1)


def shared_passages(texts: Mapping[str, str]) -> Sequence[SharedPassage]:
    """Return the passages that two or more texts share, by the paths of their files; those of the most files first."""
    read = [_words(file, text) for file, text in sorted(texts.items())[:MOST_PROMPTS]]
    found: dict[Place, tuple[int, dict[str, Place]]] = {}
    for one, other in combinations(read, 2):
        for words, here, there in _common(one, other):
            _note(found, words, here, there)
    by_file = {each.file: each for each in read}
    passages = [
        SharedPassage(_text(by_file[place.file], place), words, [place, *places.values()])
        for place, (words, places) in found.items()
    ]
    return sorted(passages, key=lambda passage: (-len(passage.places), -passage.words, passage.places[0].file))


def _words(file: str, text: str) -> _Words:
    lines = text.splitlines()
    found = [(word.lower(), number) for number, line in enumerate(lines) for word in _WORD.findall(line)][:MOST_WORDS]
    return _Words(file, lines, [word for word, _ in found], [number for _, number in found])


def _common(one: _Words, other: _Words) -> Iterator[tuple[int, Place, Place]]:
    """Yield the equal words and the places of each passage that two files share."""
    if len(set(one.words) & set(other.words)) < FEWEST_WORDS // 3:
        return
    matcher = SequenceMatcher(None, one.words, other.words, autojunk=False)
    parts = [part for part in matcher.get_matching_blocks() if part.size >= SHORTEST_PART]
    while parts:
        last = parts[0]
        size = 0
        run = 0
        for part in parts:
            if part.a - last.a - last.size > LONGEST_EDIT or part.b - last.b - last.size > LONGEST_EDIT:
                break
            last = part
            size += part.size
            run += 1
        if size >= FEWEST_WORDS:
            here = one.place(parts[0].a, last.a + last.size - 1)
            yield size, here, other.place(parts[0].b, last.b + last.size - 1)
        parts = parts[run:]


def _note(found: dict[Place, tuple[int, dict[str, Place]]], words: int, here: Place, there: Place) -> None:
    """Add a place to the passage that has the other one, or begin a passage."""
    for place, (most, places) in found.items():
        same = _overlap(place, here) or any(_overlap(known, here) for known in places.values())
        if same:
            places.setdefault(there.file, there)
            found[place] = (max(most, words), places)
            return
    found[here] = (words, {there.file: there})


def _overlap(one: Place, other: Place) -> bool:
    return one.file == other.file and one.first <= other.last and other.first <= one.last


def _text(words: _Words, place: Place) -> str:
    return "\n".join(words.lines[place.first - 1 : place.last])
