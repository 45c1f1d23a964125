"""The memory of statuses, so that each change starts a workflow once, however often Notion reports the change.

An event lists the properties that were set, but not their values. The run reads the page and compares the value with
the value at the last look, which a memo holds as a hash. There is one memo for each workflow, page and property.

A run writes the memo before it decides. If the run's owner crashes in between, the next owner must decide the same, so
the memo also holds the id of the run and the look before. A run that finds its own memo compares with the look before.
So no change is lost, and no change starts a workflow twice.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.notion.triggers import NotionStatus
from gofer.sources.part_values import Changes, Memory
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.values.row_tokens import Tokens
from gofer.workflows.load import Loaded
from gofer.workflows.routes import fits, passes


@dataclass(frozen=True, slots=True)
class Seen:
    """A look at a property: its value, or None if the property was empty."""

    value: str | None
    by_bot: bool = False
    """Whether only bots caused the event. The value may then already include a later change by a person."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about one event and one condition."""

    fires: bool
    remember: Seen | None
    """The look to store as the last one. None keeps the stored look, if there is one."""
    reason: str
    """The reason for people, as a clause about the property. It contains no value."""


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
    """Return whether an event changed the property from one of `from_` to one of `to`; an empty one means any value.

    `seen` is the last look at this property of this page, or None before the first one. `value_now` must be read after
    the event arrived, and looks at one page must not overlap. At a first look, the earlier value is unknown. The event
    then fires too, unless the value is one of `from_`, because the property would have changed away from it.

    `remember` does not depend on `from_` and `to`. Once it is stored, the change is over for every condition, so
    conditions that are judged separately, such as those of several workflows, need separate memories.

    `by_bot` says that only bots caused the event. Such an event never fires. The value that bots set is the earlier
    value for a person's next change. If the value is still the same at the person's event, the person's change came
    before the look, and the earlier value is unknown.
    """
    # Store nothing: the event that lists the property is still to come and must find the change.
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
        return Verdict(False, now, "it still has the value it should change from")
    return Verdict(True, now, "it changed; its earlier value is not known")


_KIND = "notion.properties_updated"
_UNKNOWN = "-"
_USE = "notion status"


async def compare(
    memory: Memory, event: Event, loaded: Loaded, facts: Mapping[str, object], properties: Mapping[str, object]
) -> Changes:
    """Compare a page with the last look at it, and store this look. Raises TemporaryError.

    `properties` are the current properties of the page, as `{name: {id, value}}`.
    """
    if event.kind != _KIND:
        return Changes()
    asked: dict[str, list[NotionStatus]] = {}
    for trigger in loaded.workflow.when:
        condition = trigger.conditions
        if isinstance(condition, NotionStatus) and passes(condition.where(), facts, whole=True):
            asked.setdefault(condition.property, []).append(condition)
    verdicts: list[tuple[NotionStatus, Verdict]] = []
    for name, conditions in asked.items():
        judged = await _judged(memory, event, _property(properties, name), conditions)
        verdicts += zip(conditions, judged, strict=True)
    changes = [condition.change() for condition, verdict in verdicts if verdict.fires]
    reasons = dict.fromkeys(f"{condition.property}: {verdict.reason}" for condition, verdict in verdicts)
    if changes:
        return Changes(changes)
    return Changes(reason="; ".join(reasons))


async def _judged(
    memory: Memory, event: Event, found: Mapping[str, object], conditions: Sequence[NotionStatus]
) -> Sequence[Verdict]:
    """Return a verdict for each condition on one property. The conditions share one memory, which is written once."""
    id_ = as_text(found.get("id"))
    value = _text(found.get("value"))
    if not id_:
        return [Verdict(False, None, "the page has no such property") for _ in conditions]
    tokens = await memory.tokens_of(_USE, event.conversation, id_, memory.workflow)
    last = _LastLook(memory, tokens, event.conversation, id_)
    stored = await memory.memo(last.key)
    before = last.before(stored)
    listed = [as_text(one) for one in as_list(event.facts.get("properties"))]
    verdicts = [
        judge(
            before,
            listed,
            id_,
            last.fingerprint(value),
            [last.fingerprint(condition.from_)] if condition.from_ else [],
            [last.fingerprint(_value_or_pattern(condition.to, value))] if condition.to else [],
            by_bot=event.actor.kind == "bot",
        )
        for condition in conditions
    ]
    # After a crash, the value may be back at the look before. Then the run's own earlier look must be replaced.
    if now := verdicts[0].remember or (before if last.own(stored) else None):
        await last.write(stored, now, before)
    return verdicts


@dataclass(frozen=True, slots=True)
class _LastLook:
    """The memo of one property of one page for one workflow: `<run> <look> <look before>`."""

    memory: Memory
    tokens: Tokens
    page: str
    property_id: str

    @property
    def key(self) -> str:
        """Return the key of the memo, which does not reveal the page."""
        return self.tokens.memory(_USE, self.page, self.property_id, self.memory.workflow)

    def fingerprint(self, value: str | None) -> str:
        """Return the hash of a value. It ignores case, as conditions do."""
        folded = value if value is None else value.casefold()
        return self.tokens.value(self.page, self.property_id, folded)

    def before(self, stored: str | None) -> Seen | None:
        """Return the last look that this run did not write itself."""
        if not stored:
            return None
        _, now, before = stored.split(" ")
        return _read(before if self.own(stored) else now)

    def own(self, stored: str | None) -> bool:
        """Return whether this run wrote the memo before its owner crashed."""
        return stored is not None and stored.startswith(f"{self.memory.run} ")

    async def write(self, stored: str | None, now: Seen, before: Seen | None) -> None:
        """Store a look. Raises TemporaryError when another run has stored its look in the meantime."""
        text = f"{self.memory.run} {_written(now)} {_written(before)}"
        if text == stored:
            return
        if await self.memory.exchange(self.key, stored, text) != text:
            raise TemporaryError("another run looked at the same page at the same moment")


def _written(seen: Seen | None) -> str:
    if seen is None:
        return _UNKNOWN
    if seen.by_bot:
        return f"bot:{seen.value}"
    return f"person:{seen.value}"


def _read(text: str) -> Seen | None:
    who, _, value = text.partition(":")
    if text == _UNKNOWN:
        return None
    return Seen(value, by_bot=who == "bot")


def _property(properties: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the property with a name, ignoring case; empty when there is none."""
    found = {known.casefold(): as_object(value) for known, value in properties.items()}
    return as_object(properties.get(name)) or found.get(name.casefold(), {})


def _value_or_pattern(pattern: str, value: str | None) -> str | None:
    """Return the value if it matches the pattern of a condition, or else the pattern."""
    if fits(pattern, value or ""):
        return value
    return pattern


def _text(value: object) -> str | None:
    """Return a value as text in the notation of conditions; None when the property is empty."""
    match value:
        case None | "" | []:
            return None
        case str():
            return value
        case _:
            return encode_text(value)
