"""Events: what happened outside, in one shape for every source.

An *event* happened outside; an *entry* is a line of our journal. The two words are never mixed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it. `id` is the source's own id and never reaches a model."""

    id: str
    kind: Literal["person", "bot"] = "person"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened outside, verified and translated. Its text is data, never instructions to us."""

    source: str
    """Where it happened: the name of a folder of `sources/`."""
    kind: str
    """What happened, as workflow files name it: the source, a dot and what."""
    identity: tuple[str, ...]
    """The same for every delivery of the same happening; not the delivery id."""
    conversation: str
    """Runs of one conversation happen one after the other, oldest first."""
    actor: Actor
    text: str
    place: Mapping[str, str]
    """The source's coordinates, needed to read more and to answer: team, channel, ts, thread_ts."""
    private: bool | None = None
    """Whether only some people can see it; None is unknown, and unknown counts as private."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the source says of it in plain JSON, under the names that conditions of workflow files use: `emoji`."""
    hops: int = 0
    """How many runs stand in a row behind it: what a run wrote and started another one with is one hop further."""
    digest: str = ""
    """A hash of what was delivered. Where it is set, a delivery with another one under the same identity is refused."""
    window: int = 0
    """Seconds after which an equal event is a happening of its own; 0 is never."""
