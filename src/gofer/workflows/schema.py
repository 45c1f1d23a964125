"""The format of workflow files, subagents and defaults, as pydantic models; an unknown key is a mistake."""

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
from gofer.workflows.foreign_keys import workflow_keys
from gofer.workflows.form_parts import Name, Number, Strict, Who, Whole, mistake
from gofer.workflows.grants import Approve, Spelled
from gofer.workflows.model_roles import EndpointForm, Models, Roles, check_endpoints
from gofer.workflows.output_schema import Flaw, flaws
from gofer.workflows.when import Trigger, TriggerKind, when_form
from gofer.workflows.writes import Destinations

_CHANNEL = re.compile(r"#[^\s#*]{1,80}|[CG][A-Z0-9]{2,20}")
_LINK = re.compile(r"https?://[^\s()<>]+")
"""A URL that stands in Markdown as it is."""

Reply = Literal["thread", "channel", "dm", "ephemeral", "none"]
"""Where an answer can go."""


PrivateChannels = Literal["reply_only", "allow", "refuse"]
"""What becomes of a call that would take something out of a private channel: the person who started the run is asked;
it is made; it is refused."""


Plan = Literal["optional", "required", "off"]
"""Whether a model may write a plan and keep it; has to before anything else; or is not offered one."""


class Limits(Strict):
    """What one run may use at most. A run that reaches a limit stops and says what it has so far."""

    tool_calls: Whole = Field(default=20, ge=0)
    """Tool calls the model or the script may make."""
    llm_calls: Whole = Field(default=12, ge=1)
    """Calls to the model and to subagents."""
    tokens: Whole = Field(default=200_000, ge=1)
    """Input and output tokens together, as the provider counts them."""
    minutes: Number = Field(default=5, gt=0)
    """Minutes in the hands of a worker."""
    usd: Number = Field(default=0.50, gt=0)
    """US dollars, by the prices of its models; what a model without a known price costs is not limited by it."""


class Allowance(Strict):
    """What all runs of one person, or of one workflow, may use together. Without a number there is no limit."""

    runs_per_hour: int | None = Field(default=None, ge=1)
    """Runs that may begin within an hour."""
    usd_per_day: float | None = Field(default=None, gt=0)
    """US dollars within 24 hours, by the prices of its models; a model without a known price is not limited by it."""


class ModelChoice(Strict):
    """A model by name with its parameters."""

    name: str = Field(min_length=1)
    """A role of defaults.yaml or the provider's name of a model."""
    temperature: Number | None = Field(default=None, ge=0, le=2)
    """0 to 2: how freely it chooses its words."""
    seed: Whole | None = Field(default=None, ge=-(2**63))
    """A whole number; the same one makes answers more alike, if the provider keeps to it."""
    max_output_tokens: Whole | None = Field(default=None, ge=1)
    """Tokens of one answer at most."""


class Skills(Strict):
    """Skills of the folder `skills/` that its runs know."""

    required: tuple[Name, ...] = ()
    """Skills whose text stands in the prompt from the beginning."""
    allowed: tuple[Name, ...] | None = None
    """Skills that a run may load when it needs them; left out, all of the folder."""
    prohibited: tuple[Name, ...] = ()
    """Skills that no run may load, also one under way that could when it began."""

    @model_validator(mode="after")
    def _not_both(self) -> "Skills":
        if both := sorted({*self.prohibited} & {*self.required, *(self.allowed or ())}):
            raise mistake(f"`{both[0][:80]}` is prohibited, and granted beside it.", "Remove it from one of the lists.")
        return self


class Files(Strict):
    """How much of files and of long texts its runs see without asking."""

    preload_kb: Whole = Field(default=200, ge=0, le=2_000)
    """Kilobytes of attached files that stand in the first message, together: texts, and what the model can look at."""
    whole_tokens: Whole = Field(default=10_000, ge=500, le=20_000)
    """Tokens of one message or result that are shown whole; a longer one becomes a file."""
    preview_tokens: Whole = Field(default=1_000, ge=100, le=20_000)
    """Tokens that are shown of one that became a file."""


class Context(Strict):
    """How much its runs have in view."""

    window: int | None = Field(default=None, ge=4_000)
    """Tokens in view at most, answer included; left out, 48,000 or what the model takes, whichever is less."""
    compact_at: Whole = Field(default=80, ge=30, le=95)
    """Percent of the window from which on the beginning of the conversation is summed up and leaves it."""


def _off(value: object) -> object:
    """YAML reads a bare off as false."""
    return "off" if value is False else value


def _named_model(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _checked_output(value: object) -> object:
    """The file that a name stands for is read elsewhere."""
    if value is not None and not isinstance(value, str) and (found := flaws(value)):
        raise ValidationError.from_exception_data("output", [_told(flaw) for flaw in found])
    return value


class Workflow(Strict):
    """One workflow file."""

    description: str = Field(min_length=1)
    """One sentence: what it does and how it is started."""
    owner: str = Field(min_length=1)
    """Who answers for it: a channel or group."""
    when: tuple[Trigger, ...]
    """What starts it."""
    who: Who = ("members",)
    """Who may start it: members, guests, externals, bots, everyone (but bots), @handles of people and groups, ids."""
    coordinator: Literal["llm", "script"] = "llm"
    """Who decides the next step: a model, or the Python of `coordinator_script`."""
    coordinator_script: str = ""
    """The script that decides: coordinators/<name>.py; a workflow with one needs no prompt."""
    prompt: str = ""
    """The Markdown file beside this one; empty means <name>.md."""
    model: ModelChoice = ModelChoice(name="default")
    """Which model, by role or by name."""
    tools: tuple[Spelled, ...] = ()
    """The only tools its runs may call, by the name the model sees."""
    subagents: tuple[Name, ...] | None = None
    """The subagents that its runs may ask; left out, for a script all of the folder, and for a model none."""
    skills: Skills = Skills()
    """What its runs know beyond their prompt, or may load."""
    search_above: Whole = Field(default=30, ge=0)
    """More tools, or skills, than this do not stand in the prompt; a run finds them with tool_search."""
    context: Context = Context()
    """How much its runs have in view."""
    files: Files = Files()
    """How much of files and of long texts its runs see without asking."""
    writes: Destinations = Destinations()
    """Where its runs may write besides where they were asked, system by system."""
    approve: Approve | None = None
    """Calls that a person has to approve before they are made."""
    reply: Reply = "thread"
    """Where the answer goes."""
    plan: Plan = "optional"
    """Whether a model may keep a plan, has to, or cannot."""
    output: object = None
    """The form its answer must have: a JSON Schema, or the name of a .json file beside this one; none means text."""
    reply_template: str = Field(default="", max_length=4_000)
    """The text that people read of an answer with an `output`; `{field}` stands for a top-level field."""
    private_channels: PrivateChannels = "reply_only"
    """Whether what a run from a private channel writes elsewhere is asked for first, allowed or refused."""
    limits: Limits = Limits()
    """What one run may use at most."""
    limits_per_person: Allowance = Allowance()
    """What one person may use of this workflow."""
    limits_per_workflow: Allowance = Allowance()
    """What all runs of this workflow may use together."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools its runs may call, in the order of the file."""
        return tuple(grant.name for grant in self.tools)

    @field_validator("output")
    @classmethod
    def _schema(cls, value: object) -> object:
        return _checked_output(value)

    @field_validator("plan", mode="before", json_schema_input_type=Plan)
    @classmethod
    def _bare(cls, value: object) -> object:
        return _off(value)

    @field_validator("model", mode="before", json_schema_input_type=str | ModelChoice)
    @classmethod
    def _model(cls, value: object) -> object:
        return _named_model(value)


def workflow_form(kinds: Sequence[TriggerKind], destinations: type[Destinations], workplace: str) -> type[Workflow]:
    """Return the form of a workflow file that triggers of these kinds may start.

    `destinations` is the form of the key `writes`. In the workplace the people of the company are reached.
    """
    written: dict[str, Any] = {
        "when": (when_form(kinds), ...),
        "writes": (destinations, destinations()),
        "owner": (Annotated[str, Field(min_length=1)], ...),
        "approve": (Approve | None, None),
    }
    described = {
        "owner": f"Who answers for it: a {workplace} channel or group.",
        "approve": f"Calls that somebody has to approve in {workplace} before they are made.",
    }
    fields: dict[str, Any] = {}
    for name, (annotation, default) in written.items():
        fields[name] = (annotation, Field(default, description=described.get(name)))
    form = create_model("Workflow", __base__=Workflow, __doc__=Workflow.__doc__, **fields)
    form.FOREIGN = workflow_keys(kinds[0].name)
    form.ADDED = {
        "owner": f'Add `owner: "#channel"` with the {workplace} channel or the group that answers for the workflow.',
        "when": f"Add `when: [{kinds[0].name}]`, or another trigger that starts the workflow.",
    }
    return form


class SubagentLimits(Strict):
    """What a subagent may use at most, beside what its run may."""

    calls: Whole = Field(default=20, ge=1)
    """How often one run may ask it."""
    minutes: Number = Field(default=5, gt=0)
    """Minutes one answer may take."""
    llm_calls: Whole = Field(default=8, ge=1)
    """Calls to the model for one answer."""
    tool_calls: Whole = Field(default=20, ge=0)
    """Tool calls for one answer."""
    tokens: Whole = Field(default=150_000, ge=1)
    """Input and output tokens of one answer together."""
    usd: Number = Field(default=0.25, gt=0)
    """US dollars of one answer, by the price table."""


class Subagent(Strict):
    """One file of `subagents/`: a model with a prompt of its own, asked by runs."""

    description: str = Field(min_length=1)
    """One sentence: what it is asked for; models choose by it."""
    prompt: str = ""
    """The Markdown file beside this one; empty means <name>.md."""
    tools: tuple[Name, ...] | Literal["inherit"] | None = None
    """What it may call of the tools of whoever asks it: a list, or inherit for all of them. Left out, it is asked one
    question and has none; an empty list has those that every run has."""
    subagents: tuple[Name, ...] = ()
    """The subagents that it may ask itself."""
    skills: Skills = Skills()
    """What it knows beyond its prompt, or may load; nothing that is not named here."""
    files: Files = Files()
    """How much of files and of long texts it sees without asking."""
    context: Context = Context()
    """How much it has in view."""
    plan: Annotated[Plan, BeforeValidator(_off, json_schema_input_type=Plan)] = "off"
    """Whether it may keep a plan, has to, or cannot."""
    model: Annotated[ModelChoice, BeforeValidator(_named_model, json_schema_input_type=str | ModelChoice)] = (
        ModelChoice(name="default")
    )
    """Which model, by role or by name."""
    output: Annotated[object, AfterValidator(_checked_output)] = None
    """The form its answer must have: a JSON Schema; none means text."""
    limits: SubagentLimits = SubagentLimits()
    """What it may use at most."""

    @property
    def own_skills(self) -> Skills:
        """Its skills; it may load none that it does not name."""
        return self.skills if self.skills.allowed is not None else self.skills.model_copy(update={"allowed": ()})

    @property
    def an_agent(self) -> bool:
        """Whether it works in a run of its own also when it is given no file."""
        return self.tools is not None or bool(self.subagents)


def _told(flaw: Flaw) -> InitErrorDetails:
    error = PydanticCustomError("schema", "{why}", {"why": flaw.why, "instead": flaw.instead})
    return InitErrorDetails(type=error, loc=flaw.way, input=None)


class Defaults(Strict):
    """`agents/defaults.yaml`: what holds for every workflow that does not say otherwise."""

    endpoints: dict[Name, EndpointForm] = Field(default_factory=dict)
    """Where models are asked beside the endpoint that the deployment sets up, by a name of your choice."""
    models: dict[str, Models] = Field(default_factory=dict)
    """Roles and the model that plays each; of a list, the next when one is not there."""
    preamble: str | None = None
    """A Markdown file of this folder that stands before every prompt."""
    limits: Limits = Limits()
    """Limits of every workflow that does not set them itself, key by key."""
    limits_per_person: Allowance = Allowance()
    """What one person may use of all workflows together."""
    limits_per_workflow: Allowance = Allowance()
    """What all runs of one workflow may use together, for each workflow that does not say otherwise, key by key."""
    prompt_links: str | None = None
    """Where people edit prompts: a URL with {file}; empty means Gofer's own page of the prompt."""
    ai_logs: str = ""
    """The public channel that a summary of each run is posted to, as "#name" or id; empty means none is."""
    log_links: str = ""
    """Where logs and traces of a run are looked at: a URL with {run} or {trace}; each summary links to it."""

    @model_validator(mode="after")
    def _endpoints(self) -> "Defaults":
        check_endpoints(self.models, self.endpoints)
        return self

    def roles(self, look_up: LookUp) -> Roles:
        """Return the models by role, with what a price list says of them."""
        return Roles(self.models, self.endpoints, look_up)

    @field_validator("ai_logs")
    @classmethod
    def _channel(cls, value: str) -> str:
        if value and not _CHANNEL.fullmatch(value):
            raise mistake("This is no channel.", 'Write its name, as "#ai-logs", or its id.')
        return value

    @field_validator("log_links")
    @classmethod
    def _link(cls, value: str) -> str:
        if value and not (_LINK.fullmatch(value) and ("{run}" in value or "{trace}" in value)):
            raise mistake("This is no link to one run.", "Write a URL that holds {run} or {trace}.")
        return value


def defaults_form(workplace: str) -> type[Defaults]:
    """Return the form of `agents/defaults.yaml` with descriptions that name the workplace."""
    posted = f'The public {workplace} channel that a summary of each run is posted to, as "#name" or id; '
    fields: dict[str, Any] = {"ai_logs": (str, Field("", description=f"{posted}empty means none is."))}
    return create_model("Defaults", __base__=Defaults, __doc__=Defaults.__doc__, **fields)
