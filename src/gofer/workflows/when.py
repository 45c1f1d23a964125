"""The triggers of a workflow: their kinds, their conditions, and the form of the key `when`.

A trigger is a kind of event with conditions. A condition names a fact of events (`Event.facts`) and the words it may
match; `*` in a word matches any text. When an event lacks a fact, admission decides the condition after it has read
more (`routes.py`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

from pydantic import BeforeValidator, ConfigDict, Field, create_model, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from gofer.values.canonical_json import as_object
from gofer.workflows.form_parts import Strict
from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.webhook_form import WebhookForm
from gofer.workflows.writes import Listable

Where = dict[str, list[str]]
"""Compiled conditions: the words that each fact may match."""


@dataclass(frozen=True, slots=True)
class OddWord:
    """A form of words in a condition that no event matches, or that its author probably means otherwise."""

    form: re.Pattern[str]
    """The form, which matches whole words."""
    wrong: str
    """What is wrong: the end of a sentence that begins with the word."""
    hint: str
    """What to write instead: one sentence, in which `\\1` is the first group of the form and `\\g<0>` the word."""
    never: bool = True
    """Whether no event can match. Otherwise the word may be right, and it is only worth a hint."""


def odd(form: str, wrong: str, hint: str, *, never: bool = True) -> OddWord:
    """Return a form of odd words, given as a pattern."""
    return OddWord(re.compile(form, re.DOTALL), wrong, hint, never)


SAYS: Sequence[OddWord] = (
    odd(
        r".*(?:\.\*|\\[bdsw]|\(\?[:i]).*|\^.*|/.+/",
        "looks like a regular expression",
        "Write a pattern, in which only `*` is special: it matches any text.",
        never=False,
    ),
    odd(
        r"[^*]+",
        "matches only a text that says nothing else",
        r"Write `*\g<0>*` to match longer texts too.",
        never=False,
    ),
)
"""The odd words of conditions on a text."""


class Conditions(Strict):
    """The conditions of one kind of trigger. Without conditions, every event of the kind matches."""

    MEMBER: ClassVar[str] = "a condition of this trigger"
    FACTS: ClassVar[Mapping[str, str]] = {}
    """The fact of each condition that has another name; empty for a condition that is not a fact."""
    WITHOUT_BOTS: ClassVar[bool] = False
    """Whether the receiver ignores events of bots unless `who` includes bots."""
    ODD: ClassVar[Mapping[str, Sequence[OddWord]]] = {}
    """The odd words of each condition, which `gofer check` reports; the first form that matches counts."""
    KNOWN: ClassVar[Mapping[str, Collection[str]]] = {}
    """The words that the system documents for a condition. No event has another word."""

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """Return the kinds of events that may start the workflow, each with its compiled conditions."""
        yield kind, self.where()

    def where(self) -> Where:
        """Return the compiled conditions, without those that are not facts."""
        conditions = self.model_dump(exclude_none=True, exclude_defaults=True, by_alias=False)
        named = {self.FACTS.get(name, name): value for name, value in conditions.items()}
        return {fact: _words(value) for fact, value in named.items() if fact}

    def changed(self) -> tuple[str, str] | None:
        """Return what the trigger no longer means, and what to write instead; None if it means what it always did.

        The first sentence follows the name of the kind.
        """
        return None


@dataclass(frozen=True, slots=True)
class TriggerKind:
    """One kind of trigger."""

    name: str
    """The name of the kind in workflow files."""
    form: type[Strict]
    """The form of the conditions."""
    continues: bool = False
    """Whether events of this kind may be replies of a person, so that a run continues an earlier one of the
    conversation."""
    place: str = ""
    """An example of a condition on the place; empty if the kind has no such condition."""
    one_answer: bool = False
    """Whether it is always a mistake when one event starts two workflows that answer it."""
    foreign: str = ""
    """Names for this kind in other systems, separated by spaces."""
    instead: str = ""
    """The hint for such names; by default the name of the kind."""

    @property
    def source(self) -> str:
        """The source of the events."""
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        """The name of the field in the form of a trigger."""
        return self.name.replace(".", "_")


@dataclass(frozen=True, slots=True)
class TriggerSpec:
    """The triggers and destinations of one source."""

    kinds: Sequence[TriggerKind]
    """The kinds of triggers."""
    writes: Listable | None = None
    """The places of the source that a file can list as destinations; None if there are none."""
    asks: bool = False
    """Whether Gofer can ask the person who started a run about destinations that are not listed."""
    serves: bool = False
    """Whether customers whom the company serves cause events of the source."""
    clients: Sequence[str] = ()
    """Python clients of the source, which scripts must not import."""
    stop_signs: frozenset[str] = frozenset()
    """The names of the emoji with which people stop a run."""
    odd_emoji: Sequence[OddWord] = ()
    """The odd words for an emoji."""


class Trigger(Strict):
    """A trigger: exactly one kind of event, with its conditions."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    MEMBER: ClassVar[str] = "a trigger"
    LISTED: ClassVar[str] = "docs/workflow-file.md lists what can start a workflow."

    @model_validator(mode="before")
    @classmethod
    def _normalized(cls, value: object) -> object:
        """Read `- kind`, `- kind:` and `- kind: {}` as the same."""
        if isinstance(value, str):
            return {value: {}}
        kinds: dict[str, object] = {}
        for kind, conditions in as_object(value).items():
            kinds[kind] = conditions
            if conditions is None:
                kinds[kind] = {}
        return kinds or value

    @model_serializer
    def _as_written(self) -> dict[str, object]:
        (name,) = self.model_fields_set
        return {self.kind: getattr(self, name).model_dump(exclude_none=True)}

    @model_validator(mode="after")
    def _one(self) -> "Trigger":
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_trigger", "one kind")
        return self

    @property
    def kind(self) -> str:
        """The kind of event, by its name in workflow files."""
        (name,) = self.model_fields_set
        return type(self).model_fields[name].alias or name

    @property
    def conditions(self) -> Strict:
        """The conditions of the trigger, or the form of its webhook or schedule."""
        (name,) = self.model_fields_set
        return cast(Strict, getattr(self, name))

    @property
    def hook(self) -> WebhookForm | None:
        """The webhook of the trigger; None for another kind."""
        match self.conditions:
            case WebhookForm() as hook:
                return hook
            case _:
                return None

    @property
    def times(self) -> ScheduleForm | None:
        """The schedule of the trigger; None for another kind."""
        match self.conditions:
            case ScheduleForm() as times:
                return times
            case _:
                return None

    def compiled(self) -> Sequence[tuple[str, Where]]:
        """Return the kinds of events that may start the workflow, each with its compiled conditions."""
        match self.conditions:
            case Conditions() as conditions:
                return list(conditions.compiled(self.kind))
            case WebhookForm(name=hook):
                return [("webhook", {"name": [hook]})]
            case _:
                # A schedule starts only the workflow that defines it; `Catalog.routes` adds that condition.
                return [("schedule", {})]

    def routes(self, who: Sequence[str]) -> Iterator[tuple[str, Where]]:
        """Yield the result of `compiled`, with a condition that excludes bots unless `who` includes them."""
        conditions = self.conditions
        without_bots = isinstance(conditions, Conditions) and conditions.WITHOUT_BOTS and "bots" not in who
        for kind, where in self.compiled():
            if without_bots:
                yield kind, where | {"bot": ["false"]}
            else:
                yield kind, where


def _unchanged(value: object) -> object:
    return value


def trigger_form(kinds: Sequence[TriggerKind]) -> type[Trigger]:
    """Return the form of one trigger of these kinds."""
    fields: dict[str, Any] = {}
    for kind in kinds:
        alias = None
        if kind.name != kind.field:
            alias = kind.name
        fields[kind.field] = (kind.form | None, Field(default=None, alias=alias))
    form = create_model("Trigger", __base__=Trigger, __doc__=Trigger.__doc__, **fields)
    form.FOREIGN = _foreign(kinds)
    return form


def _foreign(kinds: Sequence[TriggerKind]) -> Mapping[str, str]:
    hints: dict[str, list[str]] = {}
    for kind in kinds:
        for name in kind.foreign.split():
            hints.setdefault(name, []).append(kind.instead or f"`{kind.name}`")
    return {name: f"Write {' or '.join(sorted(each))}." for name, each in hints.items()}


def when_form(kinds: Sequence[TriggerKind]) -> object:
    """Return the annotation of `when`: a list of triggers, each a name or a name with conditions."""
    form: Any = trigger_form(kinds)
    name: Any = Annotated[str, Field(json_schema_extra={"enum": [kind.name for kind in kinds]})]
    trigger = Annotated[form, BeforeValidator(_unchanged, json_schema_input_type=name | form)]
    return Annotated[tuple[trigger, ...], Field(min_length=1)]


def _words(value: object) -> list[str]:
    """Return the words of a condition; a single word becomes a list with one item."""
    if isinstance(value, tuple | list):
        return [_word(item) for item in cast(Sequence[object], value)]
    return [_word(value)]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip(":")
