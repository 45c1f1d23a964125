"""The values that the parts of sources take and give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gofer.journal.entries import ToolResult, ToolUnknown
from gofer.values.row_tokens import Tokens
from gofer.workflows.writes import Destinations

Outcome = ToolResult | ToolUnknown
"""What the journal has of a call that was made."""
Details = Mapping[str, object]
"""What a call gave for code."""


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A call that a run makes by itself."""

    tool: str
    """The tool, by name."""
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a run cannot begin without, in the words for its two readers."""

    missed: str
    """For the operator: what did not happen."""
    aim: str
    """For the colleague: what Gofer wanted to do, after "I could not"."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sentences for the colleague, by the vendor's code, where the code says what the colleague can do."""


@dataclass(frozen=True, slots=True)
class Person:
    """The person or app behind an event."""

    id: str
    kind: str = "external"
    """`member`, `guest`, `external` or `bot`; an unknown person is external."""
    handle: str = ""
    name: str = ""
    """As people write it, for a model; empty when it is not known."""
    zone: str = ""
    """The name of their time zone; empty when it is not known."""

    @property
    def facts(self) -> Mapping[str, object]:
        """What conditions may ask for."""
        return {"bot": self.kind == "bot"}


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What the first message to the model is made of."""

    happened: str
    """What happened, in a sentence or two."""
    read: str
    """What the event is about, with everything that people wrote indented."""
    private: bool
    words: str = ""
    """What the person wrote who started the run."""
    author: str = ""
    """The name of that person."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What conditions ask for and the event did not say."""
    properties: Mapping[str, object] = field(default_factory=dict[str, object])
    """Of a page with properties, as `{name: {id, value}}`."""
    header: str = ""
    """The line of `read` above the words, which no text of people can be; empty where they are not in it."""
    addressed: str = ""
    """What happened, where the words are a request; empty where `happened` says it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What an event means for the conditions of a workflow that compare it with earlier events."""

    status: Sequence[str] = ()
    """The fact `status`: what changed, in the words of the conditions that are fulfilled."""
    reason: str = ""
    """Why nothing did, for lists; empty when the workflow does not ask, or something did."""


class Memory(Protocol):
    """What a run of a source remembers of earlier runs: memos under tokens, which hold no names."""

    @property
    def run(self) -> str:
        """The id of the run."""
        ...

    @property
    def workflow(self) -> str:
        """The name of its workflow."""
        ...

    @property
    def tokens(self) -> Tokens:
        """What makes the keys of memos."""
        ...

    async def memo(self, key: str) -> str | None:
        """Return the memo of a key; None when there is none."""
        ...

    async def exchange(self, key: str, before: str | None, text: str) -> str | None:
        """Write a memo where it still is what it was before; return what it is afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer as it will be written."""

    messages: Sequence[str]
    """Markdown of each message, in order; where there is a file, the beginning of it."""
    file: str = ""
    """All of it, where it is too long for messages."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a place."""

    id: str = ""
    """Empty for a place that was not looked up, and for one that the run may not know of."""
    name: str = ""
    """As people know it."""
    home: bool = False
    """Whether the run was asked there."""
    listed: bool = False
    """Whether the workflow file lists it."""
    public: bool = False
    """Whether all full members of the workspace can read it."""
    member: bool = False
    """Whether the asker is in it."""
    own: bool = False
    """Whether only the asker and Gofer read it."""


@dataclass(frozen=True, slots=True)
class Standpoint:
    """What a place is looked at from: where the run was asked, by which person, and what its file lists."""

    home: str
    """The id of the place that the run was asked in; empty where a source has none."""
    asker: str
    """The id of the person; empty for none."""
    writes: Destinations
