"""Groups of signs with something in common: the same failed check, the same failing tool, or similar words."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from gofer.learning.suggestions.signs import Sign
from gofer.values.amounts import counted

GroupKind = Literal["check", "tool", "words"]
SHARED_WORDS = 2
"""The fewest words that two signs of one group share."""
SHARED_PART = 0.3
"""The least part of the words of the shorter sign that both share."""
_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class Group:
    """Signs with something in common."""

    kind: GroupKind
    about: str
    """The name of the check or the tool; empty for similar words."""
    signs: Sequence[Sign]

    @property
    def runs(self) -> Sequence[str]:
        """The runs with these signs, each once: those about which people said something come first."""
        return list(dict.fromkeys(sign.run for sign in self.telling))

    @property
    def telling(self) -> Sequence[Sign]:
        """The signs: feedback before the others, and those with words before those without."""
        return sorted(self.signs, key=lambda sign: (not sign.words, sign.kind != "feedback"))

    @property
    def has_feedback(self) -> bool:
        """Whether a person said in words what was no good."""
        return any(sign.kind == "feedback" and sign.words for sign in self.signs)

    @property
    def disliked(self) -> int:
        """The number of the runs with bad feedback, with or without words."""
        return len({sign.run for sign in self.signs if sign.kind == "feedback"})

    @property
    def title(self) -> str:
        """The group in one line, such as `calls of find_orders failed (3 runs, 1 with bad feedback)`."""
        feedback = ""
        if self.disliked:
            feedback = f", {self.disliked} with bad feedback"
        return f"{self._what} ({counted(len(self.runs), 'run')}{feedback})"

    @property
    def _what(self) -> str:
        match self.kind:
            case "check":
                return f"the check {self.about} failed"
            case "tool":
                return f"calls of {self.about} failed"
            case "words" if len(self.runs) == 1:
                return "a person or a review said"
            case "words":
                return "people or reviews said similar things"


def grouped(signs: Iterable[Sign]) -> Sequence[Group]:
    """Return the signs by what they have in common: groups with words of people come first, then other feedback, then
    warnings of code; among these, the group with the most runs."""
    by_name: dict[tuple[GroupKind, str], list[Sign]] = {}
    said: list[Sign] = []
    for sign in signs:
        match sign.kind:
            case "check" | "tool":
                by_name.setdefault((sign.kind, sign.about), []).append(sign)
            case "feedback" | "review" | "drift":
                said.append(sign)
    groups = [Group(kind, about, found) for (kind, about), found in by_name.items()]
    groups += _by_words(said)
    return sorted(groups, key=_rank)


def _rank(group: Group) -> tuple[object, ...]:
    return not group.has_feedback, not group.disliked, -len(group.runs), group.kind, group.about


def _by_words(signs: Sequence[Sign]) -> Sequence[Group]:
    """Return groups of runs about which similar words were said. A run joins the first group whose words it shares."""
    by_run: dict[str, list[Sign]] = {}
    for sign in signs:
        by_run.setdefault(sign.run, []).append(sign)
    found: list[_SimilarWords] = []
    for members in by_run.values():
        if not any(sign.words for sign in members):
            continue
        words = {word for sign in members for word in _words(sign.words)}
        group = next((group for group in found if _are_similar(group.common, words)), None)
        if group is None:
            found.append(_SimilarWords(words, members))
        else:
            group.common &= words
            group.signs += members
    return [Group("words", "", group.signs) for group in found]


@dataclass(slots=True)
class _SimilarWords:
    """Signs of runs with similar words."""

    common: set[str]
    signs: list[Sign]


def _are_similar(one: Set[str], other: Set[str]) -> bool:
    shared = len(one & other)
    return shared >= SHARED_WORDS and shared >= SHARED_PART * min(len(one), len(other))


def _words(text: str) -> Set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
