"""What may stand in a workflow file? The pydantic models below are the format; an unknown key is a mistake."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from gofer.workflows.output import check_schema
from gofer.workflows.parts import Names, Number, Strict, Whole
from gofer.workflows.when import When
from gofer.workflows.who import Who

Reply = Literal["thread", "channel", "dm", "ephemeral", "none"]
"""Where an answer can go."""


class Limits(Strict):
    """What one run may use at most. A run that reaches a limit stops and says what it has so far."""

    tool_calls: Whole = Field(default=20, ge=0)
    """Tool calls the model may make."""
    llm_calls: Whole = Field(default=12, ge=1)
    """Calls to the model."""
    tokens: Whole = Field(default=200_000, ge=1)
    """Input and output tokens together, as the provider counts them."""
    minutes: Number = Field(default=5, gt=0)
    """Minutes in the hands of a worker."""
    usd: Number = Field(default=0.50, gt=0)
    """US dollars, by the price table; a model without a known price is not limited by it."""


class Allowance(Strict):
    """What all runs of one person, or of one workflow, may use together. Without a number there is no limit."""

    runs_per_hour: int | None = Field(default=None, ge=1)
    """Runs that may begin within an hour."""
    usd_per_day: float | None = Field(default=None, gt=0)
    """US dollars within 24 hours, by the price table; a model without a known price is not limited by it."""


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


class Workflow(Strict):
    """One workflow file."""

    description: str = Field(min_length=1)
    """One sentence: what it does and how it is started."""
    owner: str = Field(min_length=1)
    """Who answers for it: a Slack channel or group."""
    when: When
    """What starts it."""
    who: Who = ("members",)
    """Who may start it: members, guests, externals, bots, everyone (but bots), @handles of people and groups, ids."""
    coordinator: Literal["llm"] = "llm"
    """Who decides the next step."""
    prompt: str = ""
    """The Markdown file beside this one; empty means <name>.md."""
    model: ModelChoice = ModelChoice(name="default")
    """Which model, by role or by name."""
    tools: tuple[str, ...] = ()
    """The only tools its runs may call, by the name the model sees."""
    reply: Reply = "thread"
    """Where the answer goes."""
    output: object = None
    """The form its answer must have: a JSON Schema, or the name of a .json file beside this one; none means text."""
    limits: Limits = Limits()
    """What one run may use at most."""
    limits_per_person: Allowance = Allowance()
    """What one person may use of this workflow."""
    limits_per_workflow: Allowance = Allowance()
    """What all runs of this workflow may use together."""

    @field_validator("output")
    @classmethod
    def _schema(cls, value: object) -> object:
        """A name is looked up by the loader."""
        if value is not None and not isinstance(value, str):
            try:
                check_schema(value)
            except ValueError as error:
                raise PydanticCustomError("schema", "{why}", {"why": str(error)}) from error
        return value

    @field_validator("model", mode="before", json_schema_input_type=str | ModelChoice)
    @classmethod
    def _model(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


class Defaults(Strict):
    """`agents/defaults.yaml`: what holds for every workflow that does not say otherwise."""

    models: dict[str, Names] = Field(default_factory=dict)
    """Roles and the provider's name of the model that plays each; of a list, the next when one is not there."""
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
