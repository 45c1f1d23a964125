"""Precedence among the workflows that match one event: the workflow with the most specific condition on the place wins.

Only the place counts: a channel, a project, a database or a repository. An id or an exact name is more specific than
a pattern, and a pattern is more specific than no condition. If several workflows are equally specific, all of them run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.receivers import events_of
from gofer.workflows.routes import Route, Where, is_met, passes

Facts = Mapping[str, object]

EXACT = 3
PATTERN = 2
ANYWHERE = 1


@dataclass(frozen=True, slots=True)
class Standing:
    """The specificity of a workflow's condition on the place of an event."""

    workflow: str
    precedence: int
    place: str = ""
    """The condition in the workflow file's notation, such as `channels: "#deploys"`; empty for any place."""

    def described(self) -> str:
        """Return the workflow with its condition, for people."""
        if not self.place:
            return f"{self.workflow} (any place)"
        return f"{self.workflow} (`{self.place}`)"


def place_fact(kind: str, where: Where) -> str:
    """Return the fact with which conditions on events of this kind restrict the place; empty when they do not."""
    spec = events_of(kind)
    own = spec.place_of_kind.get(kind, "")
    if own in where:
        return own
    return next((fact for fact in spec.places if fact in where), "")


def precision(pattern: str) -> int:
    """Return the specificity of one word of a condition on the place."""
    if "*" not in pattern:
        return EXACT
    if pattern.strip("*"):
        return PATTERN
    return ANYWHERE


def standing(kind: str, route: Route, facts: Facts, *, whole: bool) -> Standing:
    """Return the specificity of a route for an event that matches it, by the word that matches the event's place.

    If the place may still become known (`whole` is False), this is the highest specificity that it can reach.
    """
    fact = place_fact(kind, route.where)
    matching = [word for word in route.where.get(fact, ()) if is_met(fact, [word], facts, whole=whole)]
    if not matching:
        return Standing(route.workflow, ANYWHERE)
    word = max(matching, key=precision)
    spec = events_of(kind)
    (written,) = spec.written(fact, [word])
    return Standing(route.workflow, precision(word), f"{spec.places.get(fact, fact)}: {written}")


def standings(kind: str, routes: Sequence[Route], facts_of: Callable[[str], Facts]) -> Sequence[Standing]:
    """Return the specificity of each matching workflow by its most specific route, sorted by the workflows' names.

    `facts_of` returns all facts of the event as they are for one workflow.
    """
    best: dict[str, Standing] = {}
    for route in routes:
        facts = facts_of(route.workflow)
        if passes(route.where, facts, whole=True):
            keep_best(best, standing(kind, route, facts, whole=True))
    return [best[workflow] for workflow in sorted(best)]


def keep_best(best: dict[str, Standing], found: Standing) -> None:
    """Store a standing if it is more specific than the stored standing of the same workflow."""
    before = best.get(found.workflow)
    if before is None or before.precedence < found.precedence:
        best[found.workflow] = found


def winners(ranked: Sequence[Standing]) -> Sequence[Standing]:
    """Return the standings that share the highest precedence."""
    highest = max((one.precedence for one in ranked), default=0)
    return [one for one in ranked if one.precedence == highest]
