"""A tool, the call that it gets, and the result that it returns."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from gofer.journal.entries import Effect
from gofer.journal.workspace_entries import Fact
from gofer.projections.workspace import Workspace
from gofer.tools.argument_bounds import bounded_parameters
from gofer.tools.argument_schema import parameters_of, sentences
from gofer.tools.file_access import Files, NoFiles
from gofer.tools.places import Origin, Place, Writes
from gofer.tools.provenance import Provenance
from gofer.tools.readable import Readable
from gofer.values.addresses import NONE_LIVE, Live
from gofer.values.canonical_json import as_object, encode
from gofer.values.errors import ConfigError, ToolError
from gofer.values.events import Actor
from gofer.values.foreign_code import RAISED, is_from_outside
from gofer.values.messages import Media
from gofer.values.messages import arguments as written
from gofer.values.missing import Missing
from gofer.values.outside import Clock, Http
from gofer.values.secret import Secret
from gofer.values.visible import VisibleKind
from gofer.workflows.grants import Bound, Bounds
from gofer.workflows.skill import Skill

A = TypeVar("A", bound="Arguments")
A_contra = TypeVar("A_contra", bound="Arguments", contravariant=True)

PREVIEW_TOKENS = 20_000
"""The most preview tokens that a tool may set for results that become files."""
QUOTED = 200
"""The most characters of unreadable arguments that an error for the model quotes."""


class Arguments(BaseModel):
    """The base class of a tool's arguments. Unknown names are refused."""

    # The schema is built at the first use, because a worker has all tools and a run uses few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _left_out(cls, value: object) -> object:
        """Remove arguments with the value null, which models write for arguments that they leave out."""
        fields = as_object(value)
        if not fields:
            return value
        return {name: field for name, field in fields.items() if field is not None}


SEARCH = "tool_search"
"""The name of the tool that finds tools and skills that a prompt does not list."""


@dataclass(frozen=True, slots=True)
class Repertoire:
    """The tools and skills of a run."""

    tools: Mapping[str, "AnyTool"] = field(default_factory=dict[str, "AnyTool"])
    """All tools by name, including those that the prompt does not list."""
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    """The skills by name, as they were when the run began."""
    in_prompt: frozenset[str] = frozenset()
    """The skills that are part of the prompt."""
    withdrawn: frozenset[str] = frozenset()
    """The skills that were prohibited after the run began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAtHand:
    """The parts of a run that a call may read, and the display limits of its result."""

    files: Files = field(default_factory=NoFiles)
    """The contents of the run's files."""
    workspace: Workspace = field(default_factory=Workspace)
    """The run's files, skills and plan when the call begins."""
    repertoire: Repertoire = field(default_factory=Repertoire)
    """The tools and skills of the run."""
    whole_tokens: int = 10_000
    """The most tokens of a result that the model sees whole. Tools that read files return no more at once."""
    look_bytes: int = 6_000_000
    """The most base64 characters of all media in a result together."""
    state: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The state of the tool's system, a JSON object that a mock may read and change; empty outside an eval."""
    names: MutableMapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The names of people and places that earlier calls of the run looked up, by `<source>:<id>`. They are only for
    texts: a call that decides what a person may do asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, as its tool sees it. A tool sees nothing else of the run."""

    key: str
    """Idempotency key: run id and call id, the same on every attempt."""
    origin: Origin = field(repr=False)
    """The event that started the run. `actor`, `place` and `hops` of the call are those of this event."""
    provenance: Provenance
    """The links at the end of a message that the call writes."""
    http: Http
    """The HTTP client, the tool's only access to other systems. For a tool that writes, it carries the permit of the
    step."""
    clock: Clock
    at: float = 0.0
    """Unix seconds of the call's first attempt: the same on every attempt."""
    since: float = 0.0
    """Unix seconds, by Gofer's clock, before which no attempt of this call happened."""
    cleared: bool = False
    """Whether Gofer looked up the place of the call and allows reading it although it is private."""
    readable: Readable = field(default_factory=Readable)
    """What the call may read besides the object that the run is about."""
    live: Live = NONE_LIVE
    """The addresses that the run read, which a company's tool may request."""
    run: RunAtHand = field(default_factory=RunAtHand)
    """The parts of the run for Gofer's own tools."""
    variables: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    """The values of the environment variables that the tool declares, by name; an empty value is not set."""

    @property
    def actor(self) -> Actor:
        """The person or program that started the run."""
        return self.origin.actor

    @property
    def place(self) -> Mapping[str, str]:
        """The place of the event that started the run, with the keys of its source."""
        return self.origin.place

    @property
    def hops(self) -> int:
        """The number of runs in the chain that led to this run. Messages carry it where the system allows."""
        return self.origin.hops

    def secret(self, name: str) -> Secret:
        """Return a credential that the tool declares under `secrets`.

        Raises ToolError when it is not set, KeyError when the tool does not declare it.
        """
        value = self.variables[name]
        if not value:
            raise ToolError(
                f"{name} is not set, so this tool cannot reach its system. Say that the operator must set it.",
                code="not_set_up",
            )
        return value

    def setting(self, name: str) -> str:
        """Return a value that the tool declares under `settings`, such as a base URL; see `secret`."""
        return self.secret(name).reveal()


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a call found or created. It becomes a file of the run."""

    name: str
    media_type: str
    content: bytes | None
    """The content; None for a file in another system, which is fetched when a tool reads it."""
    origin: str
    """The origin of the file in a few words, for people and models."""
    size: int = 0
    """The bytes of a file that was not fetched, as its system reports them."""
    source: Mapping[str, object] | None = None
    """The call that fetches the file, `{tool, arguments}`. Its result has the file as its only file."""
    prefix: str = "file"
    missing: tuple[Missing, ...] = ()
    """The parts of a document that its text does not contain."""

    @property
    def id(self) -> str:
        """The id of the file: the same for the same source or content with the same missing parts."""
        if self.source is not None:
            hashed = encode(self.source)
        else:
            hashed = self.content or b""
            if self.missing:
                hashed = b"\0".join([hashed, encode([asdict(gap) for gap in self.missing])])
        return f"{self.prefix}_{hashlib.sha256(hashed).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call, in one form for each reader."""

    text: str
    """The text for the model."""
    summary: str
    """One line for people: names and counts, no contents."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """Plain JSON for the code of the run."""
    value: object = None
    """The return value of `run.call` for scripts, plain JSON. A tool with such a value documents its shape.

    With None, scripts get the text and the details, `{"text": …, **details}`.
    """
    files: Sequence[NewFile] = ()
    """The files that the call found or created; `text` names them by their ids."""
    facts: Sequence[Fact] = ()
    """The changes to the run's files, skills and plan."""
    media: Sequence[Media] = ()
    """The images and documents that the model sees after the result."""


ANYWHERE = "*"
"""The destination of a call with unknown outcome and unknown destination. It blocks the whole tool."""


Base = Literal["", "all", "model", "plan", "skills", "search", "calls", "subagents"]
"""The runs that have a tool without listing it; see `Tool.base`."""


def _anywhere(arguments: Arguments) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Generic[A_contra]):
    """The system, places and destinations that a tool acts on; empty for a tool that acts within the run."""

    system: str = ""
    """The name of the system, as people know it."""
    where: Callable[[Origin, A_contra], Place] | None = None
    """The function that returns the place of a call. Every tool that writes to a system needs it, and every tool that
    reads places that some colleagues cannot read. It raises ToolError for arguments that name no place."""
    destination: Callable[[A_contra], str] = _anywhere
    """The function that returns the destination of a call. A call with unknown outcome blocks its tool for it."""
    changes: Callable[[Origin, A_contra], Mapping[str, str]] | None = None
    """The function that returns the details of what a call changes. The run itself must have made it by a call."""
    writes: Writes | None = None
    """The arguments of a writing tool that name the place. None: the tool never writes where the run began."""
    markdown: frozenset[str] = frozenset()
    """The arguments with Markdown that people read. Only addresses that the run read are links in them."""
    plain_text: frozenset[str] = frozenset()
    """The arguments with other texts that people read, such as titles, fields and files."""
    addresses: frozenset[str] = frozenset()
    """The arguments that are addresses. A call with an address that the run did not read is refused."""
    reach: bool = False
    """Whether a call may send a request to addresses that others wrote. In a private run such a call leaves it."""
    scopes: frozenset[str] = frozenset()
    """The permissions that Gofer's access needs, in the vendor's terms."""

    @property
    def texts(self) -> frozenset[str]:
        """The arguments with texts that people read, other than Markdown: those declared, and all other content."""
        content: frozenset[str] = self.writes.content if self.writes else frozenset()
        return (self.plain_text | content) - self.markdown - self.addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt(Generic[A_contra]):
    """How Gofer finds out whether a call with unknown outcome happened."""

    look: Callable[[Call, A_contra], Awaitable[ToolResult | None]] | None = None
    """For effect `lookup`: the function that finds the result of an earlier attempt with the same key.

    It returns None if there was no attempt. It raises ToolError when it cannot search everything, and TemporaryError
    while the system does not answer.
    """
    settle: float = 0.0
    """For effect `lookup`: seconds after which `look` reliably finds an earlier attempt."""
    gone: frozenset[str] = frozenset()
    """For effect `keyed`: codes of refusals that mean that the target does not exist, so no attempt changed it."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool. `act` raises ToolError with a message for the model, and TemporaryError without an answer."""

    name: str
    """The name in models, YAML, scripts, evals and traces."""
    description: str
    """The description for the model: what the tool does and when to use it."""
    effect: Effect
    arguments: type[A]
    act: Callable[[Call, A], Awaitable[ToolResult]]
    timeout: float = 20.0
    """The timeout of a call in seconds."""
    target: Target[A] = field(default_factory=Target)
    """The system, places and destinations that the tool acts on."""
    in_doubt: InDoubt[A] = field(default_factory=InDoubt)
    """How Gofer finds out the outcome of a call when the answer was lost."""
    internal: bool = False
    """Whether only Gofer itself calls the tool; no workflow can list it."""
    base: Base = ""
    """The runs that have the tool without listing it: all runs, runs of a model, with plans, with skills, with tools or
    skills to search for, with tools to search for, with subagents. Empty: only workflows that list the tool."""
    shows: VisibleKind | None = None
    """What people see in an outside system after a call; None for a tool whose calls show them no object."""
    everyday: str = ""
    """Everyday words for the tool that its description lacks. `tool_search` compares them; no request to a model
    contains them."""
    preview_tokens: int = 0
    """The preview tokens of a result that becomes a file, at most PREVIEW_TOKENS. With 0 the workflow decides."""
    in_order: bool = False
    """Whether the tool changes the run's files, skills or plan, so that it waits for earlier calls. Writes always
    wait."""
    polls: bool = False
    """Whether runs may call the tool with the same arguments again and again, because its result changes by itself."""
    mock: Callable[[Call, A], ToolResult] | None = None
    """The function that answers without any system: a result or refusal of the same form, made from the arguments, and
    from the state of the call if it keeps one."""
    keeps_state: bool = False
    """Whether the mock reads and changes the state of its system, which a world of evals sets up."""
    bounds: Bounds = field(default_factory=dict[str, Bound])
    """The bounds that a workflow file sets for arguments."""
    unusable: str = ""
    """Why no call of the tool can work in this process; empty for a usable tool. Runs that have it do not begin."""

    @property
    def system_key(self) -> str:
        """The name of the system in worlds of evals: lower case, with `_` for white space."""
        return "_".join(self.target.system.lower().split())

    @property
    def at_once(self) -> bool:
        """Whether the call can run in parallel with other calls of its turn."""
        return self.effect == "read" and not self.in_order

    def __post_init__(self) -> None:
        if (self.effect == "lookup") != (self.in_doubt.look is not None):
            raise ConfigError(
                f"The tool {self.name} has effect {self.effect}: a tool needs `look` exactly when its effect is "
                f"`lookup`."
            )
        if self.effect == "read" and self.shows is not None:
            raise ConfigError(
                f"The tool {self.name} has effect read and shows {self.shows}: a read shows people nothing new, so "
                "leave out `shows`."
            )
        if not 0 <= self.preview_tokens <= PREVIEW_TOKENS:
            raise ConfigError(
                f"The tool {self.name} has preview_tokens {self.preview_tokens:,}: set 1 to {PREVIEW_TOKENS:,}, or "
                "leave it out to use the number of the workflow."
            )
        if self.target.system and self.effect != "read" and not self.internal and self.target.where is None:
            raise ConfigError(
                f"The tool {self.name} writes to {self.target.system} and does not declare its place: set `place` to a "
                "function that gives the Place that a call writes to."
            )

    def schema(self) -> dict[str, object]:
        """Return the tool as a Chat Completions request lists it, within the bounds of the workflow file."""
        parameters = bounded_parameters(parameters_of(self.arguments), self.bounds)
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    def parse(self, arguments: str | Mapping[str, object]) -> A:
        """Return the typed arguments. Raises ToolError whose message tells the model what to write instead."""
        value: object = arguments
        if isinstance(arguments, str):
            value = self._read(arguments)
        try:
            return self.arguments.model_validate(value)
        except ValidationError as error:
            wrong = sentences(parameters_of(self.arguments), value, error.errors())
            raise ToolError(f"{self.name} was not called: {wrong} Correct the arguments and call again.") from error
        except RAISED as error:
            if is_from_outside(error):
                raise
            # A bug in the argument class of a tool must not end the run.
            text = f"{self.name} was not called: the check of its arguments failed with {type(error).__name__}."
            raise ToolError(text, code="fault") from error

    @property
    def parameters(self) -> Sequence[str]:
        """The names of the arguments, in order."""
        return [field.alias or name for name, field in self.arguments.model_fields.items()]

    def fits(self, arguments: Mapping[str, object]) -> bool:
        """Return whether the tool takes these arguments."""
        try:
            self.arguments.model_validate(arguments)
        except ValidationError:
            return False
        return True

    def _read(self, text: str) -> Mapping[str, object]:
        try:
            return written(text)
        except ValueError as error:
            raise ToolError(
                f"{self.name} was not called: its arguments are {error}. They began with {text[:QUOTED]!r}. "
                "Call again with one JSON object, and write less if it was cut off."
            ) from error


AnyTool: TypeAlias = Tool[Any]
"""A tool with any argument class."""
