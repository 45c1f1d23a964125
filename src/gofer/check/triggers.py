"""Triggers of several workflows that one event may match with the same precedence, so that it would get two answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from gofer.sources.precedence import place_fact, precision
from gofer.sources.triggers import BY_NAME
from gofer.sources.workflow_files import TriggerForm
from gofer.values.canonical_json import as_list
from gofer.workflows.form import unset
from gofer.workflows.mistake import Mistake
from gofer.workflows.routes import fits, overlap
from gofer.workflows.when import Trigger, Where
from gofer.workflows.yaml_source import Loc, Source

_ANYWHERE = ("*",)
"""The place pattern of a trigger without a condition on the place."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One trigger of one file."""

    source: Source
    loc: Loc
    trigger: Trigger


def check_triggers(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Yield triggers whose events an earlier trigger already answers."""
    claimed: dict[str, list[tuple[Claim, Where]]] = {}
    for claim in (claim for source in workflows for claim in claims(source)):
        routes = claim.trigger.compiled()
        earlier = (other for kind, where in routes for other in _overlapping(claim, kind, where, claimed))
        if other := next(earlier, None):
            yield _mistake(claim, other)
        for kind, where in routes:
            claimed.setdefault(kind, []).append((claim, where))


def claims(source: Source) -> Iterator[Claim]:
    """Yield each valid trigger of a file with its path. The check of the form reports invalid ones."""
    for at, item in enumerate(as_list(source.fields.get("when"))):
        if any(unset(source, item, ("when", at))):
            continue
        try:
            trigger = TriggerForm.model_validate(item)
        except ValidationError:
            continue
        if isinstance(item, str):
            yield Claim(source, ("when", at), trigger)
        else:
            yield Claim(source, ("when", at, trigger.kind), trigger)


def _overlapping(
    claim: Claim, kind: str, where: Where, claimed: dict[str, list[tuple[Claim, Where]]]
) -> Iterator[Claim]:
    for other, others_where in claimed.get(kind, ()):
        # Two answers to one post are always wrong. For other kinds, two workflows may handle one event.
        meeting = BY_NAME[kind].one_answer and _may_meet(where, others_where) and _may_tie(kind, where, others_where)
        both = other.source is not claim.source and meeting
        # Two workflows may have the same schedule: each starts its own run.
        alike = where == others_where and kind != "schedule" and other.source is not claim.source
        if both or alike or (where == others_where and other.source is claim.source and other.trigger == claim.trigger):
            yield other


def _may_meet(one: Where, other: Where) -> bool:
    """Return whether one event may match both. For the texts of `says`, one text must contain the other."""
    for fact in one.keys() & other.keys():
        may_share = overlap
        if fact == "says":
            may_share = _one_contains
        if not any(may_share(a, b) for a in one[fact] for b in other[fact]):
            return False
    return True


def _one_contains(one: str, other: str) -> bool:
    return fits(one, other) or fits(other, one)


def _may_tie(kind: str, one: Where, other: Where) -> bool:
    """Return whether one event may match both with the same precedence, so that neither workflow wins."""
    fact = place_fact(kind, one)
    others_fact = place_fact(kind, other)
    return any(
        precision(a) == precision(b) and (fact != others_fact or overlap(a, b))
        for a in one.get(fact, _ANYWHERE)
        for b in other.get(others_fact, _ANYWHERE)
    )


def _mistake(claim: Claim, other: Claim) -> Mistake:
    place = claim.source.key(claim.loc)
    kind = claim.trigger.kind
    if other.source is claim.source:
        message = f"`{kind}` is listed twice."
        return Mistake(claim.source.file, place, "duplicate-trigger", message, "Remove one of them.")
    message = f"An event that matches `{kind}` here may also start the workflow in {other.source.file.name}."
    hint = (
        f"Remove the trigger from one of them, or add conditions so that no event matches "
        f"both.{_narrower(claim, other)}"
    )
    return Mistake(claim.source.file, place, "duplicate-trigger", message, hint)


def _narrower(claim: Claim, other: Claim) -> str:
    """Return a hint how to let one of two workflows win; empty for a kind without a condition on the place."""
    example = BY_NAME[claim.trigger.kind].place
    if not example:
        return ""
    if len({"", *_place_facts(claim.trigger), *_place_facts(other.trigger)}) > 2:
        return " Write the places of both by name, or of both by id; the check cannot compare a name with an id."
    return f" A trigger that names the place more specifically, such as `{example}`, wins over the other."


def _place_facts(trigger: Trigger) -> Iterator[str]:
    for kind, where in trigger.compiled():
        yield place_fact(kind, where)
