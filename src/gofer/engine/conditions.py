"""Conditions of a workflow once a run knows more than the event said: whether they are met, and which are not."""

from collections.abc import Callable, Mapping, Sequence

from gofer.sources.near_miss import nearest
from gofer.sources.precedence import Standing, keep_best, standing, standings, winners
from gofer.values.errors import Cause, GoferError
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.routes import Route, passes

MOST_HOPS = 5
"""How many runs may stand in a row, each started by what the one before it wrote."""

Facts = Mapping[str, object]
FactsOf = Callable[[str], Facts]


class DoesNotMatch(GoferError):
    """The run ends without a word; the message is the reason in lists, and `cause` is for code."""

    def __init__(self, message: str, *, cause: Cause = "") -> None:
        super().__init__(message)
        self.cause: Cause = cause


def check_hops(event: Event) -> None:
    """Raises DoesNotMatch for one run too many in a row."""
    if event.hops > MOST_HOPS:
        raise DoesNotMatch(f"{event.hops} runs stand in a row behind it, and at most {MOST_HOPS} may")


def routes_of(event: Event, loaded: Loaded, accepted: Sequence[Route]) -> Sequence[Route]:
    """Return the ways in which events of this kind start the workflow.

    Where the receiver wrote down what matched, that list holds, also when other workflows were published since.
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
    """Return whether facts fulfil all that one route asks for; see routes.passes for `whole`."""
    # Started by hand, or its trigger was taken away meanwhile: a person wanted it.
    return not routes or any(passes(route.where, facts, whole=whole) for route in routes)


def check_conditions(event: Event, routes: Sequence[Route], facts: Facts, why: str = "", *, whole: bool = True) -> None:
    """Raise DoesNotMatch when no route of the workflow is fulfilled; `why` is a better reason than that, if any."""
    if not meets(routes, facts, whole=whole):
        miss = nearest(event.kind, routes, facts, whole=whole)
        raise DoesNotMatch(why or miss.tell())


def check_precedence(event: Event, workflow: str, accepted: Sequence[Route], facts_of: FactsOf) -> None:
    """Raise DoesNotMatch that names the winner when another workflow asks for the place more specifically.

    `facts_of` gives all facts of the event as they are for one workflow.
    """
    winning = winners(standings(event.kind, accepted, facts_of))
    if winning and all(one.workflow != workflow for one in winning):
        told = " and ".join(one.described() for one in winning)
        verdict = "wins: of the workflows that match, it names"
        if len(winning) > 1:
            verdict = "win: of the workflows that match, they name"
        raise DoesNotMatch(f"{told} {verdict} the place most specifically")


def check_speaker(event: Event, workflow: str, accepted: Sequence[Route], facts: Facts) -> None:
    """Raise DoesNotMatch when the run of another workflow is the one that reports that nothing could be read.

    Which workflow wins stays unknown then. The one that may win with the most specific condition speaks for all.
    """
    best: dict[str, Standing] = {}
    for route in accepted:
        keep_best(best, standing(event.kind, route, facts, whole=False))
    speaking = min(winners([*best.values()]), key=lambda one: one.workflow, default=None)
    if speaking is not None and speaking.workflow != workflow:
        raise DoesNotMatch(f"the event could not be read; the run of {speaking.described()} says so")
