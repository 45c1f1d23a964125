"""The calls of a model that would only return what they returned before.

A call is repeated if it has the same arguments as before, returned the same text as the last time, and nothing was new
since. New are: an outcome that the call did not have the last time, a plan that the run did not have since something
else was new, and messages of people. The text that a call returns about the plan is never new, so that changing the
plan back and forth does not count as work.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from gofer.journal.entries import LlmResponse, MessageReceived, Recorded, ToolResult, ToolUnknown
from gofer.journal.workspace_entries import BOOKKEEPING, PlanUpdated, Todo
from gofer.values.canonical_json import encode
from gofer.values.messages import ToolAsk, resolved_call


@dataclass(slots=True)
class Repetition:
    """The outcomes of the calls of one run so far."""

    turn: int = 0
    asks: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """The tool and arguments of each call of the turn, hashed, by call id."""
    outcomes: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    """The last outcome of every tool with its arguments, both hashed."""
    times: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """How often in a row each had that outcome since something was new."""
    bookkeeping: frozenset[str] = frozenset()
    """The calls of the turn that concern the plan."""
    plan: tuple[Todo, ...] = ()
    idle: bool = False
    """Whether the model wrote its plan, and has made no other call and read no message since."""
    plans: set[tuple[Todo, ...]] = field(default_factory=set[tuple[Todo, ...]])
    """The plans that the run had since something else was new."""

    def repeats(self, ask: ToolAsk) -> int:
        """Return how often in a row the same call had the same outcome, with nothing new since."""
        return self.times.get(_identity(ask), 0)


def project(entries: Iterable[Recorded]) -> Repetition:
    """Return the repetition of a whole journal."""
    state = Repetition()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Repetition, recorded: Recorded) -> None:
    """Add one more entry to the repetition, in place."""
    match recorded.entry:
        case LlmResponse(tool_calls=asks):
            state.turn += 1
            asked = {f"{state.turn}.{index}": resolved_call(ask) for index, ask in enumerate(asks)}
            state.asks = {call: _identity(ask) for call, ask in asked.items()}
            state.bookkeeping = frozenset(call for call, ask in asked.items() if ask.tool in BOOKKEEPING)
        case MessageReceived(item=item) if item:
            _reset(state)
        case PlanUpdated(todos=plan):
            if plan not in state.plans:
                state.times.clear()
            state.plan = plan
            state.idle = state.turn > 0
            state.plans.add(plan)
        case ToolResult(status="refused"):
            pass  # the call was not made
        case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text) if call in state.asks:
            outcome = b""
            if call not in state.bookkeeping:
                outcome = hashlib.sha256(text.encode()).digest()
            _record(state, state.asks[call], outcome)
        case _:
            pass


def _reset(state: Repetition) -> None:
    """Note that something is new: every call may have another outcome, and every other plan counts as new."""
    state.times.clear()
    state.plans = {state.plan}
    state.idle = False


def _record(state: Repetition, ask: bytes, outcome: bytes) -> None:
    """Record the outcome of a call; an empty outcome is never new."""
    state.idle = state.idle and not outcome
    if outcome and state.outcomes.get(ask) != outcome:
        _reset(state)
    state.outcomes[ask] = outcome
    state.times[ask] = state.times.get(ask, 0) + 1


def _identity(ask: ToolAsk) -> bytes:
    """Return a hash that is equal for equal tools and arguments, however the arguments are formatted."""
    if ask.parsed is None:
        written = f"{ask.tool} {ask.arguments}".encode(errors="replace")
    else:
        written = encode([ask.tool, ask.parsed])
    return hashlib.sha256(written).digest()
