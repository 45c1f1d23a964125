"""The entries of a subagent in the journal of the run that asks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.values.messages import Usage


@dataclass(frozen=True, slots=True)
class Slice:
    """What a subagent may use of what its run has left; kept for it until it is settled."""

    llm_calls: int
    tool_calls: int
    tokens: int
    usd: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A request to a model and its answer."""

    model: str
    tokens: int
    """Of both together."""


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """`subagent.started`: a subagent is about to be asked: one question to a model, or an agent in a run of its own."""

    call: str
    name: str
    """Its file in `subagents/`."""
    prompt: str
    params: Mapping[str, object]
    """Of a question; an agent has them in its own journal."""
    run: str = ""
    """The run that an agent works in; empty for a question."""
    files: tuple[str, ...] = ()
    """Files that it is given, by id."""
    reserved: Slice | None = None
    """What an agent may use."""
    writes: bool = False
    """Whether an agent has tools with effects outside."""
    resumed: int = 0
    """How often an owner found it, on taking over, to have got on."""


@dataclass(frozen=True, slots=True)
class SubagentFinished:
    """`subagent.finished`: its one recorded answer. Without it the same is asked again: nothing happened outside."""

    call: str
    status: Literal["ok", "error"]
    text: str
    """The answer, or why there is none of use."""
    model: str
    usage: Usage
    cost_usd: float | None
    """None when the model's price is not known."""
    duration_ms: int
    code: str = ""
    """For code: why there is none of use."""
    run: str = ""
    """The run that an agent worked in; `usage` and `cost_usd` are then those of all its calls."""
    llm_calls: int = 1
    """Calls to models."""
    tool_calls: int = 0
    locked: tuple[tuple[str, ...], ...] = ()
    """Tool and destination of its calls with an unknown outcome."""
    largest: tuple[Exchanged, ...] = ()
    """Of an agent, the largest exchange with each model; those below it count too."""
    frames: int = 0
    """Of an agent, how many frames its journal has; 0 when unknown."""
    spent_usd: float | None = None
    """The known cost of an agent; None of a question, which costs `cost_usd`."""

    @property
    def known_usd(self) -> float:
        """The US dollars of its calls with a known price."""
        if self.spent_usd is not None:
            return self.spent_usd
        return self.cost_usd or 0.0
