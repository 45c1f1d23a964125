"""The messages between a run and its model, encoded.

Every message is encoded once, when its entry is folded. The outcomes of a turn enter together and in the order of the
calls, not of their arrival, so the history never has a call without its outcome. An empty answer does not enter.
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
"""The most files that the note about removed images and pages names; the newest."""
LEFT = "[Gofer, by code] Your turns 1"
"""The first words of the message that replaces removed turns."""
SUMMARY = " A summary of all of them:\n\n"
"""The words right before the summary in that message."""
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
"""The flaw of the model's last answer: none; neither text nor calls; cut off before any call; not of the form that the
workflow asks for; too early; a call written as text; calls in an answer that was cut off; calls in the deprecated
`function_call`; calls that returned the same before; calls with unreadable arguments; calls of unknown tools; calls
that were all refused for different reasons; refused by the model; blocked by its provider."""
REFUSALS: Mapping[str, Flaw] = {
    "cut_call": "cut_call",
    "deprecated": "deprecated",
    "repeated": "repeated",
    "broken": "broken",
    "unknown_tool": "unknown_tool",
    "too_many_calls": "uncallable",
    "locked": "uncallable",
    "stays_private": "uncallable",
    "being_done": "uncallable",
    "not_alone": "uncallable",
    "no_plan": "uncallable",
}
"""The flaw of an answer whose calls were all refused with one code."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An image or document in the history."""

    part: int
    """The index of its message in the history."""
    turn: int
    """The model turn before it, counted from 1; 0 for the first message."""
    file: str


@dataclass(slots=True)
class Conversation:
    """The history of one run so far."""

    parts: list[bytes] = field(default_factory=list[bytes])
    """The encoded messages in order, without the system prompt."""
    through: str = ""
    """The address of the last entry whose message is in `parts`."""
    turn: int = 0
    """The number of answers of the model."""
    answer: str = ""
    """The text of the last answer, without its calls."""
    drafts: list[str] = field(default_factory=list[str])
    """The last answers in a row that contained a call as text, in full."""
    text_so_far: str = ""
    """The last text of the model that is for people, shown if the run ends early."""
    text_before: str = ""
    """The same before the last answer, which may turn out to contain a call as text."""
    finish: str = ""
    """The finish reason of the last answer."""
    asks: dict[str, ToolAsk] = field(default_factory=dict[str, ToolAsk])
    """The calls of the current turn by call id, in order, with normalized tool names; empty once all have outcomes."""
    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    """The texts for the model of the calls of the turn that have an outcome."""
    held: list[e.MessageReceived] = field(default_factory=list[e.MessageReceived])
    """Messages that arrived while calls of the turn were open; they follow the outcomes."""
    answered: bool = False
    """Whether the last message is an answer of the model, complete and without calls."""
    asked: str = ""
    """The model that was asked last, as in `messages.asked_at`."""
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """The id in the history of each call of the turn, by call id."""
    taken: set[str] = field(default_factory=set[str])
    """All ids in the history."""
    uncalled: list[str] = field(default_factory=list[str])
    """The codes of the calls of the turn that could not be made; an empty string if a call has no code."""
    flaw: Flaw = ""
    useless_answers: int = 0
    """The number of useless answers in a row."""
    starts: list[int] = field(default_factory=list[int])
    """The index in `parts` of each answer of the model that is still in the history."""
    epoch: int = 0
    """How often the beginning of the history was compacted; in between, the history only grows."""
    sent_back: bool = False
    """Whether an answer was sent back because no tool that the workflow requires had succeeded; once in a run."""
    folded: int = 0
    """The number of model answers that were removed."""
    first: int = 1
    """The number of messages of the beginning that are still in the history."""
    seen: list[Seen] = field(default_factory=list[Seen])
    """The images and documents in the history, in order."""
    removed_files: dict[str, int] = field(default_factory=dict[str, int])
    """The files of removed images and documents, with the turn in which each was last shown."""

    @property
    def open(self) -> dict[str, ToolAsk]:
        """The calls of the current turn without an outcome."""
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
            _add_message(state, recorded, message)
        case e.LlmResponse() as response:
            _add_answer(state, recorded, response)
        case e.ToolResult(call=call, text=text) | e.ToolUnknown(call=call, text=text) if call in state.asks:
            state.outcomes[call] = text
            if _code(recorded.entry) == "unmet":
                state.sent_back = True
            if _uncallable(recorded.entry):
                state.uncalled.append(_code(recorded.entry))
            if len(state.outcomes) == len(state.asks):
                _close_turn(state, recorded, recorded.entry)
        case e.LlmRequest(params=params):
            state.asked = messages.asked_at(params)
        case e.ToolResult() | e.ToolUnknown() | e.ToolCall() | e.CallDeferred() | e.PermitRenewed() | e.ValueRecorded():
            pass
        case e.SubagentStarted() | e.SubagentFinished():
            pass  # not part of the conversation
        case e.ContextCompacted() as compacted:
            _compact(state, recorded, compacted)
        case e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated():
            pass  # shown in the tail
        case e.RunAccepted() | e.RunOwned() | e.RunStarted() | e.RunParked() | e.RunHandedOver():
            pass
        case e.RunCancelled() | e.RunRetried():
            pass
        case e.RunConcluded() | e.RunFinished() | e.RunChecked() | e.RunGraded() | e.FeedbackGiven() | e.RunReviewed():
            pass
        case e.ApprovalRequested() | e.ApprovalClicked() | e.ApprovalDecided():
            pass
        case _:
            assert_never(recorded.entry)


def _uncallable(outcome: e.ToolResult | e.ToolUnknown) -> bool:
    """Return whether a call could not be made through a fault of the model; a denied approval is no such fault."""
    if not isinstance(outcome, e.ToolResult) or outcome.status != "refused":
        return False
    return not outcome.details or _code(outcome) in REFUSALS


def _code(outcome: e.ToolResult | e.ToolUnknown) -> str:
    match outcome:
        case e.ToolResult(details={"code": str(code)}):
            return code
        case _:
            return ""


def _add_message(state: Conversation, recorded: e.Recorded, message: e.MessageReceived) -> None:
    if state.asks:
        state.held.append(message)
    else:
        _append(state, message)
        state.through = recorded.address
    if message.code == "unmet":
        # A flawless answer that was sent back once is not useless.
        state.sent_back = True
    elif state.answered:
        # A message of a person continues after the answer. A message of the run says why the answer is no end.
        if message.item:
            state.flaw = ""
            state.useless_answers = 0
        else:
            state.flaw = message.code or "unfit"
            state.useless_answers += 1
    if message.code == "call_as_text":
        # A call written as text is not shown to people, but the text of the answer before may be.
        state.flaw = "call_as_text"
        state.answer = ""
        state.drafts.append(state.text_so_far)
        state.text_so_far = state.text_before
    state.answered = False


def _append(state: Conversation, message: e.MessageReceived) -> None:
    part = len(state.parts)
    turn = state.folded + len(state.starts)
    state.seen += [Seen(part, turn, media.file) for media in message.media]
    state.parts.append(messages.user(message.text, message.media))


def _add_answer(state: Conversation, recorded: e.Recorded, response: e.LlmResponse) -> None:
    state.turn += 1
    if state.flaw != "call_as_text":
        state.drafts.clear()
    state.answer = response.text
    state.asks = {f"{state.turn}.{index}": resolved_call(ask) for index, ask in enumerate(response.tool_calls)}
    state.outcomes = {}
    state.uncalled = []
    state.finish = response.finish_reason
    state.text_before = state.text_so_far
    if response.text.strip() or response.tool_calls:
        state.starts.append(len(state.parts))
        calls = _stored_calls(state, response.tool_calls)
        by = response.api and {"api": response.api, "model": state.asked}
        state.parts.append(messages.assistant(response.text, calls, response.extra, by or None))
        state.through = recorded.address
    state.flaw = _flaw(response)
    if response.text.strip() and state.flaw not in ("refusal", "filtered"):
        state.text_so_far = response.text
    state.answered = not response.tool_calls and not state.flaw
    if state.flaw and not response.tool_calls:
        # An answer without a flaw ends the run, or gets a message why not, which counts it as useless.
        state.useless_answers += 1


def _compact(state: Conversation, recorded: e.Recorded, compacted: e.ContextCompacted) -> None:
    begin = compacted.kept
    end = begin + compacted.folded
    seen: list[Seen] = []
    for media in state.seen:
        if media.part < begin:
            seen.append(media)
        elif media.part < end:
            state.removed_files[media.file] = media.turn
        else:
            seen.append(replace(media, part=media.part - compacted.folded + 1))
    state.seen = seen
    in_view = {media.file for media in seen}
    removed = {file: turn for file, turn in state.removed_files.items() if file not in in_view}
    state.parts[begin:end] = [messages.user(_summary_message(compacted, removed))]
    state.folded += sum(start < end for start in state.starts)
    state.starts = [start - compacted.folded + 1 for start in state.starts if start >= end]
    state.first = compacted.kept
    state.through = recorded.address
    state.epoch += 1


def _summary_message(compacted: e.ContextCompacted, removed: Mapping[str, int]) -> str:
    """Return the message that replaces removed turns; `removed` are removed files with their turns."""
    first, last = compacted.turns
    held = "them"
    older = ""
    if first > 1:
        held = f"turns {first} to {last}"
        older = " Older files of this run, named by their turns, hold those before."
    media = _removed_media(removed)
    return (
        f"{LEFT} to {last} have left this conversation; {compacted.file} holds {held} word for word: look for things "
        f"in it with file_regex, and read it with file_read.{older}{media}{SUMMARY}{compacted.summary}"
    )


def _removed_media(removed: Mapping[str, int]) -> str:
    if not removed:
        return ""
    newest = sorted(removed.items(), key=lambda shown: shown[1])[-NAMED:]
    named = ", ".join(f"{file} ({_turn_name(turn)})" for file, turn in newest)
    more = ""
    if len(removed) > NAMED:
        more = f", and {len(removed) - NAMED} before"
    return f" You looked at these and do not see them any more: {named}{more}; load_file shows one again."


def _turn_name(turn: int) -> str:
    if turn == 0:
        return "the first message"
    return f"turn {turn}"


def _stored_calls(state: Conversation, asks: Sequence[ToolAsk]) -> tuple[ToolAsk, ...]:
    """Return the calls of the turn for the history: with the model's arguments, and each with a unique id."""
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
        case _ if response.text.strip() or response.tool_calls:
            return ""
        case _:
            return "empty"


def _close_turn(state: Conversation, recorded: e.Recorded, last: e.ToolResult | e.ToolUnknown) -> None:
    for call in state.asks:
        state.parts.append(messages.tool(state.ids[call], state.outcomes[call]))
    for message in state.held:
        _append(state, message)
    state.through = recorded.address
    if flaw := _flaw_of_turn(state, last):
        state.flaw = flaw
        state.useless_answers += 1
    else:
        state.useless_answers = 0
    if (answer := _final_answer(state, last)) is not None:
        # A message that arrived meanwhile continues the conversation.
        state.answer = answer
        state.answered = not state.held
        state.text_so_far = answer or state.text_so_far
    state.asks = {}
    state.outcomes = {}
    state.held = []


def _flaw_of_turn(state: Conversation, last: e.ToolResult | e.ToolUnknown) -> Flaw:
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


def _final_answer(state: Conversation, last: e.ToolResult | e.ToolUnknown) -> str | None:
    """Return the answer in a call that ends the work; such a call must be the only one of its turn."""
    if [ask.tool for ask in state.asks.values()] != [FINISH]:
        return None
    match last:
        case e.ToolResult(status="ok", details={"answer": str(answer)}):
            return answer
        case _:
            return None


def presentable(ask: ToolAsk, turn: int, index: int, taken: Collection[str]) -> ToolAsk:
    """Return a call for the history: with a unique id, a tool name that all providers accept, and JSON arguments.

    A provider refuses a whole request for one duplicate id, one invalid name, or one string of arguments that is no
    JSON. Because a history only grows, it would refuse every later request too.
    """
    id_ = ask.id
    if not _ID.fullmatch(id_) or id_ in taken:
        id_ = _new_id(turn, index, taken)
    arguments = ask.arguments
    if ask.parsed is None:
        arguments = "{}"
    tool = _NOT_IN_NAMES.sub("_", ask.tool)[:64] or "unnamed"
    return ToolAsk(id=id_, tool=tool, arguments=arguments, extra=ask.extra)


def _new_id(turn: int, index: int, taken: Collection[str]) -> str:
    """Return a free id of nine letters and digits, the form that the strictest provider demands."""
    ids = (f"g{number % 10**8:08}" for number in itertools.count(turn * 1_000 + index))
    return next(candidate for candidate in ids if candidate not in taken)
