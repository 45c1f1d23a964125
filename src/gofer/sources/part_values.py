"""The values that the parts of sources take and return."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gofer.journal.entries import ToolResult, ToolUnknown
from gofer.values.row_tokens import Tokens
from gofer.workflows.writes import Destinations

Outcome = ToolResult | ToolUnknown
"""The recorded outcome of a tool call."""
Details = Mapping[str, object]
"""The details of a tool result, which are for code."""


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A tool call that a run makes by itself."""

    tool: str
    """The name of the tool."""
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a run cannot begin without, described for the operator and for the colleague."""

    missed: str
    """What failed, for the operator."""
    aim: str
    """What Gofer tried to do, for the colleague; it follows the words "I could not"."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sentences for the colleague by the vendor's code, for codes that the colleague can act on."""


OUTSIDERS = frozenset({"guest", "external", "customer", "anonymous"})
"""Kinds of people who see less of a company than its full members."""


@dataclass(frozen=True, slots=True)
class Person:
    """The person or app behind an event."""

    id: str
    kind: str = "external"
    """`member`, `guest`, `external` (also if unknown), `customer`, `bot`, or `anonymous` without a person."""
    handle: str = ""
    name: str = ""
    """The name as people write it, for a model; empty when it is not known."""
    zone: str = ""
    """The name of the person's time zone; empty when it is not known."""

    @property
    def facts(self) -> Mapping[str, object]:
        """Return the facts about the person that conditions can refer to."""
        return {"bot": self.kind == "bot"}


@dataclass(frozen=True, slots=True)
class SourceContext:
    """The content of the first message to the model."""

    happened: str
    """One or two sentences that tell what happened."""
    read: str
    """The thread, issue or page that the event is about. Every text that people wrote is indented."""
    private: bool
    words: str = ""
    """The text by the person who started the run."""
    author: str = ""
    """The name of that person."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """Facts that conditions refer to and that the event did not contain."""
    properties: Mapping[str, object] = field(default_factory=dict[str, object])
    """The properties of a page, as `{name: {id, value}}`."""
    header: str = ""
    """The line of `read` above `words`; no text by people can imitate it.

    Empty when `read` does not contain `words`.
    """
    addressed: str = ""
    """The sentence about what happened when `words` is a request; empty to use `happened`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes since earlier events that the conditions of a workflow can refer to."""

    status: Sequence[str] = ()
    """The fact `status`: the changes, in the words of the conditions that they meet."""
    reason: str = ""
    """The reason why nothing changed, for lists; empty when something did, or the workflow has no such condition."""


class Memory(Protocol):
    """The memos that runs of a source leave for later runs, stored under tokens that reveal no names."""

    @property
    def run(self) -> str:
        """Return the id of the run."""
        ...

    @property
    def workflow(self) -> str:
        """Return the name of the run's workflow."""
        ...

    async def tokens_of(self, use: str, *names: str) -> Tokens:
        """Return the maker of the key and the values of the memo for one use.

        A memo keeps the installation key under which it was first written, as long as that key is recognised.
        """
        ...

    async def memo(self, key: str) -> str | None:
        """Return the memo of a key, or None."""
        ...

    async def exchange(self, key: str, before: str | None, text: str) -> str | None:
        """Write a memo if its text is still `before`. Return the text that is stored afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer, divided into the messages that Gofer will write."""

    messages: Sequence[str]
    """The Markdown of each message, in order. When there is a file, the messages hold its beginning."""
    file: str = ""
    """The whole answer when it is too long for messages; else empty."""


@dataclass(frozen=True, slots=True)
class Known:
    """The facts about a place that decide whether a run may use it."""

    id: str = ""
    """The id; empty for a place that was not looked up, or that must stay hidden from the run."""
    name: str = ""
    """The name of the place, for people."""
    home: bool = False
    """Whether the run was started in this place."""
    listed: bool = False
    """Whether the workflow file lists it."""
    public: bool = False
    """Whether all full members of the workspace can read it."""
    member: bool = False
    """Whether the asker is a member of the place."""
    own: bool = False
    """Whether only the asker and Gofer can read the place."""
    named: bool = False
    """Whether the asker named the place in their own words, and may see it."""


@dataclass(frozen=True, slots=True)
class Standpoint:
    """The run's view of places: where it was started, by which person, and which places its workflow file lists."""

    home: str
    """The id of the place in which the run was started; empty for a source without places."""
    asker: str
    """The id of the person who started the run; empty if no person did."""
    writes: Destinations
    thread: str = ""
    """The thread of the request; empty if it has none."""
    words: str = ""
    """The asker's own words, as they wrote them."""


@dataclass(frozen=True, slots=True)
class IdentifyingWords:
    """The words of a source that identify people or their company, as regular expressions."""

    codes: tuple[str, ...] = ()
    """Ids of people, places and objects, and tokens."""
    companies: tuple[str, ...] = ()
    """Names of hosts; the first group is the name of the company."""
    people: tuple[str, ...] = ()
    """Lines of the texts for models; the first group is the name of a person."""
    hosts: frozenset[str] = frozenset()
    """Parts of names of hosts that belong to the vendor and so identify no company."""
