"""The format of eval files: `evals/*.yaml`, one file for one workflow, with one case or more."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from gofer.tools.mocks import Override
from gofer.workflows.form_parts import Name, Names, Number, Strict, Whole, listed

JsonObject = Mapping[str, object]
Share = Annotated[float, Field(ge=0, le=1)]


def _one_or_more(value: object) -> object:
    """Return one entry as a list with it."""
    if isinstance(value, Mapping):
        return [value]  # pyright: ignore[reportUnknownVariableType]
    return value


Mocks = Mapping[Name, Annotated[tuple[Override, ...], BeforeValidator(_one_or_more)]]
"""The results of mocked tools, by tool; the first entry with matching arguments applies."""


class Trigger(Strict):
    """The delivery that starts a run: a payload as its sender sends it, as `gofer run --event` takes it."""

    payload: str | JsonObject | None = None
    """A file beside the eval file, or the payload itself. A schedule needs none."""
    source: str = ""
    """The sender, if the workflow has triggers of several sources."""
    hook: str = ""
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])


class EarlierCall(Strict):
    """A call in the history of a decision point, with its result."""

    tool: Name
    arguments: JsonObject = Field(default_factory=dict[str, object])
    text: str = ""
    """The result as the model reads it."""
    status: Literal["ok", "error", "refused"] = "ok"


class EarlierTurn(Strict):
    """One answer of the model in the history of a decision point."""

    text: str = ""
    calls: tuple[EarlierCall, ...] = ()


class DecisionPoint(Strict):
    """The middle of a run: the case asks the model only for its next step after this history."""

    history: tuple[EarlierTurn, ...] = ()
    plan: tuple[Mapping[str, str], ...] = ()
    """The steps of the plan: `id`, `description`, `status`, and `needs`."""


class CallExpectation(Strict):
    """The calls of one tool that a run must make."""

    arguments: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for each argument; see `matching.py`."""
    times: Whole | None = Field(default=None, ge=0)
    """The exact number of matching calls; by default one or more."""
    status: Literal["ok", "error", "refused", "unknown"] | None = "ok"
    """The outcome of the calls; null accepts every outcome."""


RequiredCall = Name | Mapping[Name, CallExpectation]
"""A tool by its name, or `{tool: expectation}`."""


class ToolExpectations(Strict):
    """The calls that a run must make and must not make."""

    required: tuple[RequiredCall, ...] = ()
    forbidden: tuple[RequiredCall, ...] = ()
    """Tools, or calls with certain arguments, that the run must not make. A refused attempt counts as made."""
    in_order: tuple[RequiredCall, ...] = ()
    """Calls that must happen in this order; other calls may happen between them."""
    only: tuple[Name, ...] | None = None
    """The only tools that may be called, besides the tools that every run has; by default all."""


class WorldExpectations(Strict):
    """The changes of the simulated world between the begin and the end of the case.

    Paths are JSON pointers as `gofer run --world` prints them; `*` stands for one part of a path, `**` for any.
    """

    added: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for each path of which at least one matching value must be added."""
    changed: JsonObject = Field(default_factory=dict[str, object])
    """A matcher for the new value of each path that must change."""
    removed: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    unchanged: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
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

    contains_any: Annotated[tuple[Names, ...], BeforeValidator(_and_of_ors)] = ()
    """An OR of texts, or an AND of ORs: of each inner list, the answer must contain one text."""
    contains_all: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    not_contains: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    json_fields: JsonObject = Field(default_factory=dict[str, object], alias="json")
    """A matcher for each field of the answer of a workflow with `output`; a dotted name leads into objects."""


class Rubric(Strict):
    """Fixed criteria of a run. A criterion that is not written is not graded."""

    expected_status: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    min_confidence: Number | None = Field(default=None, ge=0, le=1)
    """The lowest `confidence` of an answer with `output`."""
    require_actions: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    """Tools that must have been called with success."""
    require_runbook_evidence: bool = False
    """Whether the answer must name a skill or a file that the run has read."""
    forbidden_phrases: Annotated[tuple[str, ...], BeforeValidator(listed)] = ()
    max_latency_ms: Whole | None = Field(default=None, ge=0)
    output_schema: object = Field(default=None, alias="schema")
    """A JSON Schema of the answer, beyond that of the workflow."""
    max_cost_usd: Number | None = Field(default=None, ge=0)
    max_llm_calls: Whole | None = Field(default=None, ge=0)
    max_tool_calls: Whole | None = Field(default=None, ge=0)


class Expectations(Strict):
    """What must be true of one run."""

    status: Annotated[tuple[str, ...], BeforeValidator(listed)] = ("done",)
    """The statuses with which the run may end; `parked` for a run that must wait."""
    tools: ToolExpectations = ToolExpectations()
    world: WorldExpectations = WorldExpectations()
    output: OutputExpectations = OutputExpectations()
    checks: Annotated[tuple[str, ...] | Literal["all", "none"], BeforeValidator(listed)] = "all"
    """The checks of the run that must pass; see docs/health.md."""
    next: tuple[RequiredCall, ...] | None = None
    """For a decision point: the calls that the next answer must contain, in any order; empty for an answer in words."""


class Turn(Strict):
    """A later message of the person, in the conversation of the first run. The next run continues that run."""

    trigger: Trigger
    expect: Expectations = Expectations()


class Tolerance(Strict):
    """The differences that a judge must not count as errors."""

    wording: Literal["free", "exact"] = "free"
    numbers: Literal["exact", "rounded", "free"] = "exact"
    """`rounded` permits other units and rounding."""
    order: Literal["free", "exact"] = "free"
    tool_only_turns: Literal["free", "exact"] = "free"
    """Whether turns that only call tools may be split, joined or repeated."""
    instances: Literal["exact", "alike"] = "exact"
    """`alike`: which of several alike objects got which value does not matter."""
    counts: Literal["exact", "logic"] = "exact"
    """`logic`: the data may have moved since, so that the logic counts and not the number."""


class Criterion(Strict):
    """One question to the judge about a run."""

    id: Name
    ask: str = Field(min_length=1)
    """A question that is answered by yes for a good run."""
    tolerance: Tolerance = Tolerance()
    votes: Whole = Field(default=1, ge=1, le=9)
    """The number of times that the judge is asked; the majority decides."""
    least_score: Share = 0.8
    """The share of the votes that must say yes."""
    labels: str = ""
    """A file beside the eval file with examples that people labelled (JSON lines: `text`, `label`)."""
    least_agreement: Share = 0.8
    """The agreement with the labels from which on a failed criterion may block."""


class Runs(Strict):
    """How often a case is played, and how many runs must pass."""

    n: Whole = Field(default=1, ge=1, le=100)
    require: str = Field(default="all", pattern=r"^(all|any|\d+/\d+)$")
    """`all`, `any`, or `k/n`."""


class Quarantine(Strict):
    """A case that fails now and then, with its measurement. It is shown, and does not block before `until`."""

    until: date
    reason: str = Field(min_length=1)
    runs: Whole = Field(ge=5)
    """The runs of the measurement on the main branch."""
    passed: Whole = Field(ge=0)


class Case(Strict):
    """One case of an eval."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")
    description: str = ""
    tags: Annotated[tuple[Name, ...], BeforeValidator(listed)] = ()
    trigger: Trigger | None = None
    """None only with a golden, which has the trigger."""
    then: tuple[Turn, ...] = ()
    """Later messages of the same conversation."""
    decision: DecisionPoint | None = None
    golden: str = ""
    """A recorded case of `evals/goldens/`, by name, which sets the trigger and the recorded turns."""
    world: str | JsonObject | None = None
    mocks: Mocks = Field(default_factory=dict[str, tuple[Override, ...]])
    expect: Expectations = Expectations()
    rubric: Rubric = Rubric()
    judge: tuple[Criterion, ...] = ()
    runs: Runs | None = None
    quarantine: Quarantine | None = None


class Eval(Strict):
    """An eval file: cases for one workflow, and the settings that they share."""

    workflow: Name
    description: str = ""
    tags: Annotated[tuple[Name, ...], BeforeValidator(listed)] = ()
    """`smoke`: the cases are played for every change."""
    world: str | JsonObject | None = None
    """The simulated systems: a YAML file beside the eval file, the data itself, or `demo` for the data of the demo.
    Without a world every tool answers with its mock."""
    clock: datetime = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
    """The time at which every run of the file begins."""
    mocks: Mocks = Field(default_factory=dict[str, tuple[Override, ...]])
    """The results of tools that answer with mocks although there is a world; see docs/write-a-tool.md."""
    runs: Runs = Runs()
    retries: Whole = Field(default=2, ge=0, le=5)
    """How often a run is played again after a failure of infrastructure, such as a provider that does not answer."""
    budget_usd: Number | None = Field(default=None, gt=0)
    """The most US dollars for one play of all cases of the file."""
    cases: tuple[Case, ...] = Field(min_length=1)
