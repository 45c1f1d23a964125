"""The format of eval files: `evals/*.yaml`, one file for one workflow, with one case or more."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from gofer.evals.case_begin import DecisionPoint, FileOrData, JsonObject, Trigger, form_of
from gofer.tools.mocks import Override
from gofer.values.canonical_json import as_object
from gofer.values.rater_agreement import LEAST_SHARE
from gofer.workflows.form_parts import Name, Names, Number, Strict, Whole, listed, mistake

Share = Annotated[float, Field(ge=0, le=1)]
Texts = str | tuple[str, ...]
TextList = Annotated[tuple[Name, ...], BeforeValidator(listed, json_schema_input_type=Texts)]
"""Texts; a single text is a list with one item."""


GraderName = Annotated[str, Field(pattern=r"^evals/[A-Za-z_][A-Za-z0-9_]*\.py:[A-Za-z_][A-Za-z0-9_]*$")]
"""A function of a module of `evals/`."""


def _one_or_more(value: object) -> object:
    """Return one entry as a list with it."""
    if isinstance(value, Mapping):
        return [value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _one_call_or_more(value: object) -> object:
    """Return one call, a name or a mapping, as a list with it."""
    return _one_or_more(listed(value))


Mocks = Mapping[
    Name,
    Annotated[
        tuple[Override, ...],
        BeforeValidator(_one_or_more, json_schema_input_type=Override | tuple[Override, ...]),
    ],
]
"""The results of mocked tools, by tool; the first entry with matching arguments applies."""


class CallExpectation(Strict):
    """The calls of one tool that a run must make."""

    arguments: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for each argument."""
    times: Whole | None = Field(default=None, ge=0)
    """The exact number of matching calls; by default one or more."""
    status: Literal["ok", "error", "refused", "unknown"] | None = "ok"
    """The outcome of the calls; null accepts every outcome."""


RequiredCall = Annotated[
    Annotated[Name, Tag("text")] | Annotated[Mapping[Name, CallExpectation], Tag("mapping")],
    Discriminator(form_of),
]
"""A tool by its name, or `{tool: expectation}`."""

RequiredCalls = Annotated[
    tuple[RequiredCall, ...],
    BeforeValidator(_one_call_or_more, json_schema_input_type=RequiredCall | tuple[RequiredCall, ...]),
]
"""Calls in order; a single call is a list with one item."""


class ToolExpectations(Strict):
    """The calls that a run must make and must not make."""

    required: RequiredCalls = ()
    """Tools, or calls with certain arguments, that the run must make, in any order."""
    forbidden: RequiredCalls = ()
    """Tools, or calls with certain arguments, that the run must not make. A refused attempt counts as made."""
    in_order: RequiredCalls = ()
    """Calls that must happen in this order; other calls may happen between them."""
    only: Annotated[tuple[Name, ...], BeforeValidator(listed, json_schema_input_type=Texts)] | None = None
    """The only tools that may be called, besides the tools that every run has; by default all."""


class WorldExpectations(Strict):
    """The changes of the simulated world between the begin and the end of the case.

    Paths are JSON pointers as `gofer run --world` prints them; `*` stands for one part of a path, `**` for any.
    """

    added: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for each path of which at least one matching value must be added."""
    changed: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for the new value of each path that must change."""
    removed: TextList = ()
    """Paths that must be removed."""
    unchanged: TextList = ()
    """Systems or paths that must not change."""
    counts: Mapping[str, Whole] = Field(default_factory=dict[str, int])
    """The exact number of added values for each path."""


def _and_of_ors(value: object) -> object:
    """Return one list of texts as a list with that list: one OR."""
    if isinstance(value, str):
        return [[value]]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):  # pyright: ignore[reportUnknownVariableType]
        return [value]  # pyright: ignore[reportUnknownVariableType]
    return value  # pyright: ignore[reportUnknownVariableType]


class OutputExpectations(Strict):
    """The answer that people get. Texts are compared without regard to case and white space."""

    contains_any: Annotated[
        tuple[Names, ...],
        BeforeValidator(_and_of_ors, json_schema_input_type=str | tuple[str, ...] | tuple[Names, ...]),
    ] = ()
    """An OR of texts, or an AND of ORs: of each inner list, the answer must contain one text."""
    contains_all: TextList = ()
    """Texts that the answer must contain."""
    not_contains: TextList = ()
    """Texts that people must not see: in the answer, or in anything else that the run writes outside."""
    json_fields: JsonObject = Field(default_factory=dict[str, object], alias="json")
    """A matcher for each field of the answer of a workflow with `output`; a dotted name leads into objects."""


class Rubric(Strict):
    """Fixed criteria of a run. A criterion that is not written is not graded."""

    expected_status: TextList = ()
    """The statuses with which the run may end: values of the field `status` of the answer, if `output` of the workflow
    names them, or else statuses of the run."""
    status_field: str = ""
    """The field of the answer with the status, instead of `status`; a dotted name leads into objects."""
    min_confidence: Number | None = Field(default=None, ge=0, le=1)
    """The lowest `confidence` of an answer with `output`."""
    require_actions: Annotated[
        tuple[Name, ...] | bool, BeforeValidator(listed, json_schema_input_type=Texts | bool)
    ] = ()
    """Tools that must have been called with success; `true` for any tool that writes."""
    require_runbook_evidence: bool = False
    """Whether the answer must name a skill or a file that the run has read."""
    forbidden_phrases: TextList = ()
    """Texts that people must not see in any turn: in the answer, or in anything else that a run writes outside."""
    max_latency_ms: Whole | None = Field(default=None, ge=0)
    """The most milliseconds of the run. Only a play with a live model is graded."""
    output_schema: object = Field(default=None, alias="schema")
    """A JSON Schema of the answer, beyond that of the workflow."""
    max_cost_usd: Number | None = Field(default=None, ge=0)
    """The most US dollars of the run."""
    max_llm_calls: Whole | None = Field(default=None, ge=0)
    """The most calls to models."""
    max_tool_calls: Whole | None = Field(default=None, ge=0)
    """The most calls of tools."""


def _checks(value: object) -> object:
    """Return the name of one check as a list with it; `all` and `none` are no names."""
    if value in ("all", "none"):
        return value
    return listed(value)


class Expectations(Strict):
    """What must be true of one run."""

    status: TextList = ("done",)
    """The statuses with which the run may end; `parked` for a run that must wait."""
    tools: ToolExpectations = ToolExpectations()
    """The calls that the run must make and must not make."""
    world: WorldExpectations = WorldExpectations()
    """The changes of the simulated world."""
    output: OutputExpectations = OutputExpectations()
    """The answer that people get."""
    checks: Annotated[
        tuple[str, ...] | Literal["all", "none"],
        BeforeValidator(_checks, json_schema_input_type=str | tuple[str, ...]),
    ] = "all"
    """The checks of the run that must pass: `all`, `none`, or names of docs/health.md."""
    next: RequiredCalls | None = None
    """For a decision point: the calls that the next answer must contain, in any order; empty for an answer in words."""


class Turn(Strict):
    """A later message of the person, in the conversation of the first run. The next run continues that run."""

    trigger: Trigger = Trigger()
    """The delivery of the message."""
    text: str = ""
    """Short for a `trigger` with this `text`."""
    expect: Expectations = Expectations()
    """What must be true of the run of this message."""

    @model_validator(mode="before")
    @classmethod
    def _trigger_of_text(cls, value: object) -> object:
        fields = as_object(value)
        if "text" in fields and "trigger" not in fields:
            return {**fields, "trigger": {"text": fields["text"]}}
        return value

    @model_validator(mode="after")
    def _has_one_delivery(self) -> "Turn":
        if "trigger" not in self.model_fields_set or (self.text and self.trigger.text != self.text):
            raise mistake("A turn needs one delivery.", "Write either `trigger` or `text`.")
        return self


class Tolerance(Strict):
    """The differences that a judge must not count as errors."""

    wording: Literal["free", "exact"] = "free"
    """Whether other words with the same meaning are allowed."""
    numbers: Literal["exact", "rounded", "free"] = "exact"
    """`rounded` allows other units and rounding."""
    order: Literal["free", "exact"] = "free"
    """Whether steps and items may have another order."""
    tool_only_turns: Literal["free", "exact"] = "free"
    """Whether turns that only call tools may be split, joined or repeated."""
    instances: Literal["exact", "alike"] = "exact"
    """`alike`: which of several alike objects got which value does not matter."""
    counts: Literal["exact", "logic"] = "exact"
    """`logic`: the data may have moved since, so that the logic counts and not the number."""


class Criterion(Strict):
    """One question to the judge about a run."""

    id: Name
    """The name of the criterion in reports."""
    ask: str = Field(min_length=1)
    """A question that is answered by yes for a good run."""
    tolerance: Tolerance = Tolerance()
    """The differences that the judge must not count as errors."""
    votes: Whole = Field(default=1, ge=1, le=9)
    """The number of times that the judge is asked; the majority decides."""
    least_score: Share = 0.8
    """The share of the votes that must say yes."""
    labels: str = ""
    """A file with examples that people labelled (JSON lines: `text`, `label`), as a path from the folder of the eval
    file."""
    least_agreement: Share = LEAST_SHARE
    """The agreement with the labels from which on a failed criterion may block."""


class Runs(Strict):
    """How often a case is played, and how many runs must pass."""

    n: Whole = Field(default=1, ge=1, le=100)
    """The number of runs; by default the second number of `require`, or else 1."""
    require: str = Field(default="all", pattern=r"^(all|any|[0-9]{1,3}/[0-9]{1,3})$")
    """The runs that must pass: `all`, `any`, or for example `2/3`."""

    @model_validator(mode="before")
    @classmethod
    def _number_of_require(cls, value: object) -> object:
        fields = as_object(value)
        _, slash, runs = str(fields.get("require", "")).partition("/")
        if slash and runs.isdecimal() and "n" not in fields:
            return {**fields, "n": int(runs)}
        return value

    @model_validator(mode="after")
    def _no_more_than_runs(self) -> "Runs":
        required, slash, runs = self.require.partition("/")
        if slash and not 1 <= int(required) <= int(runs) == self.n:
            raise mistake(f"`{self.require}` does not fit to {self.n} runs.", f"Write 1/{self.n} to {self.n}/{self.n}.")
        return self


class Quarantine(Strict):
    """A case that fails now and then, with its measurement. It is shown, and does not block before `until`."""

    until: date
    """The day on which the quarantine ends, such as `2026-03-31`; at most 90 days ahead."""
    reason: str = Field(min_length=1)
    """Why the case fails now and then."""
    runs: Whole = Field(ge=5)
    """The runs of the measurement on the main branch."""
    passed: Whole = Field(ge=0)
    """The runs of the measurement that passed."""

    @model_validator(mode="after")
    def _no_more_than_runs(self) -> "Quarantine":
        if self.passed > self.runs:
            raise mistake(f"{self.passed} of {self.runs} runs passed.", "Write the numbers of the measurement.")
        return self


class Case(Strict):
    """One case of an eval."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,79}(\[[a-z0-9][a-z0-9-]{0,79}\])?$")
    """The name of the case in its file: a-z, 0-9 and `-`."""
    description: str = ""
    """What the case is about, for people."""
    tags: TextList = ()
    """Words by which cases are chosen; `smoke`: the case is played for every change."""
    trigger: Trigger | None = None
    """The delivery that starts the run. Only a case with a `golden` needs none, because the golden has it."""
    rows: str = ""
    """A CSV file, as a path from the folder of the eval file: the case is played for each line, with its cells in place
    of `{column}`."""
    then: tuple[Turn, ...] = ()
    """Later messages of the same conversation."""
    user: str = ""
    """A person in a sentence, whom a model plays: it writes the later messages of the conversation until it is done."""
    decision: DecisionPoint | None = None
    """The middle of a run. The case asks only for the next step, which `expect: next` describes."""
    golden: str = ""
    """A recorded case of `evals/goldens/`, by name, which sets the recorded turns. With a `trigger` it is played in the
    world of the case."""
    ids: Mapping[str, str] = Field(default_factory=dict[str, str])
    """For a golden in a world: the id in this world for a recorded id, where the `trigger` does not show it."""
    world: FileOrData | None = None
    """The simulated systems of the case; by default those of the file."""
    mocks: Mocks = Field(default_factory=dict[str, tuple[Override, ...]])
    """The results of tools; an entry replaces that of the file for the same tool."""
    approve: Mapping[Name, bool] = Field(default_factory=dict[str, bool])
    """How people decide about calls that wait for them, by tool. Without a decision the run stays parked."""
    expect: Expectations = Expectations()
    """What must be true of the run."""
    rubric: Rubric = Rubric()
    """Fixed criteria of the run."""
    grade: Annotated[tuple[GraderName, ...], BeforeValidator(listed, json_schema_input_type=Texts)] = ()
    """Graders of one's own, such as `evals/graders.py:refund_is_right`, as paths from the root of the repository."""
    judge: tuple[Criterion, ...] = ()
    """Questions to the judge about the run."""
    runs: Runs | None = None
    """How often the case is played; by default as the file says."""
    quarantine: Quarantine | None = None
    """The measurement of a case that fails now and then, which does not block until a day."""

    @model_validator(mode="after")
    def _user_begins_with_words(self) -> "Case":
        if not self.user:
            return self
        if self.trigger is None or self.trigger.text is None:
            raise mistake("A `user` writes on in words, so the case begins with words.", "Write `trigger: {text: …}`.")
        beside = self.model_fields_set & {"then", "decision", "golden"}
        if beside:
            name = min(beside)
            raise mistake(f"A model writes what follows, so `{name}` means nothing.", f"Remove `{name}` or `user`.")
        return self


def _with_time_zone(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise mistake("The time of `clock` has no time zone.", f"Write `{value.isoformat()}Z` for UTC.")
    return value


class Eval(Strict):
    """An eval file: cases for one workflow, and the settings that they share."""

    MANUAL: ClassVar[str] = "docs/evals.md"
    HOLDS_DATA: ClassVar[bool] = True

    workflow: Name
    """The workflow, by the name of its file without the suffix."""
    description: str = ""
    """What the cases have in common, for people."""
    tags: TextList = ()
    """Words by which cases are chosen; `smoke`: the cases are played for every change."""
    world: FileOrData | None = None
    """The simulated systems: the data itself, the path of a YAML file from the folder of the eval file, or `demo` for
    the data of the demo. Without a world every tool answers with its mock."""
    clock: Annotated[datetime, AfterValidator(_with_time_zone)] = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
    """The time at which every run of the file begins, such as `2026-03-02T09:00:00Z`."""
    mocks: Mocks = Field(default_factory=dict[str, tuple[Override, ...]])
    """The results of tools that answer with mocks although there is a world, by tool."""
    runs: Runs = Runs()
    """How often each case is played, and how many runs must pass."""
    retries: Whole = Field(default=2, ge=0, le=5)
    """How often a run is played again after a failure of infrastructure, such as a provider that does not answer."""
    budget_usd: Number | None = Field(default=None, gt=0)
    """The most US dollars for one play of all cases of the file."""
    cases: tuple[Case, ...] = Field(min_length=1)
    """The cases, one or more."""
