"""What starts a workflow: kinds of triggers, their conditions, and the form of `when` that is made of them.

A trigger is a kind of event with conditions. A condition names a fact of events (`Event.facts`) and the words it may
have; in a word `*` stands for anything. A condition on a fact that an event does not carry is decided by admission,
which has read more (`routes.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
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
"""Conditions as they are compiled: the words each fact may have."""


class Conditions(Strict):
    """What narrows one kind of trigger; without any it is every event of that kind."""

    MEMBER: ClassVar[str] = "a condition of this trigger"
    FACTS: ClassVar[Mapping[str, str]] = {}
    """Names of facts that differ from the name of their condition; empty for what is no fact by itself."""
    WITHOUT_BOTS: ClassVar[bool] = False
    """Whether the receiver keeps bots out unless `who` names them."""

    def compiled(self, kind: str) -> Iterator[tuple[str, Where]]:
        """The kinds of events that may start it, each with its conditions."""
        yield kind, self.where()

    def where(self) -> Where:
        """The conditions that are facts by themselves."""
        set_ = self.model_dump(exclude_none=True, exclude_defaults=True, by_alias=False)
        named = {self.FACTS.get(name, name): value for name, value in set_.items()}
        return {fact: _words(value) for fact, value in named.items() if fact}


@dataclass(frozen=True, slots=True)
class TriggerKind:
    """One kind of trigger."""

    name: str
    """As files name it."""
    form: type[Strict]
    """The conditions that may narrow it."""
    continues: bool = False
    """Whether a person replies in its events: a run then goes on from an earlier one of the conversation."""
    place: str = ""
    """An example of a condition on the place; empty where there is none."""
    one_answer: bool = False
    """Whether two workflows that answer one event are always wrong."""
    foreign: str = ""
    """Names that people bring for it from other systems, apart by spaces."""
    instead: str = ""
    """What to write instead of those; empty for its name."""

    @property
    def source(self) -> str:
        """The source of its events."""
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        """The name of its field in the form of a trigger."""
        return self.name.replace(".", "_")


@dataclass(frozen=True, slots=True)
class TriggerSpec:
    """What one source says of the workflows that its events start."""

    kinds: Sequence[TriggerKind]
    """What may start a workflow."""
    writes: Listable | None = None
    """Which places of the source a file can list as destinations; None for none."""
    asks: bool = False
    """Whether the person who started a run can be asked about destinations that are not listed."""
    clients: Sequence[str] = ()
    """Python packages by which programs reach the source, which a script has no use for."""


class Trigger(Strict):
    """One thing that starts a workflow: exactly one kind of event, with what narrows it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    MEMBER: ClassVar[str] = "a trigger"
    LISTED: ClassVar[str] = "docs/workflow-file.md lists what can start a workflow."

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: object) -> object:
        """Read `- kind`, `- kind:` and `- kind: {}` as the same."""
        if isinstance(value, str):
            return {value: {}}
        kinds: dict[str, object] = {kind: {} if what is None else what for kind, what in as_object(value).items()}
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
        """The kind of event as the file names it."""
        (name,) = self.model_fields_set
        return type(self).model_fields[name].alias or name

    @property
    def conditions(self) -> Strict:
        """What narrows it, or says when and by whom it is called."""
        (name,) = self.model_fields_set
        return cast(Strict, getattr(self, name))

    @property
    def hook(self) -> WebhookForm | None:
        """The webhook that starts it; None for another kind."""
        match self.conditions:
            case WebhookForm() as hook:
                return hook
            case _:
                return None

    @property
    def times(self) -> ScheduleForm | None:
        """The times at which it starts; None for another kind."""
        match self.conditions:
            case ScheduleForm() as times:
                return times
            case _:
                return None

    def compiled(self) -> Sequence[tuple[str, Where]]:
        """The kinds of events that may start it, each with its conditions."""
        match self.conditions:
            case Conditions() as conditions:
                return list(conditions.compiled(self.kind))
            case WebhookForm(name=hook):
                return [("webhook", {"name": [hook]})]
            case _:
                # A time belongs to the workflow that asked for it: `Catalog.routes` says which.
                return [("schedule", {})]

    def routes(self, who: Sequence[str]) -> Iterator[tuple[str, Where]]:
        """Yield what `compiled` returns, with the condition that keeps bots out unless these people include bots."""
        conditions = self.conditions
        without_bots = isinstance(conditions, Conditions) and conditions.WITHOUT_BOTS and "bots" not in who
        for kind, where in self.compiled():
            if without_bots:
                yield kind, where | {"bot": ["false"]}
            else:
                yield kind, where


def _as_it_is(value: object) -> object:
    return value


def trigger_form(kinds: Sequence[TriggerKind]) -> type[Trigger]:
    """Return the form of one trigger of these kinds."""
    fields: dict[str, Any] = {}
    for kind in kinds:
        alias = None if kind.name == kind.field else kind.name
        fields[kind.field] = (kind.form | None, Field(default=None, alias=alias))
    form = create_model("Trigger", __base__=Trigger, __doc__=Trigger.__doc__, **fields)
    form.FOREIGN = _foreign(kinds)
    return form


def _foreign(kinds: Sequence[TriggerKind]) -> Mapping[str, str]:
    meant: dict[str, list[str]] = {}
    for kind in kinds:
        for name in kind.foreign.split():
            meant.setdefault(name, []).append(kind.instead or f"`{kind.name}`")
    return {name: f"Write {' or '.join(sorted(each))}." for name, each in meant.items()}


def when_form(kinds: Sequence[TriggerKind]) -> object:
    """Return the annotation of `when`: a list of triggers, each a name, or a name with conditions."""
    form: Any = trigger_form(kinds)
    name: Any = Annotated[str, Field(json_schema_extra={"enum": [kind.name for kind in kinds]})]
    spelled = Annotated[form, BeforeValidator(_as_it_is, json_schema_input_type=name | form)]
    return Annotated[tuple[spelled, ...], Field(min_length=1)]


def _words(value: object) -> list[str]:
    """The words of a condition; one that stands alone is a list of one."""
    if isinstance(value, tuple | list):
        return [_word(item) for item in cast(Sequence[object], value)]
    return [_word(value)]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip(":")
