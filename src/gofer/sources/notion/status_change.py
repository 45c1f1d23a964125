"""Did the value of a property really change, when events only say that something about the page did?

A pure decision over three things: what an event lists, the value read after it came, and the value of the last look.
Events are gathered, late, repeated and out of order, so that nothing of their own order or number is trusted; a real
change is a value that differs from the last look. Values may be given as they are or as fingerprints of them.
"""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """The value of a property at the last look at it; None: it was empty."""

    value: str | None
    by_bot: bool = False
    """Whether bots alone had set the property, so that the value found may hide a change of somebody else's."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one event means for one condition."""

    fires: bool
    remember: Seen | None
    """What is the last look from now on. None leaves it as it was, which is also what there was when there was none."""
    reason: str
    """Why, for people: a clause about the property that names no value."""


def judge(
    seen: Seen | None,
    updated_property_ids: Collection[str],
    property_id: str,
    value_now: str | None,
    from_: Collection[str] = (),
    to: Collection[str] = (),
    *,
    by_bot: bool = False,
) -> Verdict:
    """Whether an event is a real change of the property to a value of `to`, from one of `from_`; empty: from or to any.

    `seen` is the last look at this property of this page, None before the first. `value_now` must have been read after
    the event came, and one look at a page must follow the other. A first look with the property listed is a change
    from an unknown value: it fires too, unless the value found is one of `from_`, which contradicts a change away from
    it. `remember` does not depend on `from_` and `to`, but one that was stored ends the change for every condition:
    conditions that are judged one after the other, as those of several workflows, need a memory each.

    `by_bot`: bots alone caused the event, which never fires. What they set is what a person's next change is from;
    where the value is still the same then, the person's change came before that look, and what was before is unknown.
    """
    # Nothing is remembered then: the event that lists the property is still to come, and has to find the change.
    if property_id not in updated_property_ids:
        return Verdict(False, None, "the event does not list it")
    now = Seen(value_now)
    if by_bot:
        return Verdict(False, Seen(value_now, by_bot=True), "only bots changed it")
    if seen == now:
        return Verdict(False, None, "it has not changed since the last look")
    if to and value_now not in to:
        return Verdict(False, now, "it changed to another value")
    if seen is None or seen.value == value_now:
        return _first(now, from_)
    if from_ and seen.value not in from_:
        return Verdict(False, now, "it changed from another value")
    return Verdict(True, now, "it changed")


def _first(now: Seen, from_: Collection[str]) -> Verdict:
    if now.value in from_:
        return Verdict(False, now, "it still is what it should have changed from")
    return Verdict(True, now, "it changed; what it was before is not known")
