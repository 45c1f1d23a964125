"""Which events start more than one workflow, so that one question would get two answers?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from gofer.canonical import as_list
from gofer.workflows.mistake import Mistake
from gofer.workflows.routes import fits
from gofer.workflows.source import Loc, Source
from gofer.workflows.when import Trigger, Where


@dataclass(frozen=True, slots=True)
class _Claim:
    """One trigger of one file."""

    source: Source
    loc: Loc
    trigger: Trigger


def check_triggers(workflows: Sequence[Source]) -> Iterator[Mistake]:
    """Triggers that an earlier line or an earlier file claims already."""
    claimed: dict[str, list[tuple[_Claim, Where]]] = {}
    for claim in (claim for source in workflows for claim in _claims(source)):
        ways = claim.trigger.compiled()
        earlier = (other for kind, where in ways for other in _overlapping(claim, kind, where, claimed))
        if other := next(earlier, None):
            yield _mistake(claim, other)
        for kind, where in ways:
            claimed.setdefault(kind, []).append((claim, where))


def _claims(source: Source) -> Iterator[_Claim]:
    """Each trigger that a file writes, and where; what is no trigger is a mistake of the form."""
    for at, item in enumerate(as_list(source.fields.get("when"))):
        try:
            trigger = Trigger.model_validate(item)
        except ValidationError:
            continue
        loc = ("when", at) if isinstance(item, str) else ("when", at, trigger.kind)
        yield _Claim(source, loc, trigger)


def _overlapping(
    claim: _Claim, kind: str, where: Where, claimed: dict[str, list[tuple[_Claim, Where]]]
) -> Iterator[_Claim]:
    for other, its in claimed.get(kind, ()):
        # Two answers to one post are always wrong; elsewhere two workflows may well do two things about one event.
        both = other.source is not claim.source and kind.startswith("slack.") and _may_meet(where, its)
        # A time belongs to nobody: each workflow has its own run of it.
        alike = where == its and kind != "schedule" and other.source is not claim.source
        if both or alike or (where == its and other.source is claim.source and other.trigger == claim.trigger):
            yield other


def _may_meet(one: Where, other: Where) -> bool:
    """Whether an event could fulfil both."""
    return all(
        any(fits(a, b) or fits(b, a) for a in one[fact] for b in other[fact]) for fact in one.keys() & other.keys()
    )


def _mistake(claim: _Claim, other: _Claim) -> Mistake:
    place, kind = claim.source.key(claim.loc), claim.trigger.kind
    if other.source is claim.source:
        message = f"`{kind}` is listed twice."
        return Mistake(claim.source.file, place, "duplicate-trigger", message, "Remove one of them.")
    message = f"`{kind}` starts the workflow in {other.source.file.name} already."
    hint = "Remove it from one of them, or narrow one so that no event fits both."
    return Mistake(claim.source.file, place, "duplicate-trigger", message, hint)
