"""The format of workflow files, subagent files and defaults, as pydantic models that refuse unknown keys."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from gofer.models.served_model import LookUp
from gofer.workflows.check_limits import Checks
from gofer.workflows.feedback_form import Feedback
from gofer.workflows.foreign_keys import workflow_keys
from gofer.workflows.form_parts import Hosts, Name, Names, Number, Reasoning, Strict, Who, Whole, mistake
from gofer.workflows.grants import Approve, ListedTool
from gofer.workflows.model_roles import EndpointForm, Models, Roles, check_endpoints
from gofer.workflows.output_schema import Flaw, flaws
from gofer.workflows.review_form import Reviews, ReviewSetting, ReviewsSetting
from gofer.workflows.suggest_form import Suggest
from gofer.workflows.when import Trigger, TriggerKind, when_form
from gofer.workflows.writes import Destinations, is_unlisted

_CHANNEL = re.compile(r"#[^\s#*]{1,80}|[CG][A-Z0-9]{2,20}")
_LINK = re.compile(r"https?://[^\s()<>]+")
"""A URL that Markdown takes unchanged."""

Reply = Literal["thread", "channel", "dm", "ephemeral", "none"]
"""Where an answer can go."""


PrivateChannels = Literal["reply_only", "allow", "refuse"]
"""The rule for a call that takes something out of a private channel: ask the person who started the run, allow it, or
refuse it."""


Plan = Literal["optional", "required", "off"]
"""Whether the model may keep a plan, must write one first, or has no plan."""


class Limits(Strict):
    """The limits of one run. A run that reaches a limit stops and reports what it has so far."""

    tool_calls: Whole = Field(default=20, ge=0)
    """The most tool calls of the model or the script."""
    llm_calls: Whole = Field(default=12, ge=1)
    """The most calls to the model and to subagents."""
    tokens: Whole = Field(default=200_000, ge=1)
    """The most input and output tokens together, as the provider counts them."""
    minutes: Number = Field(default=5, gt=0)
    """The most minutes that workers spend on the run."""
    usd: Number = Field(default=0.50, gt=0)
    """The most US dollars, by the prices of its models. It does not limit models without a known price."""


class Allowance(Strict):
    """The limits of all runs of one person, or of one workflow, together. Without a number there is no limit."""

    runs_per_hour: int | None = Field(default=None, ge=1)
    """The most runs that may begin within an hour."""
    usd_per_day: float | None = Field(default=None, gt=0)
    """The most US dollars within 24 hours, by the prices of its models. It does not limit models without a known
    price."""


class ModelChoice(Strict):
    """A model by name with its parameters."""

    name: str = Field(min_length=1)
    """A role of defaults.yaml, or the provider's name of a model."""
    temperature: Number | None = Field(default=None, ge=0, le=2)
    """0 to 2. Higher values make answers more varied."""
    seed: Whole | None = Field(default=None, ge=-(2**63))
    """A whole number. The same seed makes answers more alike, if the provider supports it."""
    max_output_tokens: Whole | None = Field(default=None, ge=1)
    """The most tokens of one answer, its thoughts included."""
    reasoning: Reasoning | None = None
    """How much the model thinks, such as {effort: low}; by default as the model's role says."""


class Skills(Strict):
    """The skills of the folder `skills/` that the runs may use."""

    required: tuple[Name, ...] = ()
    """Skills that the prompt contains from the beginning."""
    allowed: tuple[Name, ...] | None = None
    """Skills that a run may load when it needs them; by default all skills of the folder."""
    prohibited: tuple[Name, ...] = ()
    """Skills that no run may load. This also applies to runs that are already running."""

    @model_validator(mode="after")
    def _not_both(self) -> "Skills":
        if both := sorted({*self.prohibited} & {*self.required, *(self.allowed or ())}):
            raise mistake(f"`{both[0][:80]}` is both prohibited and granted.", "Remove it from one of the lists.")
        return self


class Files(Strict):
    """How much of files and long texts the model sees without calling a tool."""

    preload_kb: Whole = Field(default=200, ge=0, le=2_000)
    """The most kilobytes of attached files in the first message: texts, and images and PDFs that the model can read."""
    whole_tokens: Whole = Field(default=10_000, ge=500, le=20_000)
    """The most tokens of a message or result that is shown whole. A longer one becomes a file."""
    preview_tokens: Whole = Field(default=1_000, ge=100, le=20_000)
    """The tokens in the preview of a message or result that became a file."""


class Context(Strict):
    """The size of the model's context window in runs."""

    window: int | None = Field(default=None, ge=4_000)
    """The most tokens of a request and its answer; by default 48,000, or the window of the model if that is smaller."""
    compact_at: Whole = Field(default=80, ge=30, le=95)
    """The percentage of the window at which Gofer replaces the beginning of the conversation by a summary."""


def _false_as_off(value: object) -> object:
    """Return "off" for false, because YAML reads a bare off as false."""
    if value is False:
        return "off"
    return value


def _is_empty(value: Sequence[str]) -> bool:
    """Return whether a list is empty: a bundle without the key keeps the hash that it had before the key existed."""
    return not value


def _named_model(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    return value


def _checked_output(value: object) -> object:
    """Raise the flaws of a schema. A text is a file name, which `output_file` reads."""
    if value is not None and not isinstance(value, str) and (found := flaws(value)):
        raise ValidationError.from_exception_data("output", [_error(flaw) for flaw in found])
    return value


class Workflow(Strict):
    """One workflow file."""

    description: str = Field(min_length=1)
    """One sentence: what the workflow does and what starts it."""
    owner: str = Field(min_length=1)
    """The channel or group that is responsible for the workflow."""
    when: tuple[Trigger, ...]
    """The triggers that start the workflow."""
    who: Who = ("members", "customers", "anonymous")
    """Who may start the workflow: members, guests, externals, customers of a service project, bots, anonymous (events
    that name no person), everyone (all people), @handles of people and groups, or ids."""
    coordinator: Literal["llm", "script"] = "llm"
    """What decides the next step: a model, or the Python script that `coordinator_script` names."""
    coordinator_script: str = ""
    """The script that decides, as coordinators/<name>.py. A workflow with a script needs no prompt."""
    prompt: str = ""
    """The Markdown file of the prompt, in the folder of this file; by default <name>.md."""
    model: ModelChoice = ModelChoice(name="default")
    """The model, by role or by name."""
    tools: tuple[ListedTool, ...] = ()
    """The tools that the runs may call, by the names that the model sees. Runs can call no other tools."""
    requires: Names = Field(default=(), exclude_if=_is_empty)
    """Tools of which one must have succeeded before a run may end as done; without any, every end will do."""
    subagents: tuple[Name, ...] | None = None
    """The subagents that the runs may call; by default all subagents for a script, and none for a model."""
    skills: Skills = Skills()
    """The skills that the runs have in the prompt or may load."""
    search_above: Whole = Field(default=30, ge=0)
    """The most tools, and the most skills, that the prompt lists. With more, the model finds them with tool_search."""
    context: Context = Context()
    """The size of the model's context window."""
    files: Files = Files()
    """How much of files and long texts the model sees without calling a tool."""
    writes: Destinations = Destinations()
    """Where the runs may write besides the place they were asked in, system by system."""
    reads: Destinations = Destinations()
    """What the runs may read of what only some people may see, besides the object they are about."""
    approve: Approve | None = None
    """The tool calls that need an approval."""
    reply: Reply = "thread"
    """Where Gofer posts the answer."""
    plan: Plan = "optional"
    """Whether the model may keep a plan (`optional`), must write one first (`required`), or has none (`off`)."""
    output: object = None
    """The form of the answer: a JSON Schema, or the name of a .json file in the folder of this file; by default
    text."""
    reply_template: str = Field(default="", max_length=4_000)
    """The text that people read of an answer with `output`. `{field}` is replaced by a top-level field of the
    answer."""
    links: Hosts = Field(default=(), exclude_if=_is_empty)
    """Hosts with pages that answers and other texts may link, in addition to those of defaults.yaml, such as
    wiki.example.com."""
    private_channels: PrivateChannels = "reply_only"
    """Whether a run from a private channel may write elsewhere: only after asking (`reply_only`), always (`allow`) or
    never (`refuse`)."""
    limits: Limits = Limits()
    """The limits of one run."""
    checks: Checks = Checks()
    """The workflow's own limits for the checks of each run after its end."""
    # No part of a run's bundle, because no run needs it.
    review: ReviewSetting = Field(default=None, exclude=True)
    """The share of the runs that are reviewed, or `off`; by default that of defaults.yaml."""
    limits_per_person: Allowance = Allowance()
    """The limits of one person in this workflow."""
    limits_per_workflow: Allowance = Allowance()
    """The limits of all runs of this workflow together."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the tools that the runs may call, in the order of the file."""
        return tuple(grant.name for grant in self.tools)

    @field_validator("output")
    @classmethod
    def _schema(cls, value: object) -> object:
        return _checked_output(value)

    @field_validator("plan", mode="before", json_schema_input_type=Plan)
    @classmethod
    def _bare(cls, value: object) -> object:
        return _false_as_off(value)

    @field_validator("model", mode="before", json_schema_input_type=str | ModelChoice)
    @classmethod
    def _model(cls, value: object) -> object:
        return _named_model(value)


def workflow_form(
    kinds: Sequence[TriggerKind], destinations: type[Destinations], readable: type[Destinations], workplace: str
) -> type[Workflow]:
    """Return the form of a workflow file with triggers of these kinds.

    `destinations` is the form of `writes`, `readable` that of `reads`, and `workplace` the system that people chat in.
    """
    keys: dict[str, Any] = {
        "when": (when_form(kinds), ...),
        "writes": (destinations, destinations()),
        "reads": (Annotated[readable, Field(exclude_if=is_unlisted)], readable()),
        "owner": (Annotated[str, Field(min_length=1)], ...),
        "approve": (Approve | None, None),
    }
    descriptions = {
        "owner": (
            f"The {workplace} channel or group that is responsible for the workflow. In a folder that needs no "
            f"{workplace}, it may be an e-mail address or a name."
        ),
        "approve": f"The tool calls that need an approval in {workplace}.",
    }
    fields: dict[str, Any] = {}
    for name, (annotation, default) in keys.items():
        fields[name] = (annotation, Field(default, description=descriptions.get(name)))
    form = create_model("Workflow", __base__=Workflow, __doc__=Workflow.__doc__, **fields)
    form.FOREIGN = workflow_keys(kinds[0].name)
    form.ADDED = {
        "owner": (
            f'Add `owner: "#channel"` with the {workplace} channel or the group that is responsible for the workflow.'
        ),
        "when": f"Add `when: [{kinds[0].name}]`, or another trigger that starts the workflow.",
    }
    return form


class SubagentLimits(Strict):
    """The limits of a subagent, in addition to the limits of the run that calls it."""

    calls: Whole = Field(default=20, ge=1)
    """The most calls of the subagent in one run."""
    minutes: Number = Field(default=5, gt=0)
    """The most minutes for one answer."""
    llm_calls: Whole = Field(default=8, ge=1)
    """The most calls to the model for one answer."""
    tool_calls: Whole = Field(default=20, ge=0)
    """The most tool calls for one answer."""
    tokens: Whole = Field(default=150_000, ge=1)
    """The most input and output tokens together for one answer."""
    usd: Number = Field(default=0.25, gt=0)
    """The most US dollars for one answer, by the price table."""


class Subagent(Strict):
    """One file of `subagents/`: a model with its own prompt that runs can call."""

    description: str = Field(min_length=1)
    """One sentence: what the subagent does. Models choose subagents by this sentence."""
    prompt: str = ""
    """The Markdown file of the prompt, in the folder of this file; by default <name>.md."""
    tools: tuple[Name, ...] | Literal["inherit"] | None = None
    """The caller's tools that the subagent may call: a list, or `inherit` for all of them. By default it answers one
    question without tools; with an empty list it has the tools of every run."""
    subagents: tuple[Name, ...] = ()
    """The subagents that this subagent may call."""
    skills: Skills = Skills()
    """The skills that the subagent has in its prompt or may load. It has no skills that are not listed here."""
    files: Files = Files()
    """How much of files and long texts the model sees without calling a tool."""
    context: Context = Context()
    """The size of the model's context window."""
    plan: Annotated[Plan, BeforeValidator(_false_as_off, json_schema_input_type=Plan)] = "off"
    """Whether the model may keep a plan (`optional`), must write one first (`required`), or has none (`off`)."""
    model: Annotated[ModelChoice, BeforeValidator(_named_model, json_schema_input_type=str | ModelChoice)] = (
        ModelChoice(name="default")
    )
    """The model, by role or by name."""
    output: Annotated[object, AfterValidator(_checked_output)] = None
    """The form of the answer: a JSON Schema, or the name of a .json file in the folder of this file; by default
    text."""
    limits: SubagentLimits = SubagentLimits()
    """The limits of the subagent."""

    @property
    def own_skills(self) -> Skills:
        """The skills of the subagent, which may load only skills that its file lists."""
        if self.skills.allowed is not None:
            return self.skills
        return self.skills.model_copy(update={"allowed": ()})

    @property
    def needs_own_run(self) -> bool:
        """Whether each call of the subagent starts a subagent run.

        Other subagents need one only for calls with files.
        """
        return self.tools is not None or bool(self.subagents)


def _error(flaw: Flaw) -> InitErrorDetails:
    error = PydanticCustomError("schema", "{reason}", {"reason": flaw.reason, "hint": flaw.hint})
    return InitErrorDetails(type=error, loc=flaw.path, input=None)


class Defaults(Strict):
    """`agents/defaults.yaml`: the defaults of every workflow."""

    endpoints: dict[Name, EndpointForm] = Field(default_factory=dict)
    """Endpoints of models, by a name of your choice, besides the endpoint that the deployment sets up."""
    models: dict[str, Models] = Field(default_factory=dict)
    """The model of each role. In a list, the next model takes over when one is unavailable."""
    preamble: str | None = None
    """A Markdown file of this folder. Every prompt begins with it."""
    limits: Limits = Limits()
    """The limits of each run. A workflow may override each key."""
    limits_per_person: Allowance = Allowance()
    """The limits of one person over all workflows together."""
    limits_per_workflow: Allowance = Allowance()
    """The limits of all runs of one workflow together. A workflow may override each key."""
    feedback: Feedback = Feedback()
    """The emoji with which people say what they think of an answer."""
    review: ReviewsSetting = Reviews()
    """The review of ended runs by the model of the role `reviewer`; `off` for none."""
    suggest: Suggest = Suggest()
    """The proposals of edits that `gofer suggest` makes and proves."""
    prompt_links: str | None = None
    """The link to edit a prompt: a URL with {file}. By default it leads to Gofer's own page of the prompt."""
    links: Hosts = ()
    """Hosts with pages that answers and other texts of every workflow may link, such as wiki.example.com."""
    ai_logs: str = ""
    """The public channel for summaries of all runs, as "#name" or id. By default Gofer posts no summaries."""
    log_links: str = ""
    """The link from each summary to the logs and traces of its run: a URL with {run} or {trace}."""

    @model_validator(mode="after")
    def _endpoints(self) -> "Defaults":
        check_endpoints(self.models, self.endpoints)
        return self

    def roles(self, look_up: LookUp) -> Roles:
        """Return the models by role, with their prices from a price list."""
        return Roles(self.models, self.endpoints, look_up)

    @field_validator("ai_logs")
    @classmethod
    def _channel(cls, value: str) -> str:
        if value and not _CHANNEL.fullmatch(value):
            raise mistake("This is not a channel.", 'Write its name, such as "#ai-logs", or its id.')
        return value

    @field_validator("log_links")
    @classmethod
    def _link(cls, value: str) -> str:
        if value and not (_LINK.fullmatch(value) and ("{run}" in value or "{trace}" in value)):
            raise mistake("This is not a link to a single run.", "Write a URL that contains {run} or {trace}.")
        return value


def defaults_form(workplace: str) -> type[Defaults]:
    """Return the form of `agents/defaults.yaml` with descriptions that name the workplace."""
    channel = f'The public {workplace} channel for summaries of all runs, as "#name" or id. '
    fields: dict[str, Any] = {"ai_logs": (str, Field("", description=f"{channel}By default Gofer posts no summaries."))}
    return create_model("Defaults", __base__=Defaults, __doc__=Defaults.__doc__, **fields)
