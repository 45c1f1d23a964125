"""A tool, what a call of it sees, and the result that it gives."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from typing_extensions import override

from gofer.journal.entries import Effect
from gofer.journal.workspace_entries import Fact, FileAdded
from gofer.projections.workspace import Workspace
from gofer.tools.argument_schema import parameters_of, sentences
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, encode
from gofer.values.errors import ConfigError, ToolError
from gofer.values.events import Actor
from gofer.values.messages import Media
from gofer.values.messages import arguments as written
from gofer.values.missing import Missing
from gofer.values.outside import Clock, Http
from gofer.values.secret import Secret
from gofer.workflows.skill import Skill

A = TypeVar("A", bound="Arguments")
A_contra = TypeVar("A_contra", bound="Arguments", contravariant=True)

PREVIEW_TOKENS = 20_000
"""Tokens that any tool may have shown of a result that became a file."""
QUOTED = 200
"""Characters a model is shown of arguments that could not be read."""


class Arguments(BaseModel):
    """What a model may say to a tool: unknown names are refused, and each field is described for it."""

    # Built with the first use: a worker has all tools, and a run uses few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _left_out(cls, value: object) -> object:
        """Models write null for what they leave out."""
        fields = as_object(value)
        if not fields:
            return value
        return {name: field for name, field in fields.items() if field is not None}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where readers of what Gofer wrote find out why: the prompt that made it, and the run unless it is private."""

    workflow: str
    prompt_url: str
    """Empty for a message that another one, with the links, follows."""
    run: str
    run_url: str | None


class Files(Protocol):
    """The contents of a run's files."""

    async def content(self, file: str) -> bytes:
        """Return the content of a file, fetched first where it stands elsewhere.

        Raises ToolError when the run has no such file or it is gone, TemporaryError when no answer came.
        """
        ...

    def added(self, file: str) -> FileAdded:
        """Return what is known of a file; after `content` that is what its fetching found.

        Raises ToolError when the run has no such file.
        """
        ...


class NoFiles(Files):
    """A run without files."""

    @override
    async def content(self, file: str) -> bytes:
        raise _no_file(file)

    @override
    def added(self, file: str) -> FileAdded:
        raise _no_file(file)


def _no_file(file: str) -> ToolError:
    return ToolError(f"There is no file {file[:64]!r}; this run has none.", code="no_such_file")


SEARCH = "tool_search"
"""The tool that finds tools and skills that a prompt does not list."""


@dataclass(frozen=True, slots=True)
class Repertoire:
    """What the model of a run can make use of."""

    tools: Mapping[str, "AnyTool"] = field(default_factory=dict[str, "AnyTool"])
    """By name, also those that do not stand in the prompt."""
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    """By name, as they were when the run began."""
    in_prompt: frozenset[str] = frozenset()
    """Skills whose text the prompt has from the beginning."""
    withdrawn: frozenset[str] = frozenset()
    """Skills that were prohibited meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAtHand:
    """What a call may read of its run, and how much its model may be shown."""

    files: Files = field(default_factory=NoFiles)
    """The contents of the run's files."""
    workspace: Workspace = field(default_factory=Workspace)
    """The run's files, skills and plan when the call begins."""
    repertoire: Repertoire = field(default_factory=Repertoire)
    """The tools and skills of the run."""
    whole_tokens: int = 10_000
    """Tokens of its result that a model is shown whole; what reads files gives no more at once."""
    look_bytes: int = 6_000_000
    """Characters of base64 that it may give to look at, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call as its tool sees it, and the origin of its run; nothing else of the run is visible to a tool."""

    key: str
    """Idempotency key: run id and call id, the same on every attempt."""
    origin: Origin = field(repr=False)
    """The event that started the run. A call is one too: `actor`, `place` and `hops` are its own."""
    provenance: Provenance
    """The links that what the call writes ends with."""
    http: Http
    """The only way out; for a tool that writes it holds the permit."""
    clock: Clock
    at: float = 0.0
    """Unix seconds at which the run first was about to make the call: the same on every attempt."""
    since: float = 0.0
    """Unix seconds on our clock before which no attempt of this call can have happened."""
    cleared: bool = False
    """Whether its place was looked up and may be read although it is private."""
    run: RunAtHand = field(default_factory=RunAtHand)
    """What the tools of Gofer itself read of the run."""
    variables: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    """Values of the environment variables that its tool declares, by name; empty ones are not set."""

    @property
    def actor(self) -> Actor:
        """The person or program that started the run."""
        return self.origin.actor

    @property
    def place(self) -> Mapping[str, str]:
        """Coordinates of the event that started the run, in its source's own words."""
        return self.origin.place

    @property
    def hops(self) -> int:
        """How many runs stand in a row behind this one; what it writes says so, where it can."""
        return self.origin.hops

    def secret(self, name: str) -> Secret:
        """Return a credential that its tool declares under `secrets`.

        Raises ToolError when it is not set, KeyError when the tool does not declare it.
        """
        value = self.variables[name]
        if not value:
            raise ToolError(
                f"{name} is not set here, so this tool reaches nothing. Say that an operator has to set it.",
                code="not_set_up",
            )
        return value

    def setting(self, name: str) -> str:
        """Return a value that its tool declares under `settings`, such as a base URL; see `secret`."""
        return self.secret(name).reveal()


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a call found or made; it becomes one of the run's."""

    name: str
    media_type: str
    content: bytes | None
    """None for one that stands elsewhere and is fetched when a tool looks into it."""
    origin: str
    """Where it comes from, in a few words, for people and models."""
    size: int = 0
    """Bytes of one that was not fetched, as its origin says it."""
    source: Mapping[str, object] | None = None
    """What fetches it: `{tool, arguments}`; the tool gives it back as its one file."""
    prefix: str = "file"
    missing: tuple[Missing, ...] = ()
    """Of the text of a document: the parts that it does not hold."""

    @property
    def id(self) -> str:
        """Its id: the same whenever the same is found or made again, with the same parts missing."""
        if self.source is not None:
            told = encode(self.source)
        else:
            told = self.content or b""
            if self.missing:
                told = b"\0".join([told, encode([asdict(gap) for gap in self.missing])])
        return f"{self.prefix}_{hashlib.sha256(told).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result for each of its readers."""

    text: str
    """For the model."""
    summary: str
    """For people: one line of names and counts, no contents."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """For the code of the run: plain JSON."""
    value: object = None
    """For scripts: what `run.call` returns, plain JSON; a tool that gives one documents its shape.

    None where a tool has none of its own: scripts then get the text and the details, `{"text": …, **details}`.
    """
    files: Sequence[NewFile] = ()
    """What it found or made; `text` names them by their ids."""
    facts: Sequence[Fact] = ()
    """What the call changed of what the run has at hand."""
    media: Sequence[Media] = ()
    """What the model looks at after the result."""


ANYWHERE = "*"
"""The destination of a call of which neither outcome nor destination can be determined: it locks its whole tool."""


Base = Literal["", "all", "model", "plan", "skills", "search", "calls", "subagents"]
"""Which runs have a tool without asking."""


def _anywhere(arguments: Arguments) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Generic[A_contra]):
    """What of the outside a tool acts on; empty for a tool that acts within the run."""

    system: str = ""
    """The system outside, by the name people know it by."""
    where: Callable[[Origin, A_contra], Place] | None = None
    """The place outside that a call acts on. Every tool that writes outside has it, and every tool that reads a place
    that not every colleague can read. Raises ToolError for arguments that name no place."""
    destination: Callable[[A_contra], str] = _anywhere
    """What of the outside it acts on; a call whose outcome is unknown locks its tool for that."""
    writes: Writes | None = None
    """For a tool that writes: which arguments say where. None: never where the run began, as for a new issue."""
    scopes: frozenset[str] = frozenset()
    """What Gofer's own access has to be allowed for it, in the vendor's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt(Generic[A_contra]):
    """How a call is settled that may have happened."""

    look: Callable[[Call, A_contra], Awaitable[ToolResult | None]] | None = None
    """For `lookup`: finds what an earlier attempt with the same key did.

    None says that there was none. A look that cannot see everything raises ToolError, and TemporaryError while its
    system does not answer.
    """
    settle: float = 0.0
    """For `lookup`: seconds after which something that happened is sure to be found."""
    gone: frozenset[str] = frozenset()
    """For `keyed`: codes of refusals that say that what it acts on is not there, nor what an earlier attempt did."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A declared tool. `act` raises ToolError to tell the model, TemporaryError when no answer came."""

    name: str
    """The one name the model, YAML, scripts, evals and traces use."""
    description: str
    """For the model: what it does and when to use it."""
    effect: Effect
    arguments: type[A]
    act: Callable[[Call, A], Awaitable[ToolResult]]
    timeout: float = 20.0
    """Seconds after which a call counts as unanswered."""
    target: Target[A] = field(default_factory=Target)
    """What of the outside it acts on."""
    in_doubt: InDoubt[A] = field(default_factory=InDoubt)
    """How its effect is made sure of when an answer was lost."""
    internal: bool = False
    """Whether only Gofer itself calls it: no workflow can have it."""
    base: Base = ""
    """Whether a run has it without asking: every one, those of a model, those that may plan, those with skills, those
    with more tools or skills than their prompt lists, those with more tools, those that may ask subagents; empty is
    what workflows list."""
    everyday: str = ""
    """Words that people use for what it does and that its description lacks. `tool_search` looks through them; no
    request to a model holds them."""
    preview_tokens: int = 0
    """Tokens that are shown of a result that is so long that it becomes a file: at most PREVIEW_TOKENS. 0 leaves it to
    the workflow."""
    in_order: bool = False
    """Whether it changes what the run has at hand, so that it waits for the calls before it; writes always do."""
    mock: Callable[[Call, A], ToolResult] | None = None
    """What it gives where nothing outside is there: the same form and refusals, made of the arguments and the place."""

    @property
    def at_once(self) -> bool:
        """Whether it can happen together with others of its turn."""
        return self.effect == "read" and not self.in_order

    def __post_init__(self) -> None:
        if (self.effect == "lookup") != (self.in_doubt.look is not None):
            raise ConfigError(
                f"The tool {self.name} has effect {self.effect}: `look` goes with `lookup` and nothing else."
            )
        if not 0 <= self.preview_tokens <= PREVIEW_TOKENS:
            raise ConfigError(
                f"The tool {self.name} has preview_tokens {self.preview_tokens:,}: set 1 to {PREVIEW_TOKENS:,}, or "
                "leave it out to show as much as the workflow says."
            )
        if self.target.system and self.effect != "read" and not self.internal and self.target.where is None:
            raise ConfigError(
                f"The tool {self.name} writes to {self.target.system} and does not declare its place: set `place` to a "
                "function that gives the Place that a call writes to."
            )

    def schema(self) -> dict[str, object]:
        """Return the tool as a Chat Completions request lists it."""
        parameters = parameters_of(self.arguments)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    def parse(self, arguments: str | Mapping[str, object]) -> A:
        """Return the arguments as a typed value. Raises ToolError that tells the model what to write instead."""
        value: object = arguments
        if isinstance(arguments, str):
            value = self._read(arguments)
        try:
            return self.arguments.model_validate(value)
        except ValidationError as error:
            wrong = sentences(parameters_of(self.arguments), value, error.errors())
            raise ToolError(f"{self.name} was not called: {wrong} Correct the arguments and call again.") from error

    def _read(self, text: str) -> Mapping[str, object]:
        try:
            return written(text)
        except ValueError as error:
            raise ToolError(
                f"{self.name} was not called: its arguments are {error}. They began with {text[:QUOTED]!r}. "
                "Call again with one JSON object, and write less if it was cut off."
            ) from error


AnyTool: TypeAlias = Tool[Any]
"""A tool whose argument class does not matter to its holder."""
