"""The routes from events to workflows: a look-up over compiled JSON, without YAML and pydantic."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.journal.entries import Route

Where = Mapping[str, Sequence[str]]
"""Conditions: the words each fact may have, of which it must have one; `*` in a word stands for anything."""


@dataclass(frozen=True, slots=True)
class Routes:
    """The ways of every workflow, by the kind of event."""

    by_kind: Mapping[str, "_Ways"] = field(default_factory=dict[str, "_Ways"])

    def matching(self, kind: str, facts: Mapping[str, object]) -> Sequence[Route]:
        """Return the routes that an event of a kind with these facts matches, in the order of their workflows' names.

        A condition on a fact that the event does not carry passes here and is decided by admission. The cost does not
        grow with the number of workflows, but with the number of those that share the event's kind and first fact.
        """
        near = self.by_kind.get(kind, _NONE).near(facts)
        # A route may be found by several of its words.
        found = {id(route): route for route in near if passes(route.where, facts)}
        return sorted(found.values(), key=_workflow)

    def workflows(self, kind: str) -> Sequence[str]:
        """Every workflow that a kind of event may start, in the order of their names."""
        return self.by_kind.get(kind, _NONE).workflows

    def near(self, kind: str, facts: Mapping[str, object]) -> Iterator[Route]:
        """Yield the routes of a kind that facts fit best by its first fact, simplest first."""
        return self.by_kind.get(kind, _NONE).near(facts)

    def simplest(self, kind: str) -> Sequence[Route]:
        """Return every route of a kind, those with the fewest conditions and words first."""
        return self.by_kind.get(kind, _NONE).simplest


@dataclass(frozen=True, slots=True)
class _Ways:
    """The routes of one kind, found by the fact that leaves the fewest to look at."""

    fact: str
    by_word: Mapping[str, Sequence[Route]]
    others: Sequence[Route]
    """Those that do not ask for the fact, or not by plain words."""
    simplest: Sequence[Route] = ()
    """All of them, those with the fewest conditions and words first."""
    workflows: Sequence[str] = ()
    """The workflows they lead to, in the order of their names."""

    def near(self, facts: Mapping[str, object]) -> Iterator[Route]:
        """The routes that facts may fit."""
        yield from self.others
        sought = _words(facts[self.fact]) if self.fact in facts else self.by_word
        for word in sought:
            yield from self.by_word.get(word, ())


_NONE = _Ways("", {}, ())


def passes(where: Where, facts: Mapping[str, object], *, whole: bool = False) -> bool:
    """Whether facts fulfil conditions; `whole` when a fact that is not there can be none any more."""
    return all(is_met(fact, patterns, facts, whole=whole) for fact, patterns in where.items())


def is_met(fact: str, patterns: Sequence[str], facts: Mapping[str, object], *, whole: bool = False) -> bool:
    """Return whether one condition is met; see passes."""
    if fact not in facts:
        return not whole
    return any(fits(pattern, word) for pattern in patterns for word in _words(facts[fact]))


def fits(pattern: str, word: str) -> bool:
    """Return whether a word is what a pattern says, in any case; time grows with their lengths only."""
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
    """Return whether two patterns share a word, in any case; time grows with the product of their lengths."""
    one = one.casefold()
    other = other.casefold()
    # reached[j]: whether the beginning of `one` so far and the first j characters of `other` share a word.
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
    """Routes from their compiled JSON, as `workflows.load` makes it: `{kind: [[workflow, where], …]}`."""
    kinds = cast(Mapping[str, Sequence[tuple[str, Where]]], compiled)
    return Routes({kind: _ways([Route(*item) for item in items]) for kind, items in kinds.items()})


def _ways(unordered: Sequence[Route]) -> _Ways:
    routes = sorted(unordered, key=_complexity)
    fact = min(sorted({fact for route in routes for fact in route.where}), key=lambda f: _looked(routes, f), default="")
    by_word: dict[str, list[Route]] = {}
    for route in (route for route in routes if _plain(route, fact)):
        for word in route.where[fact]:
            by_word.setdefault(word.casefold(), []).append(route)
    others = [route for route in routes if not _plain(route, fact)]
    return _Ways(fact, by_word, others, routes, sorted({route.workflow for route in routes}))


def _workflow(route: Route) -> str:
    return route.workflow


def _complexity(route: Route) -> tuple[int, int, str]:
    return len(route.where), sum(map(len, route.where.values())), route.workflow


def _looked(routes: Sequence[Route], fact: str) -> int:
    """How many routes are looked at for one event at most, when this fact leads to them."""
    plain = [route for route in routes if _plain(route, fact)]
    shared = Counter(word.casefold() for route in plain for word in route.where[fact])
    return len(routes) - len(plain) + max(shared.values(), default=0)


def _plain(route: Route, fact: str) -> bool:
    return fact in route.where and not any("*" in word for word in route.where[fact])


def _words(value: object) -> Sequence[str]:
    """A fact as words."""
    match value:
        case bool():
            return (str(value).lower(),)
        case list() | tuple():
            return [str(item).casefold() for item in cast(Sequence[object], value)]
        case _:
            return (str(value).casefold(),)
