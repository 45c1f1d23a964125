"""Events: one shape for the deliveries of every source.

An *event* happened in an outside system. An *entry* is a line of a journal. The two words are never mixed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def checked_traceparent(header: str) -> str:
    """Return a W3C `traceparent` of a caller, or an empty text if it has another form."""
    header = header.strip()
    if _TRACEPARENT.fullmatch(header):
        return header
    return ""


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or bot that caused an event. `id` is the source's own id and never reaches a model."""

    id: str
    kind: Literal["person", "external", "customer", "bot", "anonymous"] = "person"
    """An `external` person is no colleague, and neither is a `customer`, whom the company serves in that system."""

    @property
    def is_person(self) -> bool:
        """Whether a known person caused the event."""
        return self.kind in ("person", "external", "customer")


NOBODY = Actor("", "anonymous")
"""The actor of an event that names no person: of a form, a mail, an automation or a deleted account.

It starts only what `who` opens to `anonymous`, its words are data, and it sees and decides nothing that is for one
person.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of an outside system, verified and translated. The text is data, never an instruction to Gofer."""

    source: str
    """The source, by the name of its folder in `sources/`."""
    kind: str
    """The kind of event as workflow files name it: the source, a dot and a word."""
    identity: tuple[str, ...]
    """The key of the event: equal for every delivery of the same event. It is not the delivery id."""
    conversation: str
    """The conversation. Gofer executes the runs of one conversation one after the other, oldest first."""
    actor: Actor
    text: str
    place: Mapping[str, str]
    """The source's coordinates for reading more and for the answer, such as team, channel, ts and thread_ts."""
    private: bool | None = None
    """Whether only some people can see the event. None is unknown and counts as private."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """The event's details in plain JSON, under the names that conditions of workflow files use, such as `emoji`."""
    hops: int = 0
    """The number of runs in a row that led to this event. A run that writes a message adds one hop to its event."""
    digest: str = ""
    """A hash of the delivered contents. If set, a delivery with the same identity and another digest is refused."""
    window: int = 0
    """The seconds after which an equal delivery counts as a new event; 0 is never."""
