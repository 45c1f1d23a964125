"""Calls as tools get them, for tests of tools."""

from collections.abc import Mapping
from dataclasses import replace

from typing_extensions import override

from gofer.tools.definition import Call, Provenance
from gofer.tools.readable import Readable
from gofer.values.events import Actor, Event
from gofer.values.outside import Clock, Http
from support.engine.memory_run import PROVENANCE
from support.stand_ins import SetClock


class AllReadable(Readable):
    """The readable objects of a call that may read everything, for tests of contents."""

    @override
    def holds(self, *within: str, private: bool) -> bool:
        return True


ALL = AllReadable()


def any_call(
    http: Http,
    *,
    key: str = "run1/call/1",
    actor: str = "U1",
    place: Mapping[str, str] | None = None,
    provenance: Provenance = PROVENANCE,
    clock: Clock | None = None,
    since: float = 0.0,
) -> Call:
    """Return a call of a run that a person started at a place."""
    return Call(
        key=key,
        origin=_event(Actor(actor), place or {}, hops=0),
        provenance=provenance,
        http=http,
        clock=clock or SetClock(),
        since=since,
        readable=ALL,
    )


def started(
    call: Call, *, actor: str | None = None, place: Mapping[str, str] | None = None, hops: int | None = None
) -> Call:
    """Return the same call in a run that another event started."""
    before = call.origin
    event = _event(
        before.actor if actor is None else Actor(actor),
        before.place if place is None else place,
        hops=before.hops if hops is None else hops,
    )
    return replace(call, origin=event)


def _event(actor: Actor, place: Mapping[str, str], *, hops: int) -> Event:
    return Event("webhook", "webhook", identity=(), conversation="", actor=actor, text="", place=place, hops=hops)
