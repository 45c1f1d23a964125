"""Near misses: which workflow comes nearest to an event that starts none, and which of its conditions are not met.

The reply to a delivery, the log, the run list and `gofer explain` all say it in the words of this module. A condition
is told by the name it has in the workflow file. What a condition on text wants, and the text, are never shown.
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
"""Routes that share the event's first fact and are compared at most, so that the cost has a bound."""
REST = 8
"""Other routes that are compared at most, those with the fewest conditions first."""
_SHOWN = 5
"""Words of one condition that are shown."""
_LONGEST = 80
"""Characters of one word that are shown."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A condition that an event does not meet."""

    fact: str
    wanted: Sequence[str]
    found: Sequence[str] | None
    """What the event has there; None where nothing says it."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Why an event starts no workflow."""

    kind: str
    workflow: str = ""
    """The workflow that comes nearest; empty where none listens to such events."""
    unmet: Sequence[Unmet] = ()
    others: int = 0
    """How many more workflows listen to such events."""

    def tell(self, *, found: bool = False) -> str:
        """Return the reason as a clause; `found` shows what the event has, for a reader who holds its payload."""
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
    """Return why an event that matches no route starts nothing."""
    facts = known(event)
    listening = len(routes.workflows(event.kind))
    if not listening:
        return NearMiss(event.kind)
    candidates = chain(islice(routes.near(event.kind, facts), NEAR), routes.simplest(event.kind)[:REST])
    return nearest(event.kind, candidates, facts, others=listening - 1)


def nearest(
    kind: str, routes: Iterable[Route], facts: Mapping[str, object], *, others: int = 0, whole: bool = False
) -> NearMiss:
    """Return the first of the routes with the fewest unmet conditions; see routes.passes for `whole`."""
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
    """Return a fact as it was written: `words` puts everything into small letters."""
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
        return "takes nothing that bots do"
    if fact in spec.changes:
        return f"wants the change `{_shown(unmet.wanted)}`{_beside(spec, unmet, found)}"
    name = spec.places.get(fact) or spec.conditions.get(fact, fact)
    return f"wants `{name}: {_shown(spec.written(fact, unmet.wanted))}`{_beside(spec, unmet, found)}"


def _beside(spec: EventSpec, unmet: Unmet, found: bool) -> str:
    if unmet.found is None:
        return ", of which nothing is known here"
    if not found:
        return ""
    if not unmet.found:
        return " (this has none)"
    return f" (this is `{_shown(spec.written(unmet.fact, unmet.found))}`)"


def _shown(listed: Sequence[str]) -> str:
    """Words as a workflow file would have them, cut where there are many or long ones."""
    cut = [word[:_LONGEST] for word in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        cut.append(f"and {len(listed) - _SHOWN} more")
    if len(cut) == 1:
        return cut[0]
    return f"[{', '.join(cut)}]"
