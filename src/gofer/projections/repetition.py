"""The calls of a model that would only give again what they gave.

A call stands still when it is made with the same arguments, gives the same text as the last time, and nothing else
was new since. New is an outcome that a call did not have the last time, a plan that the run did not have since
anything else was new, and what people say meanwhile. What a call says of the plan itself is nothing new: a plan that
only goes to and fro is no work.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from gofer.journal.entries import LlmResponse, MessageReceived, Recorded, ToolResult, ToolUnknown
from gofer.journal.workspace_entries import BOOKKEEPING, PlanUpdated, Todo
from gofer.values.canonical_json import encode
from gofer.values.messages import ToolAsk, arguments, resolved_call


@dataclass(slots=True)
class Repetition:
    """What the calls of one run gave, as far as its journal goes."""

    turn: int = 0
    asks: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What each call of the turn asks for, by our call id."""
    gave: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    """The last outcome of everything that was ever asked for."""
    times: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """How often in a row it had that outcome, since anything was new."""
    bookkeeping: frozenset[str] = frozenset()
    """The calls of the turn that are about the plan."""
    plan: tuple[Todo, ...] = ()
    plans: set[tuple[Todo, ...]] = field(default_factory=set[tuple[Todo, ...]])
    """Those that the run had since anything else was new."""

    def fruitless(self, ask: ToolAsk) -> int:
        """How often in a row the same call gave the same, with nothing new since."""
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
            wanted = {f"{state.turn}.{index}": resolved_call(ask) for index, ask in enumerate(asks)}
            state.asks = {call: _identity(ask) for call, ask in wanted.items()}
            state.bookkeeping = frozenset(call for call, ask in wanted.items() if ask.tool in BOOKKEEPING)
        case MessageReceived(item=item) if item:
            _renew(state)
        case PlanUpdated(todos=plan):
            if plan not in state.plans:
                state.times.clear()
            state.plan = plan
            state.plans.add(plan)
        case ToolResult(status="refused"):
            pass  # it did not happen
        case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text) if call in state.asks:
            outcome = b"" if call in state.bookkeeping else hashlib.sha256(text.encode()).digest()
            _take(state, state.asks[call], outcome)
        case _:
            pass


def _renew(state: Repetition) -> None:
    """Something is new: every call may give something else, and every plan but the present one is another."""
    state.times.clear()
    state.plans = {state.plan}


def _take(state: Repetition, ask: bytes, outcome: bytes) -> None:
    """`outcome` is empty where it never says anything new."""
    if outcome and state.gave.get(ask) != outcome:
        _renew(state)
    state.gave[ask] = outcome
    state.times[ask] = state.times.get(ask, 0) + 1


def _identity(ask: ToolAsk) -> bytes:
    """The same for the same tool and the same arguments, however they are written."""
    try:
        written = encode([ask.tool, arguments(ask.arguments)])
    except ValueError:
        written = f"{ask.tool} {ask.arguments}".encode(errors="replace")
    return hashlib.sha256(written).digest()
