"""Entries about subagents in the journal of the run that asks them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.values.messages import Usage


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a run's remaining limits that is reserved for a subagent until it finishes."""

    llm_calls: int
    tool_calls: int
    tokens: int
    usd: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The tokens of a request to a model and its answer."""

    model: str
    tokens: int
    """Tokens of request and answer together."""


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """`subagent.started`: a subagent is about to be asked: one question to a model, or an agent with its own run."""

    call: str
    name: str
    """The name of its file in `subagents/`."""
    prompt: str
    params: Mapping[str, object]
    """The parameters of the question; an agent has its parameters in its own journal."""
    run: str = ""
    """The run of an agent; empty for a question."""
    files: tuple[str, ...] = ()
    """The ids of the files that it gets."""
    reserved: Slice | None = None
    """The limits of an agent."""
    writes: bool = False
    """Whether an agent has tools with effects outside."""
    resumed: int = 0
    """How often a new owner of the run found that the agent had made progress and resumed it."""


@dataclass(frozen=True, slots=True)
class SubagentFinished:
    """`subagent.finished`: the recorded answer. Without it a question is asked again, because it has no effects
    outside.
    """

    call: str
    status: Literal["ok", "error"]
    text: str
    """The answer, or the reason why there is no usable answer."""
    model: str
    usage: Usage
    cost_usd: float | None
    """None if the price of the model is unknown."""
    duration_ms: int
    code: str = ""
    """For code: the reason why there is no usable answer."""
    run: str = ""
    """The run of an agent; `usage` and `cost_usd` are then sums over all its calls."""
    llm_calls: int = 1
    """The number of calls to models."""
    tool_calls: int = 0
    locked: tuple[tuple[str, ...], ...] = ()
    """Tool and destination of each of its calls with an unknown outcome."""
    largest: tuple[Exchanged, ...] = ()
    """For an agent, the largest exchange with each model, including exchanges of its own subagents."""
    frames: int = 0
    """For an agent, the number of frames of its journal; 0 if unknown."""
    spent_usd: float | None = None
    """For an agent, the part of its cost that is known; None for a question, whose cost is `cost_usd`."""
    failed_checks: tuple[str, ...] = ()
    """For an agent, the names of the checks that its run failed, including those of its own subagents."""
    settled: tuple[str, ...] = ()
    """For an agent, the tools that count for the `requires` of the run at the top (`projections/calls.py`)."""
    fingerprint: str = ""
    """For a question, the `system_fingerprint` of the provider; empty if it sent none."""
    addresses: tuple[str, ...] = ()
    """For an agent, the keys of the addresses in its answer that it had read (`projections/read_addresses.py`)."""

    @property
    def known_usd(self) -> float:
        """The cost of its calls with a known price, in US dollars."""
        if self.spent_usd is not None:
            return self.spent_usd
        return self.cost_usd or 0.0
