"""The protocol of sources: what the room of one vendor says of the runs that its events start.

A part consists of pure functions: which tool is called with which arguments, and how the recorded outcome is read. The
engine makes the calls, because effects belong to its steps. A part that a vendor has not is None.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import ToolResult
from gofer.sources.part_values import (
    Changes,
    Composed,
    Details,
    Known,
    Memory,
    Need,
    Outcome,
    OwnCall,
    Person,
    SourceContext,
    Standpoint,
)
from gofer.sources.settings import SourceSettings
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.values.errors import ToolError
from gofer.values.events import Event
from gofer.workflows.load import Loaded


def _no_home(event: Event) -> str:
    return ""


def _not_own(event: Event) -> bool:
    return False


def _hidden() -> ToolError:
    return ToolError("Not found: there is no such place, or it may not be read here.", code="not_found")


def _anywhere(event: Event) -> bool:
    return True


def _there(event: Event, result: ToolResult) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the source context of an event is read by one call."""

    call: Callable[[Event], OwnCall | None]
    """What is called; None when the event says all there is."""
    read: Callable[[Event, Person, ToolResult], SourceContext]
    """The source context that the call gave."""
    need: Callable[[Event], Need]
    """What the run lacks when the call fails."""
    tools: tuple[str, ...]
    """Tools that runs call by themselves for this."""
    gone: Callable[[Event, ToolResult], str] = _there
    """Why the run has nothing left to be about, for lists; empty when the object of the event is there."""


Compare = Callable[
    [Memory, Event, Loaded, Mapping[str, object], Mapping[str, object]],
    Awaitable[Changes],
]
"""Compares an event, its facts and the properties read for it with the memory. Raises TemporaryError."""


@dataclass(frozen=True, slots=True)
class People:
    """How the person behind an event is found out."""

    look_up: Callable[[Event], OwnCall | None]
    """What is called; None for an id that belongs to no person."""
    person: Callable[[Event, Details], Person]
    """The person that the call gave."""
    unseen: frozenset[str]
    """Codes of refusals that mean that there is no such person or group."""
    tools: tuple[str, ...]
    """Tools that runs call by themselves for this; so in each part below."""


@dataclass(frozen=True, slots=True)
class Groups:
    """How the members of a group are found out that `who` names by its handle."""

    look_up: Callable[[str], OwnCall]
    """What is called, for a handle."""
    members: Callable[[Details], Collection[object]]
    """Their ids."""
    unseen: frozenset[str]
    """Codes of refusals that mean that there is no such group."""
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages that can be changed and taken back, so that a run can announce its answer."""

    thread: Callable[[Event, Outcome | None], str]
    """The thread of an event, with the outcome of reading its source context; empty for one without a thread."""
    below: Callable[[Details], str]
    """The thread below a message that was written; empty where there is none."""
    edit: Callable[[Details, str], OwnCall]
    """What is called to replace the text of a message that was written."""
    delete: Callable[[Details], OwnCall]
    """What is called to take such a message back."""
    attach: Callable[[str, str, str], OwnCall]
    """What is called to attach a file: the thread, its name, its text."""


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """Words that one person alone reads; they can never be changed."""

    split: Callable[[str], Sequence[str]]
    """The texts of all messages that a long text takes."""
    in_place: Callable[[str, str], OwnCall]
    """What is called to show a text in a thread, empty for none, to the person who started the run."""
    direct: Callable[[str], OwnCall]
    """What is called to send that person a direct message."""


@dataclass(frozen=True, slots=True)
class Answers:
    """How an answer is written where a run began."""

    compose: Callable[[str], Composed]
    """An answer divided as it will be written."""
    write: Callable[[Event, str, str], OwnCall]
    """What is called to write a text in a thread, empty for none."""
    tools: tuple[str, ...]
    has_place: Callable[[Event], bool] = _anywhere
    """Whether there is a place for an answer where the event happened."""
    messages: Messages | None = None
    """None where an answer cannot be announced, changed or taken back."""
    private: PrivateWords | None = None
    """None where nothing can be told to one person alone."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """How people are asked for a decision."""

    here: Callable[[Event], Mapping[str, object]]
    """Where it is asked: the fields of a question for an event of this source."""
    channel: Callable[[str], Mapping[str, object] | None]
    """The same for the owner of a workflow; None where the owner has no channel."""
    is_direct: Callable[[Event], bool]
    """Whether the event is a direct message."""
    ask: Callable[[Mapping[str, object]], OwnCall]
    """What is called to put a question, by its fields, where all people of the place see it."""
    ask_one: Callable[[Mapping[str, object]], OwnCall]
    """What is called to put it to one person alone."""
    close: Callable[[Details, str, Mapping[str, object] | None], OwnCall | None]
    """What is called to show how a question ended, with its fields where it stays; None where it cannot change."""
    may_decide: Callable[[str, Sequence[str], str], OwnCall]
    """What is called to look up whether a person may decide, among those who may and the requester."""
    allowed: Callable[[Details], bool]
    """Whether that look-up said so."""
    decider: Callable[[Details], str]
    """The name of the person, from the same look-up."""
    groups: Callable[[Sequence[str]], OwnCall]
    """What is called to look up the user groups that may decide."""
    group_ids: Callable[[Details], Mapping[str, object]]
    """Their ids by their handles."""
    tell: Callable[[str, str, Mapping[str, object]], OwnCall]
    """What is called to tell one person a text, at a place."""
    moment: Callable[[int], str]
    """A time for people, from unix milliseconds."""
    tools: tuple[str, ...]
    group_tools: tuple[str, ...]
    """The tools that are called in addition where user groups may decide."""


@dataclass(frozen=True, slots=True)
class Places:
    """How the places of a system are judged."""

    look: Callable[[Place, Standpoint], Known | OwnCall]
    """What is known of a place, or what is called to look it up."""
    found: Callable[[Place, Standpoint, Details], Known]
    """What the look-up gave. Raises ToolError for a place that no call may be made to."""
    entry: Callable[[Place], str]
    """The entry of the key `writes` that permits a place."""
    tools: tuple[str, ...] = ()
    home: Callable[[Event], str] = _no_home
    """The id of the place that an event happened in."""
    is_own: Callable[[Event], bool] = _not_own
    """Whether the person who started a run is the only one who reads what is written there."""
    hidden: ToolError = field(default_factory=_hidden)
    """What a run is told of a place that it may not know of."""


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of a company, for messages about runs."""

    of: Callable[[str], str]
    """The channel that the `owner` of a workflow names; empty for an owner without one."""
    post: Callable[[str, str], OwnCall]
    """What is called to write a text into a channel."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The system in which the people of the company are reached, wherever a run began."""

    system: str
    """As people know it."""
    groups: Groups
    approvals: Approvals
    channels: Channels


def _never(event: Event, followed: bool) -> bool:
    return False


def _its_conversation(event: Event) -> Sequence[str]:
    return event.source, event.conversation


def _is_object(event: Event) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """All that the engine knows of one source of events."""

    name: str
    """As `event.source` has it."""
    system: str
    """As people know it."""
    from_event: Callable[[Event, Person], SourceContext]
    """The source context of an event about which nothing is read, with the words of its text as they are."""
    reading: Reading | None = None
    """How more is read."""
    starts: frozenset[str] = frozenset()
    """Kinds of events by which people mean to start a run; other events leave no person waiting."""
    is_request: Callable[[Event, bool], bool] = _never
    """Whether a person's words are addressed to Gofer; the flag says whether the workflow answered there before."""
    message: Callable[[Event], Sequence[str]] = _its_conversation
    """What the event is about, by the coordinates that make it unique."""
    is_recent: Callable[[Event], bool] = _is_object
    """Whether what is read is what was said of late, and not what the run is about."""
    trusted: bool = False
    """Whether the company itself said, in a file or by a secret, that the events may start runs."""
    returns_to_caller: bool = False
    """Whether a caller in this process reads the answer, and the reason of a failure, itself."""
    compare: Compare | None = None
    """What the event changed since the last one."""
    people: People | None = None
    answers: Answers | None = None
    approvals: Approvals | None = None
    """How people are asked where the run began; in other sources the workplace asks."""
    places: Places | None = None
    tools: Callable[[SourceSettings], Sequence[AnyTool]] | None = None
    """Its tools, with its settings."""
