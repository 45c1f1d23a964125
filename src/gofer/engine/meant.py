"""Conditions of a workflow once a run knows more than the event said: whether they are met, and which are not."""

from collections.abc import Mapping, Sequence

from gofer.errors import Cause, GoferError
from gofer.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.near_miss import nearest
from gofer.workflows.routes import Route, passes
from gofer.workflows.who import bots_apart

MOST_HOPS = 5
"""How many runs may stand in a row, each started by what the one before it wrote."""

Facts = Mapping[str, object]


class NotMeant(GoferError):
    """The run ends without a word; the message is the reason in lists, and `cause` is for code."""

    def __init__(self, message: str, *, cause: Cause = "") -> None:
        super().__init__(message)
        self.cause: Cause = cause


def check_hops(event: Event) -> None:
    """Raises NotMeant for one run too many in a row."""
    if event.hops > MOST_HOPS:
        raise NotMeant(f"{event.hops} runs stand in a row behind it, and at most {MOST_HOPS} may")


def meets(event: Event, loaded: Loaded, facts: Facts) -> bool:
    """Whether facts fulfil all that one trigger of the workflow asks for; what is not among them is not fulfilled."""
    routes = _routes(event, loaded)
    # Started by hand, or its trigger was taken away meanwhile: somebody wanted it.
    return not routes or any(passes(route.where, facts, whole=True) for route in routes)


def _routes(event: Event, loaded: Loaded) -> Sequence[Route]:
    """Return the ways in which the workflow is started by events of this kind."""
    return [
        Route(loaded.name, {**where, **bots_apart(loaded.workflow.who, kind)})
        for trigger in loaded.workflow.when
        for kind, where in trigger.compiled()
        if kind == event.kind
    ]


def asks_for(event: Event, loaded: Loaded, fact: str) -> bool:
    """Whether a trigger of the workflow that fits the event asks for a fact."""
    ways = [way for trigger in loaded.workflow.when for way in trigger.compiled()]
    return any(fact in where for kind, where in ways if kind == event.kind)


def check_conditions(event: Event, loaded: Loaded, facts: Facts, why: str = "") -> None:
    """Raises NotMeant when no trigger of the workflow is fulfilled; `why` is a better reason than that, if any."""
    if not meets(event, loaded, facts):
        miss = nearest(event.kind, _routes(event, loaded), facts, whole=True)
        raise NotMeant(why or miss.tell())
