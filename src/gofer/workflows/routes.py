"""The routes from events to workflows: a look-up in compiled JSON, without YAML and pydantic."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.journal.entries import Route
from gofer.workflows.feedback_emoji import KEY, FeedbackEmoji, read_emoji

Where = Mapping[str, Sequence[str]]
"""Conditions: each fact must match one of its words; `*` in a word matches any text."""


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of all workflows, by kind of event."""

    by_kind: Mapping[str, "_KindRoutes"] = field(default_factory=dict[str, "_KindRoutes"])
    feedback: FeedbackEmoji = field(default_factory=FeedbackEmoji)
    """The emoji that are feedback on answers."""

    def matching(self, kind: str, facts: Mapping[str, object]) -> Sequence[Route]:
        """Return the routes that an event with these facts matches, sorted by workflow name.

        A condition on a fact that the event lacks passes here; admission decides it. The cost grows only with the
        number of workflows that share the event's kind and its value of the indexed fact.
        """
        near = self.by_kind.get(kind, _NONE).near(facts)
        # The index may find a route by several of its words.
        found = {id(route): route for route in near if passes(route.where, facts)}
        return sorted(found.values(), key=_workflow)

    def workflows(self, kind: str) -> Sequence[str]:
        """Return every workflow that a kind of event may start, sorted by name."""
        return self.by_kind.get(kind, _NONE).workflows

    def near(self, kind: str, facts: Mapping[str, object]) -> Iterator[Route]:
        """Yield the routes that the index of a kind finds, those without a condition on the indexed fact first."""
        return self.by_kind.get(kind, _NONE).near(facts)

    def simplest(self, kind: str) -> Sequence[Route]:
        """Return every route of a kind, those with the fewest conditions and words first."""
        return self.by_kind.get(kind, _NONE).simplest


@dataclass(frozen=True, slots=True)
class _KindRoutes:
    """The routes of one kind, indexed by the most selective fact."""

    fact: str
    by_word: Mapping[str, Sequence[Route]]
    others: Sequence[Route]
    """Routes without a condition on the fact, or with `*` in it."""
    simplest: Sequence[Route] = ()
    """All routes, those with the fewest conditions and words first."""
    workflows: Sequence[str] = ()
    """The workflows of the routes, sorted by name."""

    def near(self, facts: Mapping[str, object]) -> Iterator[Route]:
        """Yield the routes that facts may match."""
        yield from self.others
        words: Iterable[str] = self.by_word
        if self.fact in facts:
            words = _words(facts[self.fact])
        for word in words:
            yield from self.by_word.get(word, ())


_NONE = _KindRoutes("", {}, ())


def passes(where: Where, facts: Mapping[str, object], *, whole: bool = False) -> bool:
    """Return whether facts meet conditions.

    With `whole`, all facts are known, so a condition on a missing fact fails.
    """
    return all(is_met(fact, patterns, facts, whole=whole) for fact, patterns in where.items())


def is_met(fact: str, patterns: Sequence[str], facts: Mapping[str, object], *, whole: bool = False) -> bool:
    """Return whether facts meet one condition; see `passes`."""
    if fact not in facts:
        return not whole
    return any(fits(pattern, word) for pattern in patterns for word in _words(facts[fact]))


def fits(pattern: str, word: str) -> bool:
    """Return whether a word matches a pattern, ignoring case, without backtracking."""
    first, *rest = pattern.casefold().split("*")
    word = word.casefold()
    if not rest:
        return word == first
    *middle, last = rest
    if len(word) < len(first) + len(last) or not word.startswith(first) or not word.endswith(last):
        return False
    at = len(first)
    end = len(word) - len(last)
    for part in middle:
        if (found := word.find(part, at, end)) < 0:
            return False
        at = found + len(part)
    return True


def overlap(one: str, other: str) -> bool:
    """Return whether some word matches both patterns, ignoring case. Time grows with the product of their lengths."""
    one = one.casefold()
    other = other.casefold()
    # reached[j]: whether some word matches both the beginning of `one` so far and the first j characters of `other`.
    reached = [True]
    for char in other:
        reached.append(reached[-1] and char == "*")
    for char in one:
        following = [reached[0] and char == "*"]
        for at, theirs in enumerate(other, 1):
            either = char == "*" or theirs == "*"
            passed = either and (following[at - 1] or reached[at] or reached[at - 1])
            following.append(passed or (char == theirs and reached[at - 1]))
        reached = following
    return reached[-1]


def read_routes(compiled: object) -> Routes:
    """Return the routes of the compiled JSON that `workflows.load` makes: `{kind: [[workflow, where], …]}`."""
    kinds = cast(Mapping[str, Sequence[tuple[str, Where]]], compiled)
    routes = {kind: [Route(*item) for item in items] for kind, items in kinds.items()}
    emoji = read_emoji(routes.pop(KEY, ()))
    return Routes({kind: _indexed(items) for kind, items in routes.items()}, emoji)


def _indexed(unordered: Sequence[Route]) -> _KindRoutes:
    routes = sorted(unordered, key=_complexity)
    fact = min(
        sorted({fact for route in routes for fact in route.where}), key=lambda f: _candidates(routes, f), default=""
    )
    by_word: dict[str, list[Route]] = {}
    for route in (route for route in routes if _plain(route, fact)):
        for word in route.where[fact]:
            by_word.setdefault(word.casefold(), []).append(route)
    others = [route for route in routes if not _plain(route, fact)]
    return _KindRoutes(fact, by_word, others, routes, sorted({route.workflow for route in routes}))


def _workflow(route: Route) -> str:
    return route.workflow


def _complexity(route: Route) -> tuple[int, int, str]:
    return len(route.where), sum(map(len, route.where.values())), route.workflow


def _candidates(routes: Sequence[Route], fact: str) -> int:
    """Return the most routes that an event has to be compared with, when this fact is the index."""
    plain = [route for route in routes if _plain(route, fact)]
    shared = Counter(word.casefold() for route in plain for word in route.where[fact])
    return len(routes) - len(plain) + max(shared.values(), default=0)


def _plain(route: Route, fact: str) -> bool:
    return fact in route.where and not any("*" in word for word in route.where[fact])


def _words(value: object) -> Sequence[str]:
    """Return a fact as a list of words."""
    match value:
        case bool():
            return (str(value).lower(),)
        case list() | tuple():
            return [str(item).casefold() for item in cast(Sequence[object], value)]
        case _:
            return (str(value).casefold(),)
