"""Near misses: for an event that starts no workflow, the workflow that comes nearest and its unmet conditions.

The reply to a delivery, the log, the list of runs and `gofer explain` all use the sentences of this module. They name
a condition as the workflow file does. They never show a condition on text, nor the text of the event.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import cast

from gofer.sources.receiver_spec import EventSpec
from gofer.sources.receivers import events_of, known
from gofer.values.events import Event
from gofer.workflows.routes import Route, Routes, is_met

NEAR = 32
"""The most routes with the same first fact as the event that are compared. The limit bounds the cost."""
REST = 8
"""The most other routes that are compared, beginning with those that have the fewest conditions."""
_SHOWN = 5
"""The most words of one condition that are shown."""
_LONGEST = 80
"""The most characters of one word that are shown."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A condition that an event does not meet."""

    fact: str
    wanted: Sequence[str]
    found: Sequence[str] | None
    """The words that the event has for this fact; None when the fact is not known."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The reason why an event starts no workflow."""

    kind: str
    workflow: str = ""
    """The workflow that comes nearest; empty when no workflow listens to events of this kind."""
    unmet: Sequence[Unmet] = ()
    others: int = 0
    """The number of other workflows that listen to events of this kind."""

    def tell(self, *, found: bool = False) -> str:
        """Return the reason as a clause.

        `found` includes values of the event, for a reader who has its payload anyway.
        """
        if not self.workflow:
            return f"no workflow listens to {self.kind}"
        clauses = " and ".join(_clause(events_of(self.kind), unmet, found) for unmet in self.unmet)
        return f"{self.workflow} {clauses}{self._rest()}"

    def _rest(self) -> str:
        match self.others:
            case 0:
                return ""
            case 1:
                return f"; 1 more workflow listens to {self.kind} and does not match either"
            case _:
                return f"; {self.others} more workflows listen to {self.kind} and do not match either"


def near_miss(routes: Routes, event: Event) -> NearMiss:
    """Return the reason why an event that matches no route starts no workflow."""
    facts = known(event)
    listening = len(routes.workflows(event.kind))
    if not listening:
        return NearMiss(event.kind)
    candidates = chain(islice(routes.near(event.kind, facts), NEAR), routes.simplest(event.kind)[:REST])
    return nearest(event.kind, candidates, facts, others=listening - 1)


def nearest(
    kind: str, routes: Iterable[Route], facts: Mapping[str, object], *, others: int = 0, whole: bool = False
) -> NearMiss:
    """Return the near miss of the first route with the fewest unmet conditions. `whole` is as in `routes.passes`."""
    best = NearMiss(kind)
    spec = events_of(kind)
    for route in routes:
        unmet = _unmet(spec, route, facts, whole=whole)
        if not best.workflow or len(unmet) < len(best.unmet):
            best = NearMiss(kind, route.workflow, unmet, others)
        if len(unmet) == 1:
            break
    return best


def _unmet(spec: EventSpec, route: Route, facts: Mapping[str, object], *, whole: bool) -> Sequence[Unmet]:
    return [
        Unmet(fact, wanted, _found(spec, facts, fact))
        for fact, wanted in route.where.items()
        if not is_met(fact, wanted, facts, whole=whole)
    ]


def _found(spec: EventSpec, facts: Mapping[str, object], fact: str) -> Sequence[str] | None:
    """Return the words of a fact with their original case, which `routes.words` would lower."""
    value = facts.get(fact)
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        return [str(value)]
    return spec.found(fact, [str(item) for item in cast(Sequence[object], value)])


def _clause(spec: EventSpec, unmet: Unmet, found: bool) -> str:
    fact = unmet.fact
    if clause := spec.clause(fact, unmet.wanted):
        return clause
    if fact == "says":
        return "has a condition on the text (`says`) that is not met"
    if fact == "bot":
        return "does not take events that bots cause"
    if fact in spec.changes:
        return f"requires the change `{_shown(unmet.wanted)}`{_beside(spec, unmet, found)}"
    name = spec.places.get(fact) or spec.conditions.get(fact, fact)
    return f"requires `{name}: {_shown(spec.written(fact, unmet.wanted))}`{_beside(spec, unmet, found)}"


def _beside(spec: EventSpec, unmet: Unmet, found: bool) -> str:
    if unmet.found is None:
        return ", which is not known here"
    if not found:
        return ""
    if not unmet.found:
        return " (this has none)"
    return f" (this is `{_shown(spec.written(unmet.fact, unmet.found))}`)"


def _shown(listed: Sequence[str]) -> str:
    """Return words in the notation of workflow files; drop words beyond the limit and shorten long ones."""
    cut = [word[:_LONGEST] for word in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        cut.append(f"and {len(listed) - _SHOWN} more")
    if len(cut) == 1:
        return cut[0]
    return f"[{', '.join(cut)}]"
