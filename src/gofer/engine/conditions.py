"""The conditions of a workflow, checked in admission with facts that the delivery did not contain."""

from collections.abc import Callable, Mapping, Sequence

from gofer.sources.near_miss import nearest
from gofer.sources.precedence import Standing, keep_best, standing, standings, winners
from gofer.values.errors import Cause, GoferError
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.routes import Route, passes

MOST_HOPS = 5
"""Longest chain of runs of which each was started by a text that the run before it wrote."""

Facts = Mapping[str, object]
FactsOf = Callable[[str], Facts]


class DoesNotMatch(GoferError):
    """The run ends silently, because its workflow does not match. The message is the reason that lists show."""

    def __init__(self, message: str, *, cause: Cause = "", system: str = "") -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.system = system


def check_hops(event: Event) -> None:
    """Raise DoesNotMatch when the chain of runs behind an event is too long."""
    if event.hops > MOST_HOPS:
        raise DoesNotMatch(f"{event.hops} runs have started one another in a row, and at most {MOST_HOPS} may")


def routes_of(event: Event, loaded: Loaded, accepted: Sequence[Route]) -> Sequence[Route]:
    """Return the routes by which events of this kind start the workflow.

    The routes that the receiver recorded take precedence, even if the workflow files changed since.
    """
    if accepted:
        return [route for route in accepted if route.workflow == loaded.name]
    return [
        Route(loaded.name, where)
        for trigger in loaded.workflow.when
        for kind, where in trigger.routes(loaded.workflow.who)
        if kind == event.kind
    ]


def meets(routes: Sequence[Route], facts: Facts, *, whole: bool = True) -> bool:
    """Return whether the facts meet all conditions of at least one route; see routes.passes for `whole`."""
    # A run without routes was started by hand, or its trigger was removed later; it may start.
    return not routes or any(passes(route.where, facts, whole=whole) for route in routes)


def check_conditions(
    event: Event, routes: Sequence[Route], facts: Facts, reason: str = "", *, whole: bool = True
) -> None:
    """Raise DoesNotMatch when the facts meet no route of the workflow; `reason` replaces the generated one if given."""
    if not meets(routes, facts, whole=whole):
        miss = nearest(event.kind, routes, facts, whole=whole)
        raise DoesNotMatch(reason or miss.tell())


def check_precedence(event: Event, workflow: str, accepted: Sequence[Route], facts_of: FactsOf) -> None:
    """Raise DoesNotMatch, with the winner's name, when another workflow names the place more specifically.

    `facts_of` returns all facts of the event, as they apply to one workflow.
    """
    winning = winners(standings(event.kind, accepted, facts_of))
    if winning and all(one.workflow != workflow for one in winning):
        names = " and ".join(one.described() for one in winning)
        verdict = "wins: of the workflows that match, it names"
        if len(winning) > 1:
            verdict = "win: of the workflows that match, they name"
        raise DoesNotMatch(f"{names} {verdict} the place most specifically")


def check_reporter(event: Event, workflow: str, accepted: Sequence[Route], facts: Facts) -> None:
    """Raise DoesNotMatch when the run of another workflow reports that the event could not be read.

    Without that read it stays unknown which workflow wins. The workflow with the most specific condition among those
    that may win makes the report.
    """
    best: dict[str, Standing] = {}
    for route in accepted:
        keep_best(best, standing(event.kind, route, facts, whole=False))
    speaking = min(winners([*best.values()]), key=lambda one: one.workflow, default=None)
    if speaking is not None and speaking.workflow != workflow:
        raise DoesNotMatch(f"the event could not be read; the run of {speaking.described()} reports it")
