"""The protocol of sources: the parts that each vendor's room provides for the runs that its events start.

A part consists of pure functions: they name the tool to call and its arguments, and they read the recorded outcome. The
engine makes the calls, because effects belong to its steps. A part that a vendor lacks is None.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import ToolResult
from gofer.sources.part_values import (
    Changes,
    Composed,
    Details,
    IdentifyingWords,
    Known,
    Memory,
    Need,
    Outcome,
    OwnCall,
    Person,
    SourceContext,
    Standpoint,
)
from gofer.sources.settings import Setting, SourceSettings
from gofer.tools.definition import AnyTool
from gofer.tools.places import Place
from gofer.values.errors import ToolError
from gofer.values.events import Event
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Reply


def _no_home(event: Event) -> str:
    return ""


def _not_own(event: Event) -> bool:
    return False


def _hidden() -> ToolError:
    return ToolError("Not found: the place does not exist, or Gofer may not read it here.", code="not_found")


def _anywhere(event: Event) -> bool:
    return True


def _there(event: Event, result: ToolResult) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The one tool call that reads the source context of an event."""

    call: Callable[[Event], OwnCall | None]
    """Returns the call; None when the event itself holds everything."""
    read: Callable[[Event, Person, ToolResult], SourceContext]
    """Returns the source context from the result of the call."""
    need: Callable[[Event], Need]
    """Returns what the run lacks when the call fails."""
    tools: tuple[str, ...]
    """The tools that runs call by themselves for this part."""
    gone: Callable[[Event, ToolResult], str] = _there
    """Returns the reason why the object of the event no longer exists, for lists; empty when it exists."""
    hidden: frozenset[str] = frozenset()
    """Codes of refusals which leave open whether the object is gone or Gofer may not read it."""


Compare = Callable[
    [Memory, Event, Loaded, Mapping[str, object], Mapping[str, object]],
    Awaitable[Changes],
]
"""Compares an event, its facts and the properties read for it with the memory. Raises TemporaryError."""


@dataclass(frozen=True, slots=True)
class People:
    """The look-up of the person behind an event."""

    look_up: Callable[[Event], OwnCall | Person]
    """Returns the call, or the person if the event itself says enough."""
    person: Callable[[Event, Details], Person]
    """Returns the person from the details of the result."""
    unseen: frozenset[str]
    """Refusal codes which mean that the person or group does not exist."""
    tools: tuple[str, ...]
    """The tools that runs call by themselves for this part. The parts below have the same field."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The look-up of the members of a user group that `who` names by its handle."""

    look_up: Callable[[str], OwnCall]
    """Returns the call for a handle."""
    members: Callable[[Details], Collection[object]]
    """Returns the ids of the members."""
    unseen: frozenset[str]
    """Refusal codes which mean that the group does not exist."""
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages that can be edited and deleted, so that a run can announce its answer."""

    thread: Callable[[Event, Outcome | None], str]
    """Returns the thread of an event, given the outcome of reading its source context; empty if it has none."""
    below: Callable[[Details], str]
    """Returns the thread below a written message; empty if it has none."""
    edit: Callable[[Details, str], OwnCall]
    """Returns the call that replaces the text of a written message."""
    delete: Callable[[Details], OwnCall]
    """Returns the call that deletes a written message."""
    attach: Callable[[str, str, str], OwnCall]
    """Returns the call that attaches a file, from the thread, the file's name and its text."""
    identity: Callable[[Event, Details, str], tuple[str, ...]]
    """Returns the receiver's names of a written message, or of the thread that is given; empty if unknown."""


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """Messages that only one person sees. They can never be edited."""

    split: Callable[[str], Sequence[str]]
    """Returns the texts of the messages that a long text is divided into."""
    in_place: Callable[[str, str], OwnCall]
    """Returns the call that shows a text in a thread (empty for none) to the person who started the run."""
    direct: Callable[[str], OwnCall]
    """Returns the call that sends this person a direct message."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The writing of an answer where a run began."""

    compose: Callable[[str], Composed]
    """Returns an answer, divided into the messages that Gofer will write."""
    write: Callable[[Event, str, str], OwnCall]
    """Returns the call that writes a text in a thread (empty for none)."""
    tools: tuple[str, ...]
    sentence: Callable[[Event, Reply], str]
    """Returns the sentence that tells a model where the answer to an event goes; empty if the opening needs none."""
    has_place: Callable[[Event], bool] = _anywhere
    """Returns whether an answer can be written where the event happened."""
    messages: Messages | None = None
    """None if an answer cannot be announced, edited or deleted."""
    private: PrivateWords | None = None
    """None if no message can be shown to only one person."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """The questions with which Gofer asks people for a decision."""

    here: Callable[[Event], Mapping[str, object]]
    """Returns the fields of a question that name where it is asked, for an event of this source."""
    channel: Callable[[str], Mapping[str, object] | None]
    """Returns the same fields for the owner of a workflow; None if the owner has no channel."""
    is_direct: Callable[[Event], bool]
    """Returns whether the event is a direct message."""
    ask: Callable[[Mapping[str, object]], OwnCall]
    """Returns the call that asks a question, given by its fields, where everyone in the place sees it."""
    ask_one: Callable[[Mapping[str, object]], OwnCall]
    """Returns the call that asks a question where only one person sees it."""
    fits: Callable[[Mapping[str, object]], bool]
    """Returns whether a question with these fields shows all arguments of its call whole."""
    attach: Callable[[Mapping[str, object]], OwnCall]
    """Returns the call that attaches the arguments of a question, given by its fields, as the file that they name."""
    close: Callable[[Details, str, Mapping[str, object] | None], OwnCall | None]
    """Returns the call that shows how a question ended, with its fields if it stays; None if it cannot be edited.

    An empty ending shows the buttons."""
    may_decide: Callable[[str, Sequence[str], str], OwnCall]
    """Returns the call that looks up whether a person may decide, from the person, the approvers and the requester."""
    allowed: Callable[[Details], bool]
    """Returns whether the person may decide, from the details of the look-up."""
    decider: Callable[[Details], str]
    """Returns the name of the person, from the details of the look-up."""
    groups: Callable[[Sequence[str]], OwnCall]
    """Returns the call that looks up the user groups that may decide."""
    group_ids: Callable[[Details], Mapping[str, object]]
    """Returns the ids of the groups by their handles."""
    tell: Callable[[str, str, Mapping[str, object]], OwnCall]
    """Returns the call that shows a text to one person at a place."""
    moment: Callable[[int], str]
    """Returns a time for people, from unix milliseconds."""
    tools: tuple[str, ...]
    group_tools: tuple[str, ...]
    """The additional tools for decisions by user groups."""


@dataclass(frozen=True, slots=True)
class Places:
    """The look-up of places that runs want to read or write."""

    look: Callable[[Place, Standpoint], Known | OwnCall]
    """Returns the facts about a place, or the call that looks them up."""
    found: Callable[[Place, Standpoint, Details], Known]
    """Returns the facts from the look-up. Raises ToolError for a place that no run may use."""
    entry: Callable[[Place], str]
    """Returns the entry of the key `writes` that permits writing to a place."""
    tools: tuple[str, ...] = ()
    home: Callable[[Event], str] = _no_home
    """Returns the id of the place in which an event happened."""
    is_own: Callable[[Event], bool] = _not_own
    """Returns whether only the person who started the run can read messages in the event's place."""
    hidden: ToolError = field(default_factory=_hidden)
    """The error for a place that must stay hidden from a run."""


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of a company, for messages about runs."""

    of: Callable[[str], str]
    """Returns the channel that the `owner` of a workflow names; empty for an owner without a channel."""
    post: Callable[[str, str], OwnCall]
    """Returns the call that writes a text into a channel."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The system in which Gofer reaches the people of the company, no matter where a run began."""

    system: str
    """The name of the system, for people."""
    groups: Groups
    approvals: Approvals
    channels: Channels


def _never(event: Event, followed: bool) -> bool:
    return False


def _no_words(event: Event) -> str:
    return ""


def _its_conversation(event: Event) -> Sequence[str]:
    return event.source, event.conversation


def _is_object(event: Event) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of one source that the engine uses."""

    name: str
    """The name in `event.source`."""
    system: str
    """The name of the system, for people."""
    from_event: Callable[[Event, Person], SourceContext]
    """Returns the source context from the event alone, with its text unchanged."""
    reading: Reading | None = None
    """The call that reads more; None if events hold everything."""
    starts: frozenset[str] = frozenset()
    """Kinds of events with which a person deliberately starts a run and waits for it."""
    is_request: Callable[[Event, bool], bool] = _never
    """Returns whether a person's text is addressed to Gofer.

    The flag tells whether the workflow answered there before.
    """
    own_words: Callable[[Event], str] = _no_words
    """Returns the words that the actor of an event wrote, without those of others that they quote or pass on."""
    message: Callable[[Event], Sequence[str]] = _its_conversation
    """Returns the unique coordinates of the message or object that the event is about."""
    is_recent: Callable[[Event], bool] = _is_object
    """Returns whether the source context holds recent messages rather than the object that the run is about."""
    trusted: bool = False
    """Whether the company itself permitted these events to start runs, in a file or with a secret."""
    returns_to_caller: bool = False
    """Whether a caller in this process reads the answer, or the reason of a failure, itself."""
    compare: Compare | None = None
    """The comparison with earlier events; None if conditions cannot refer to changes."""
    people: People | None = None
    answers: Answers | None = None
    approvals: Approvals | None = None
    """The questions in this source; None if the workplace asks instead."""
    places: Places | None = None
    open_to_outsiders: Callable[[Event], bool] = _not_own
    """Returns whether people from outside the company can read the answer to an event."""
    tools: Callable[[SourceSettings], Sequence[AnyTool]] | None = None
    """Returns the tools of the source, from its settings."""
    sites: Sequence[Setting[str]] = ()
    """The settings with base URLs of the company's own sites; texts may link their pages."""
    identifying: IdentifyingWords = field(default_factory=IdentifyingWords)
    """The words that a test case may not hold."""

    def answers_to(self, event: Event, reply: Reply) -> Answers | None:
        """Return how a run posts where it began, or None if it posts nothing there."""
        if reply == "none" or self.answers is None or not self.answers.has_place(event):
            return None
        return self.answers
