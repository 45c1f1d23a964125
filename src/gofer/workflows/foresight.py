"""Foresight of which workflow wins an event, from the facts that its delivery carries; for `gofer explain`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.workflows.precedence import Facts, Standing, keep_best, standing, winners
from gofer.workflows.routes import Route, passes

_UNKNOWN: Mapping[str, str] = {
    "channels": "the name of the channel",
    "database": "the name of the database",
    "database_id": "the database",
    "labels": "the labels",
    "status": "the earlier status of the page",
    "followed": "the earlier answers in this thread",
}
"""Facts that a run reads before it decides, for people."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """What is known of an event before a run reads more."""

    workflows: tuple[str, ...]
    """The workflows that win, or may still win, in the order of their names."""
    decided: str = ""
    """Which workflow wins and why, or what decides that; empty where one workflow starts in any case."""


def foresee(kind: str, matched: Sequence[Route], facts: Facts) -> Foresight:
    """Return which of the workflows that an event matched wins it."""
    possible: dict[str, Standing] = {}
    certain: dict[str, Standing] = {}
    for route in matched:
        keep_best(possible, standing(kind, route, facts, whole=False))
        if passes(route.where, facts, whole=True):
            keep_best(certain, standing(kind, route, facts, whole=True))
    least = max((one.precedence for one in certain.values()), default=0)
    open_ = [one for one in possible.values() if one.precedence >= least]
    beaten = [one for one in possible.values() if one.precedence < least]
    names = tuple(sorted(one.workflow for one in open_))
    unknown = sorted({_told(fact) for route in matched if route.workflow in names for fact in _missing(route, facts)})
    if all(certain.get(name) == possible[name] for name in names) and len(winners(open_)) == len(open_):
        return Foresight(names, _verdict(open_, beaten))
    return Foresight(names, f"decided when {' and '.join(unknown)} can be read: {_ranking(open_)}")


def _verdict(winning: Sequence[Standing], beaten: Sequence[Standing]) -> str:
    if not beaten:
        return ""
    return f"{_listed(winning)} wins over {_listed(beaten)}, because it names the place more specifically"


def _ranking(standings: Sequence[Standing]) -> str:
    """Return the workflows that may win, most specific first."""
    groups: list[str] = []
    left = list(standings)
    while left:
        first = winners(left)
        groups.append(_listed(first))
        left = [one for one in left if one not in first]
    return ", else ".join(groups)


def _listed(standings: Sequence[Standing]) -> str:
    return " and ".join(one.told() for one in sorted(standings, key=_name))


def _name(one: Standing) -> str:
    return one.workflow


def _missing(route: Route, facts: Facts) -> Sequence[str]:
    return [fact for fact in route.where if fact not in facts]


def _told(fact: str) -> str:
    return _UNKNOWN.get(fact, f"`{fact}`")
