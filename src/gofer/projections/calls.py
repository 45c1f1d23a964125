"""The calls of a run: each tool call with its arguments, its attempts and its outcome."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gofer.journal import entries as e
from gofer.journal.purposes import QUESTION, is_own
from gofer.projections.script_replay import is_of_a_script
from gofer.values.canonical_json import as_object
from gofer.values.messages import ToolAsk, resolved_call

CallStatus = Literal["asked", "open", "waiting", "ok", "error", "refused", "unknown"]
"""The status of a call: asked for by the model, being made, waiting for its next attempt, or its outcome."""

_BUTTONS = frozenset({"approve", "deny"})
_SIGNED = "(signed button)"


@dataclass(slots=True)
class Call:
    """One tool call. Addresses are those of entries; times are unix milliseconds."""

    id: str
    tool: str
    """The name of the tool; empty for a call of the run itself that had an outcome without being made."""
    asked_for: str = ""
    """The arguments as the model wrote them, or as the run recorded them; may be no JSON."""
    arguments: Mapping[str, object] | None = None
    """The arguments as an object; None if they are no JSON object."""
    turn: int = 0
    """The turn of the model that asked for the call, counted from 1; 0 for a call of the run or a script."""
    asked_in: str = ""
    """The entry in which the model asked for the call; empty without a model."""
    began_in: str = ""
    """The entry of the first attempt; empty for a call that was refused before it was made."""
    ended_in: str = ""
    """The entry of the outcome; empty before that."""
    at: int = 0
    """The time at which the call was asked for or began."""
    ended_at: int = 0
    effect: e.Effect | None = None
    """The effect of the tool; None for a call that was not made."""
    attempts: int = 0
    waits: list[e.CallDeferred] = field(default_factory=list[e.CallDeferred])
    status: CallStatus = "asked"
    text: str = ""
    """The outcome as the model reads it."""
    summary: str = ""
    """The outcome in one line without contents."""
    code: str = ""
    """The reason of a refusal or an error, for code; may be empty."""
    duration_ms: int = 0
    value: object = None
    """The return value for a script."""
    details: Mapping[str, object] = field(default_factory=dict[str, object])
    """The data that later steps of the run rely on."""

    @property
    def is_own(self) -> bool:
        """Whether the run itself makes the call, without a model or a script."""
        return is_own(self.id)

    @property
    def retries(self) -> int:
        """The number of attempts after the first."""
        return max(0, self.attempts - 1)


@dataclass(slots=True)
class Calls:
    """The calls of one run so far, by id, in the order in which they were asked for."""

    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    turn: int = 0
    settled: set[str] = field(default_factory=set[str])
    """The tools that a workflow may require and that need no other call: one call succeeded or may have taken effect,
    here or in a subagent run, or a person denied it."""


def project(entries: Iterable[e.Recorded]) -> Calls:
    """Return the calls of a whole journal."""
    state = Calls()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Calls, recorded: e.Recorded) -> None:
    """Add one more entry to the calls, in place."""
    match recorded.entry:
        case e.LlmResponse(tool_calls=asks):
            state.turn += 1
            for index, ask in enumerate(asks):
                _ask(state, recorded, f"{state.turn}.{index}", resolved_call(ask))
        case e.ToolCall() as intent:
            _begin(state, recorded, intent)
        case e.CallDeferred(call=call) as deferred if call in state.calls:
            waiting = state.calls[call]
            waiting.waits.append(deferred)
            waiting.status = "waiting"
        case e.ToolResult() as result:
            _end(state, recorded, result)
        case e.ToolUnknown(call=call, text=text):
            unknown = _known(state, recorded, call)
            unknown.status = "unknown"
            unknown.text = text
            _settle(state, call)
            _close(unknown, recorded)
        case e.ApprovalDecided(call=call, decision="denied", item=item) if item:
            # Without an item no person was asked, because the question could not be posted.
            _settle(state, call)
        case e.SubagentFinished(settled=settled):
            state.settled.update(settled)
        case _:
            pass


def _ask(state: Calls, recorded: e.Recorded, call: str, ask: ToolAsk) -> None:
    state.calls[call] = Call(
        call, ask.tool, ask.arguments, ask.parsed, turn=state.turn, asked_in=recorded.address, at=recorded.at
    )


def _begin(state: Calls, recorded: e.Recorded, intent: e.ToolCall) -> None:
    call = _known(state, recorded, intent.call)
    call.tool = intent.tool
    call.effect = intent.effect
    if intent.arguments is not None:
        call.arguments = intent.arguments
    call.began_in = call.began_in or recorded.address
    call.attempts += 1
    call.status = "open"


def _end(state: Calls, recorded: e.Recorded, result: e.ToolResult) -> None:
    call = _known(state, recorded, result.call)
    call.status = result.status
    call.text = result.text
    call.summary = result.summary
    call.value = result.value
    call.details = as_object(result.details)
    code = call.details.get("code")
    if isinstance(code, str):
        call.code = code
    if call.status == "ok":
        _settle(state, call.id)
    call.duration_ms = result.duration_ms
    _close(call, recorded)


def _settle(state: Calls, call: str) -> None:
    if is_own(call):
        return
    known = state.calls.get(call)
    state.settled.add(known.tool if known else _tool_of(call))


def _close(call: Call, recorded: e.Recorded) -> None:
    call.ended_in = recorded.address
    call.ended_at = recorded.at


def _known(state: Calls, recorded: e.Recorded, call: str) -> Call:
    return state.calls.setdefault(call, Call(call, _tool_of(call), at=recorded.at))


def _tool_of(call: str) -> str:
    """Return the tool in the id of a script's call, `<branch>:<tool>:<hash>:<n>`; empty for other ids."""
    if is_of_a_script(call):
        return call.split(":")[1]
    return ""


def without_signatures(call: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a call as people may read them: without the signed values of a question's buttons."""
    if not call.startswith(QUESTION.partition("{")[0]):
        return arguments
    return {name: _without_signature(name, value) for name, value in arguments.items()}


def _without_signature(name: str, value: object) -> object:
    if name in _BUTTONS and value:
        return _SIGNED
    return value
