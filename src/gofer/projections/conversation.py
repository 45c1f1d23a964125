"""What has been said between a run and its model, as encoded messages?

Every message is encoded once, when its entry is folded. The outcomes of a turn enter together and in the order
of the calls, whatever order they came in, so a history never has a call without its outcome.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from gofer import messages
from gofer.journal.entries import (
    CallDeferred,
    LlmRequest,
    LlmResponse,
    MessageReceived,
    PermitRenewed,
    Recorded,
    RunAccepted,
    RunCancelled,
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    RunStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
)
from gofer.messages import ToolAsk


@dataclass(slots=True)
class Conversation:
    """The history of one run as far as its journal goes."""

    parts: list[bytes] = field(default_factory=list[bytes])
    """Encoded messages in order, without the system prompt."""
    through: str = ""
    """Address of the last entry whose message is in `parts`."""
    turn: int = 0
    """How many answers the model has given."""
    answer: str = ""
    """What the model said last beside its tool calls."""
    asks: dict[str, ToolAsk] = field(default_factory=dict[str, ToolAsk])
    """Calls of the current turn by our call id, in order; empty once all have outcomes."""
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    """Texts for the model of those calls of the turn that have an outcome."""
    held: list[bytes] = field(default_factory=list[bytes])
    """Messages that came while calls of the turn were open; they follow its outcomes."""
    answered: bool = False
    """Whether the last word is the model's, without tool calls."""

    @property
    def open(self) -> dict[str, ToolAsk]:
        """Calls of the current turn that have no outcome yet."""
        return {call: ask for call, ask in self.asks.items() if call not in self.outcomes}


def project(entries: Iterable[Recorded]) -> Conversation:
    """The conversation of a whole journal."""
    state = Conversation()
    for recorded in entries:
        state = fold(state, recorded)
    return state


def fold(state: Conversation, recorded: Recorded) -> Conversation:
    """The conversation after one more entry; the state given is used up."""
    match recorded.entry:
        case MessageReceived(text=text):
            (state.held if state.asks else state.parts).append(messages.user(text))
            state.answered = False
            if not state.asks:
                state.through = recorded.address
        case LlmResponse() as response:
            _hear(state, recorded, response)
        case ToolResult(call=call, text=text) | ToolUnknown(call=call, text=text) if call in state.asks:
            state.outcomes[call] = text
            if len(state.outcomes) == len(state.asks):
                _close_turn(state, recorded)
        case ToolResult() | ToolUnknown() | ToolCall() | LlmRequest() | CallDeferred() | PermitRenewed():
            pass
        case RunAccepted() | RunOwned() | RunStarted() | RunParked() | RunHandedOver() | RunCancelled():
            pass
        case RunConcluded() | RunFinished():
            pass
        case _:
            assert_never(recorded.entry)
    return state


def _hear(state: Conversation, recorded: Recorded, response: LlmResponse) -> None:
    state.parts.append(messages.assistant(response.text, response.asks))
    state.through, state.turn = recorded.address, state.turn + 1
    state.answer = response.text
    state.answered = not response.asks
    state.asks = {f"{state.turn}.{index}": ask for index, ask in enumerate(response.asks)}
    state.outcomes = {}


def _close_turn(state: Conversation, recorded: Recorded) -> None:
    for call, ask in state.asks.items():
        state.parts.append(messages.tool(ask.id, state.outcomes[call]))
    state.parts.extend(state.held)
    state.through = recorded.address
    state.asks, state.outcomes, state.held = {}, {}, []
