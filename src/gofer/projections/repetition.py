"""Which of a model's calls would only give again what they gave?

A call stands still when it is made with the same arguments, gives the same text as the last time, and nothing else
was new since. New is an outcome that a call did not have the last time, a changed plan, and what people say
meanwhile. Only hashes are kept.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from gofer.canonical import encode
from gofer.journal.entries import LlmResponse, MessageReceived, Recorded, ToolResult, ToolUnknown
from gofer.journal.workspace import PlanUpdated, Todo
from gofer.messages import ToolAsk, arguments, meant


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
    plan: tuple[Todo, ...] = ()

    def fruitless(self, ask: ToolAsk) -> int:
        """How often in a row the same call gave the same, with nothing new since."""
        return self.times.get(_identity(ask), 0)


def project(entries: Iterable[Recorded]) -> Repetition:
    """The repetition of a whole journal."""
    state = Repetition()
    for recorded in entries:
        state = fold(state, recorded)
    return state


def fold(state: Repetition, recorded: Recorded) -> Repetition:
    """The repetition after one more entry; the state given is used up."""
    match recorded.entry:
        case LlmResponse(asks=asks):
            state.turn += 1
            state.asks = {f"{state.turn}.{index}": _identity(meant(ask)) for index, ask in enumerate(asks)}
        case MessageReceived(item=item) if item:
            state.times.clear()
        case PlanUpdated(todos=plan) if plan != state.plan:
            state.plan = plan
            state.times.clear()
        case ToolResult(status="refused"):
            pass  # it did not happen
        case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text) if call in state.asks:
            _take(state, state.asks[call], hashlib.sha256(text.encode()).digest())
        case _:
            pass
    return state


def _take(state: Repetition, ask: bytes, outcome: bytes) -> None:
    if state.gave.get(ask) != outcome:
        state.times.clear()
    state.gave[ask] = outcome
    state.times[ask] = state.times.get(ask, 0) + 1


def _identity(ask: ToolAsk) -> bytes:
    """The same for the same tool and the same arguments, however they are written."""
    try:
        written = encode([ask.tool, arguments(ask.arguments)])
    except ValueError:
        written = f"{ask.tool} {ask.arguments}".encode(errors="replace")
    return hashlib.sha256(written).digest()
