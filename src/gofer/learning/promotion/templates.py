"""Templates: constant text with values of the run in it, found from several runs at once.

The texts of all runs are read from left to right at the same time. At each point either one value of the run is the
next part of every text, or the same character is. So a value is taken for a part only if it fits every run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gofer.learning.promotion.references import Reference, Values

AT_ONCE = 8
"""The most runs that are read at the same time."""
WINDOW = 4
"""The runs of one attempt, if not all runs have the same template."""
MOST_WINDOWS = 12
LONGEST = 4_000
"""The most characters of a text that may come from a template."""
MOST_STATES = 20_000
"""The most points that one attempt looks at."""

Part: TypeAlias = str | Reference


@dataclass(frozen=True, slots=True)
class Hole:
    """A value of the run, as text, in each of the runs that are read together."""

    reference: Reference
    texts: Sequence[str]


def template_of(texts: Sequence[str], values: Sequence[Values]) -> Sequence[Part] | None:
    """Return the template that most of the texts follow; None without one. It has at least one value of the run.

    `values` holds the values of the run that wrote each text.
    """
    best: Sequence[Part] | None = None
    most = 0
    for chosen in _samples(len(texts)):
        found = _common([texts[index] for index in chosen], [values[index] for index in chosen])
        if found is None:
            continue
        holds = sum(render(found, run) == text for text, run in zip(texts, values, strict=True))
        if holds > most:
            best = found
            most = holds
        if most == len(texts):
            break
    return best


def render(parts: Sequence[Part], values: Values) -> str | None:
    """Return the text of a template in one run; None if the run lacks a value."""
    made: list[str] = []
    for part in parts:
        if isinstance(part, str):
            made.append(part)
            continue
        text = as_text_of(values.get(part))
        if text is None:
            return None
        made.append(text)
    return "".join(made)


def as_text_of(value: object) -> str | None:
    """Return a value as a template writes it; None for a value that no template may contain."""
    match value:
        case bool():
            return None
        case str() | int() | float():
            return str(value)
        case _:
            return None


def _samples(runs: int) -> Sequence[Sequence[int]]:
    """Return the groups of runs that are read together: runs from everywhere, then neighbours."""
    if runs <= AT_ONCE:
        spread = [list(range(runs))]
    else:
        spread = [[index * runs // AT_ONCE for index in range(AT_ONCE)]]
    step = max(WINDOW, runs // MOST_WINDOWS)
    return [*spread, *(list(range(first, min(first + WINDOW, runs))) for first in range(0, runs, step))]


def _common(texts: Sequence[str], values: Sequence[Values]) -> Sequence[Part] | None:
    """Return the template of all of these texts; None without one."""
    if max(map(len, texts)) > LONGEST or len(set(texts)) == 1:
        return None
    search = _Search(texts, _holes(texts, values))
    return search.parts()


def _holes(texts: Sequence[str], values: Sequence[Values]) -> Sequence[Hole]:
    """Return the values that occur in every text and differ between the runs, the longest first."""
    found: dict[tuple[str, ...], Reference] = {}
    for reference in values[0]:
        shown = [as_text_of(run.get(reference)) for run in values]
        inside = [part for part, text in zip(shown, texts, strict=True) if part and part in text]
        if len(inside) < len(texts) or len(set(inside)) == 1:
            continue
        key = tuple(inside)
        known = found.get(key)
        if known is None or reference.rank < known.rank:
            found[key] = reference
    holes = [Hole(reference, key) for key, reference in found.items()]
    return sorted(holes, key=lambda hole: (-sum(map(len, hole.texts)), hole.reference.rank))


class _Search:
    """The search for one template. A point is the position in each text."""

    def __init__(self, texts: Sequence[str], holes: Sequence[Hole]) -> None:
        self._texts = texts
        self._holes = holes
        self._end = tuple(map(len, texts))
        self._seen: set[tuple[int, ...]] = set()

    def parts(self) -> Sequence[Part] | None:
        """Return the parts of the template, adjacent characters joined; None if there is none."""
        start = (0,) * len(self._texts)
        came_from: dict[tuple[int, ...], tuple[tuple[int, ...], Part]] = {}
        waiting: list[tuple[tuple[int, ...], tuple[int, ...], Part]] = [(start, start, "")]
        while waiting and len(self._seen) < MOST_STATES:
            point, before, part = waiting.pop()
            if point in self._seen:
                continue
            self._seen.add(point)
            came_from[point] = (before, part)
            if point == self._end:
                return _joined(came_from, start, point)
            waiting += self._next(point)
        return None

    def _next(self, point: tuple[int, ...]) -> Sequence[tuple[tuple[int, ...], tuple[int, ...], Part]]:
        """Return the points that follow, the best one last: that after the longest value, else after a character."""
        following: list[tuple[tuple[int, ...], tuple[int, ...], Part]] = []
        characters = {text[at : at + 1] for text, at in zip(self._texts, point, strict=True)}
        if len(characters) == 1 and characters != {""}:
            following.append((tuple(at + 1 for at in point), point, characters.pop()))
        for hole in reversed(self._holes):
            if all(text.startswith(part, at) for text, part, at in zip(self._texts, hole.texts, point, strict=True)):
                after = tuple(at + len(part) for at, part in zip(point, hole.texts, strict=True))
                following.append((after, point, hole.reference))
        return following


def _joined(
    came_from: Mapping[tuple[int, ...], tuple[tuple[int, ...], Part]], start: tuple[int, ...], end: tuple[int, ...]
) -> Sequence[Part]:
    parts: list[Part] = []
    point = end
    while point != start:
        point, part = came_from[point]
        if isinstance(part, str) and parts and isinstance(parts[0], str):
            parts[0] = part + parts[0]
        else:
            parts.insert(0, part)
    return parts
