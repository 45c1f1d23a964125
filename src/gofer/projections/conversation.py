"""The messages between a run and its model, encoded.

Every message is encoded once, when its entry is folded. The outcomes of a turn enter together and in the order
of the calls, not in that of their arrival, so a history never has a call without its outcome. An answer that says
nothing does not enter at all.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from gofer.journal import entries as e
from gofer.journal.workspace_entries import FINISH
from gofer.values import messages
from gofer.values.messages import ToolAsk, resolved_call

_ID = re.compile("[!-~]{1,64}")
_NOT_IN_NAMES = re.compile("[^a-zA-Z0-9_-]")
NAMED = 40
"""Files that are named at most of those that were looked at and left; the newest."""
LEFT = "[Gofer, by code] Your turns 1"
"""What begins what stands in for turns that left."""
SUMMARY = " A summary of all of them:\n\n"
"""What stands there right before their summary."""
Flaw = Literal[
    "",
    "empty",
    "cut",
    "unfit",
    "premature",
    "call_as_text",
    "cut_call",
    "deprecated",
    "repeated",
    "broken",
    "unknown_tool",
    "uncallable",
    "refusal",
    "filtered",
]
"""What is wrong with the model's last answer: nothing; neither text nor calls; cut off before any call; not what the
workflow asks for; too early; a call written as text; calls in an answer that was cut off; calls in the deprecated
`function_call`; calls that gave the same before; calls whose arguments cannot be read; calls of unknown tools;
calls of which none could happen, for several reasons; the model says that it will not; its provider does not let it
through."""
REFUSALS: Mapping[str, Flaw] = {
    "cut_call": "cut_call",
    "deprecated": "deprecated",
    "repeated": "repeated",
    "broken": "broken",
    "unknown_tool": "unknown_tool",
}
"""What is wrong with an answer whose calls were all refused with one code."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that a model looks at beside text."""

    part: int
    """Where in the history its message stands."""
    turn: int
    """The answer of the model that it follows, counted from 1; 0 for the first message."""
    file: str


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
    drafts: list[str] = field(default_factory=list[str])
    """The last answers in a row that held a call as text, whole."""
    so_far: str = ""
    """The last words of the model that are for people: what there is to show of a run that ends early."""
    before: str = ""
    """The same before its last answer, which may turn out to be none."""
    finish: str = ""
    """Why its last answer stopped."""
    asks: dict[str, ToolAsk] = field(default_factory=dict[str, ToolAsk])
    """Calls of the current turn by our call id, in order, each as the tool that is meant; empty once all have
    outcomes."""
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    """Texts for the model of those calls of the turn that have an outcome."""
    held: list[e.MessageReceived] = field(default_factory=list[e.MessageReceived])
    """Messages that came while calls of the turn were open; they follow its outcomes."""
    answered: bool = False
    """Whether the last word is the model's, whole and without tool calls."""
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """The id that the history gives each call of the turn, by our call id."""
    taken: set[str] = field(default_factory=set[str])
    """Every id in the history."""
    uncalled: list[str] = field(default_factory=list[str])
    """Why calls of the turn could not be made, as codes; empty where there is none."""
    flaw: Flaw = ""
    strikes: int = 0
    """How many answers in a row were of no use."""
    starts: list[int] = field(default_factory=list[int])
    """Where in `parts` each answer of the model stands that is still there."""
    epoch: int = 0
    """How often the beginning of the history was folded away; between two times it only grows."""
    folded: int = 0
    """How many answers of the model have left."""
    first: int = 1
    """How many messages of the beginning are still there."""
    seen: list[Seen] = field(default_factory=list[Seen])
    """What is there to be looked at, in order."""
    left: dict[str, int] = field(default_factory=dict[str, int])
    """The same of what left, as files with the turn in which each was shown last."""

    @property
    def open(self) -> dict[str, ToolAsk]:
        """Calls of the current turn that have no outcome yet."""
        return {call: ask for call, ask in self.asks.items() if call not in self.outcomes}


def project(entries: Iterable[e.Recorded]) -> Conversation:
    """Return the conversation of a whole journal."""
    state = Conversation()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Conversation, recorded: e.Recorded) -> None:
    """Add one more entry to the conversation, in place."""
    match recorded.entry:
        case e.MessageReceived() as message:
            _tell(state, recorded, message)
        case e.LlmResponse() as response:
            _hear(state, recorded, response)
        case e.ToolResult(call=call, text=text) | e.ToolUnknown(call=call, text=text) if call in state.asks:
            state.outcomes[call] = text
            if _uncallable(recorded.entry):
                state.uncalled.append(_code(recorded.entry))
            if len(state.outcomes) == len(state.asks):
                _close_turn(state, recorded, recorded.entry)
        case e.ToolResult() | e.ToolUnknown() | e.ToolCall() | e.LlmRequest() | e.CallDeferred() | e.PermitRenewed():
            pass
        case e.SubagentStarted() | e.SubagentFinished() | e.ValueRecorded():
            pass  # asked and answered beside it
        case e.ContextCompacted() as compacted:
            _fold_away(state, recorded, compacted)
        case e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated():
            pass  # shown in the tail
        case (
            e.RunAccepted()
            | e.RunOwned()
            | e.RunStarted()
            | e.RunParked()
            | e.RunHandedOver()
            | e.RunCancelled()
            | e.RunRetried()
        ):
            pass
        case e.RunConcluded() | e.RunFinished():
            pass
        case e.ApprovalRequested() | e.ApprovalClicked() | e.ApprovalDecided():
            pass
        case _:
            assert_never(recorded.entry)


def _uncallable(outcome: e.ToolResult | e.ToolUnknown) -> bool:
    """Whether a call was one that could not be made; what a person decides against is no fault of the model."""
    if not isinstance(outcome, e.ToolResult) or outcome.status != "refused":
        return False
    return not outcome.details or _code(outcome) in REFUSALS


def _code(outcome: e.ToolResult | e.ToolUnknown) -> str:
    match outcome:
        case e.ToolResult(details={"code": str(code)}):
            return code
        case _:
            return ""


def _tell(state: Conversation, recorded: e.Recorded, message: e.MessageReceived) -> None:
    if state.asks:
        state.held.append(message)
    else:
        _enter(state, message)
        state.through = recorded.address
    if state.answered:
        # What people say after an answer goes on from it; what the run itself says says why it does not end with it.
        flaw = message.code or "unfit"
        state.flaw, state.strikes = ("", 0) if message.item else (flaw, state.strikes + 1)
    if message.code == "call_as_text":
        # A call is nothing to show; the words before it may be.
        state.flaw = "call_as_text"
        state.answer = ""
        state.drafts.append(state.so_far)
        state.so_far = state.before
    state.answered = False


def _enter(state: Conversation, message: e.MessageReceived) -> None:
    part = len(state.parts)
    turn = state.folded + len(state.starts)
    state.seen += [Seen(part, turn, media.file) for media in message.media]
    state.parts.append(messages.user(message.text, message.media))


def _hear(state: Conversation, recorded: e.Recorded, response: e.LlmResponse) -> None:
    state.turn += 1
    if state.flaw != "call_as_text":
        state.drafts.clear()
    state.answer = response.text
    state.asks = {f"{state.turn}.{index}": resolved_call(ask) for index, ask in enumerate(response.tool_calls)}
    state.outcomes = {}
    state.uncalled = []
    state.finish = response.finish_reason
    state.before = state.so_far
    if response.text.strip() or response.tool_calls:
        state.starts.append(len(state.parts))
        state.parts.append(messages.assistant(response.text, _presentable(state, response.tool_calls), response.extra))
        state.through = recorded.address
    state.flaw = _flaw(response)
    if response.text.strip() and state.flaw not in ("refusal", "filtered"):
        state.so_far = response.text
    state.answered = not response.tool_calls and not state.flaw
    if state.flaw and not response.tool_calls:
        # Without a flaw it is the end, or it is told why not.
        state.strikes += 1


def _fold_away(state: Conversation, recorded: e.Recorded, compacted: e.ContextCompacted) -> None:
    begin = compacted.kept
    end = begin + compacted.folded
    moved = [replace(one, part=one.part - compacted.folded + 1) for one in state.seen if one.part >= end]
    state.left |= {one.file: one.turn for one in state.seen if begin <= one.part < end}
    state.seen = [*(one for one in state.seen if one.part < begin), *moved]
    in_view = {one.file for one in state.seen}
    gone = {file: turn for file, turn in state.left.items() if file not in in_view}
    state.parts[begin:end] = [messages.user(recalled(compacted, gone))]
    state.folded += sum(start < end for start in state.starts)
    state.starts = [start - compacted.folded + 1 for start in state.starts if start >= end]
    state.first = compacted.kept
    state.through = recorded.address
    state.epoch += 1


def recalled(compacted: e.ContextCompacted, gone: Mapping[str, int]) -> str:
    """What stands in the history for what left it; `gone` is what was looked at, with its turn."""
    first, last = compacted.turns
    held = "them" if first == 1 else f"turns {first} to {last}"
    older = "" if first == 1 else " Older files of this run, named by their turns, hold those before."
    return (
        f"{LEFT} to {last} have left this conversation; {compacted.file} holds {held} word for word: look for things "
        f"in it with file_regex, and read it with file_read.{older}{_looked_at(gone)}{SUMMARY}{compacted.summary}"
    )


def _looked_at(gone: Mapping[str, int]) -> str:
    if not gone:
        return ""
    newest = sorted(gone.items(), key=lambda shown: shown[1])[-NAMED:]
    named = ", ".join(f"{file} ({f'turn {turn}' if turn else 'the first message'})" for file, turn in newest)
    more = f", and {len(gone) - NAMED} before" if len(gone) > NAMED else ""
    return f" You looked at these and do not see them any more: {named}{more}; load_file shows one again."


def _presentable(state: Conversation, asks: Sequence[ToolAsk]) -> tuple[ToolAsk, ...]:
    """The calls of the turn as the history has them: as they were written, each under an id of its own."""
    shown: list[ToolAsk] = []
    state.ids = {}
    for index, (call, ask) in enumerate(zip(state.asks, asks, strict=True)):
        shown.append(presentable(ask, state.turn, index, state.taken))
        state.ids[call] = shown[-1].id
        state.taken.add(shown[-1].id)
    return tuple(shown)


def _flaw(response: e.LlmResponse) -> Flaw:
    match response.finish_reason:
        case "refusal":
            return "refusal"
        case "content_filter":
            return "filtered"
        case "length" if not response.tool_calls:
            return "cut"
        case _:
            return "" if response.text.strip() or response.tool_calls else "empty"


def _close_turn(state: Conversation, recorded: e.Recorded, last: e.ToolResult | e.ToolUnknown) -> None:
    for call in state.asks:
        state.parts.append(messages.tool(state.ids[call], state.outcomes[call]))
    for message in state.held:
        _enter(state, message)
    state.through = recorded.address
    if useless := _useless(state, last):
        state.flaw = useless
        state.strikes += 1
    else:
        state.strikes = 0
    if (answer := _finished(state, last)) is not None:
        # Who said something meanwhile wants it to go on.
        state.answer = answer
        state.answered = not state.held
        state.so_far = answer or state.so_far
    state.asks = {}
    state.outcomes = {}
    state.held = []


def _useless(state: Conversation, last: e.ToolResult | e.ToolUnknown) -> Flaw:
    match last:
        case e.ToolResult(status="refused", details={"code": "premature"}):
            return "premature"
        case e.ToolResult(status="refused", details={"code": "unfit"}):
            return "unfit"
        case e.ToolResult(status="refused", details={"code": "call_as_text"}):
            return "call_as_text"
        case _ if len(state.uncalled) < len(state.asks):
            return ""
        case _ if len(codes := set(state.uncalled)) > 1:
            return "uncallable"
        case _:
            return REFUSALS.get(codes.pop(), "uncallable")


def _finished(state: Conversation, last: e.ToolResult | e.ToolUnknown) -> str | None:
    """The answer of a call that ends the work; it stands alone in its turn."""
    if [ask.tool for ask in state.asks.values()] != [FINISH]:
        return None
    match last:
        case e.ToolResult(status="ok", details={"answer": str(answer)}):
            return answer
        case _:
            return None


def presentable(ask: ToolAsk, turn: int, index: int, taken: Collection[str]) -> ToolAsk:
    """Return a call as the history has it: an id that is not `taken`, a name any provider allows, arguments in JSON.

    A provider refuses a whole request for one id that is there twice, one name that it does not allow, or one string of
    arguments that is no JSON. As a history only grows, it would refuse every later request too.
    """
    id_ = ask.id
    if not _ID.fullmatch(id_) or id_ in taken:
        id_ = _own_id(turn, index, taken)
    arguments = ask.arguments
    if not _whole(arguments):
        arguments = "{}"
    tool = _NOT_IN_NAMES.sub("_", ask.tool)[:64] or "unnamed"
    return ToolAsk(id=id_, tool=tool, arguments=arguments, extra=ask.extra)


def _own_id(turn: int, index: int, taken: Collection[str]) -> str:
    """Return nine letters and digits, which is what the strictest provider demands."""
    ids = (f"g{number % 10**8:08}" for number in itertools.count(turn * 1_000 + index))
    return next(candidate for candidate in ids if candidate not in taken)


def _whole(text: str) -> bool:
    try:
        messages.arguments(text)
    except ValueError:
        return False
    return True
