"""The memory of statuses: a page changes its status for each workflow once, however often Notion tells of it.

An event says which properties were set and never to what; the page is read, and the value found is compared with that
of the last look, which a memo holds as a hash. There is one memory for each workflow, page and property, and it is
written before anything else of the run is: *read, memo, decision*. So the memo also names the run that wrote it and
what that run had found there. A run that was lost after its memo finds it to be its own and decides as before: no
change is lost, and none fires twice.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.notion.triggers import NotionStatus
from gofer.sources.part_values import Changes, Memory
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.routes import fits, passes


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
    """Return whether an event really changed the property from one of `from_` to one of `to`; empty: from or to any.

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


_KIND = "notion.properties_updated"
_UNKNOWN = "-"


async def compare(
    memory: Memory, event: Event, loaded: Loaded, facts: Mapping[str, object], properties: Mapping[str, object]
) -> Changes:
    """Compare a page with the last look at it and remember this one. Raises TemporaryError.

    `properties` are those of the page as it was read now: `{name: {id, value}}`.
    """
    if event.kind != _KIND:
        return Changes()
    asked: dict[str, list[NotionStatus]] = {}
    for trigger in loaded.workflow.when:
        wanted = trigger.conditions
        if isinstance(wanted, NotionStatus) and passes(wanted.where(), facts, whole=True):
            asked.setdefault(wanted.property, []).append(wanted)
    verdicts = [
        (condition, verdict)
        for name, conditions in asked.items()
        for condition, verdict in zip(
            conditions, await _judged(memory, event, _property(properties, name), conditions), strict=True
        )
    ]
    changes = [condition.change() for condition, verdict in verdicts if verdict.fires]
    reasons = dict.fromkeys(f"{condition.property}: {verdict.reason}" for condition, verdict in verdicts)
    if changes:
        return Changes(changes)
    return Changes(reason="; ".join(reasons))


async def _judged(
    memory: Memory, event: Event, found: Mapping[str, object], conditions: Sequence[NotionStatus]
) -> Sequence[Verdict]:
    """Return a verdict for each condition on one property; they share the memory, which is written once."""
    id_ = as_text(found.get("id"))
    value = _text(found.get("value"))
    if not id_:
        return [Verdict(False, None, "the page has no such property") for _ in conditions]
    last = _LastLook(memory, event.conversation, id_)
    stands = await memory.memo(last.key)
    before = last.before(stands)
    listed = [as_text(one) for one in as_list(event.facts.get("properties"))]
    verdicts = [
        judge(
            before,
            listed,
            id_,
            last.fingerprint(value),
            [last.fingerprint(condition.from_)] if condition.from_ else [],
            [last.fingerprint(_meant(condition.to, value))] if condition.to else [],
            by_bot=event.actor.kind == "bot",
        )
        for condition in conditions
    ]
    # Where it was lost before and the value is back at what it was, its own earlier look is not the last one any more.
    if now := verdicts[0].remember or (before if last.own(stands) else None):
        await last.write(stands, now, before)
    return verdicts


@dataclass(frozen=True, slots=True)
class _LastLook:
    """The last look at one property of one page for one workflow: `<run> <look> <look before>`."""

    memory: Memory
    page: str
    property_id: str

    @property
    def key(self) -> str:
        """A name from which nobody reads which page it is."""
        return self.memory.tokens.memory("notion status", self.page, self.property_id, self.memory.workflow)

    def fingerprint(self, value: str | None) -> str:
        """Return a value as the memory holds it; case makes no difference, as in conditions."""
        folded = value if value is None else value.casefold()
        return self.memory.tokens.value(self.page, self.property_id, folded)

    def before(self, stands: str | None) -> Seen | None:
        """Return the last look that was not this run's own."""
        if not stands:
            return None
        _, now, before = stands.split(" ")
        return _read(before if self.own(stands) else now)

    def own(self, stands: str | None) -> bool:
        """Return whether this run looked before, and was lost after that."""
        return stands is not None and stands.startswith(f"{self.memory.run} ")

    async def write(self, stands: str | None, now: Seen, before: Seen | None) -> None:
        """Store a look. Raises TemporaryError when another run looked meanwhile: its look is the last one now."""
        text = f"{self.memory.run} {_written(now)} {_written(before)}"
        if text == stands:
            return
        if await self.memory.exchange(self.key, stands, text) != text:
            raise TemporaryError("another run looked at the same page at the same moment")


def _written(seen: Seen | None) -> str:
    if seen is None:
        return _UNKNOWN
    if seen.by_bot:
        return f"bot:{seen.value}"
    return f"person:{seen.value}"


def _read(look_: str) -> Seen | None:
    who, _, value = look_.partition(":")
    if look_ == _UNKNOWN:
        return None
    return Seen(value, by_bot=who == "bot")


def _property(properties: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the property of a name in any case of letters; empty when there is none."""
    found = {known.casefold(): as_object(value) for known, value in properties.items()}
    return as_object(properties.get(name)) or found.get(name.casefold(), {})


def _meant(pattern: str, value: str | None) -> str | None:
    """Return the value when it is what a condition says, and the condition as it is written otherwise."""
    if fits(pattern, value or ""):
        return value
    return pattern


def _text(value: object) -> str | None:
    """Return a value in the words that conditions use; None when the property is empty."""
    match value:
        case None | "" | []:
            return None
        case str():
            return value
        case _:
            return encode_text(value)
