"""The spans of calls: tool calls, their approvals, and the files that they give."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gofer.journal import entries as e
from gofer.journal.purposes import is_own
from gofer.projections.script_replay import is_of_a_script
from gofer.projections.tracing.media_types import shown_media_type
from gofer.projections.tracing.spans import RUN, Trace, timestamp, without_empty
from gofer.values.messages import ToolAsk, resolved_call

_TOOL = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The form of a tool's name; a model may write anything else."""


def expect(state: Trace, asks: Sequence[ToolAsk]) -> None:
    """Remember the tools that an answer of the model asks for, because a refused call has no entry with its tool."""
    state.turn += 1
    state.asked = {f"{state.turn}.{index}": resolved_call(ask).tool for index, ask in enumerate(asks)}


def begin(state: Trace, recorded: e.Recorded, call: e.ToolCall) -> None:
    """Begin a call, or its next attempt."""
    start = recorded.at
    attributes = {**_identity(call.call, call.tool), "gofer.effect": call.effect}
    if call.call in state.waiting:
        earlier = state.spans[call.call]
        start = earlier.start
        attributes = {**earlier.attributes, **attributes}
    parent = _parent(state, call.call)
    state.open(recorded, id=call.call, parent=parent, kind="tool", name=call.tool, start=start, attributes=attributes)


def end(state: Trace, recorded: e.Recorded, result: e.ToolResult) -> None:
    """End a call with its result. A call that was refused or done before begins and ends with it."""
    _open_without_intent(state, recorded, result.call)
    add_files(state, result.call)
    attributes = {**without_empty({"gofer.summary": result.summary}), **state.met(recorded)}
    if result.status != "ok":
        code = (result.details or {}).get("code")
        if isinstance(code, str) and code:
            attributes["error.type"] = code
    ended = recorded
    if result.call in state.waiting:
        attributes |= state.waited(result.call, recorded.at - result.duration_ms)
    elif result.duration_ms:
        ended = replace(recorded, at=min(recorded.at, state.spans[result.call].start + result.duration_ms))
    state.update(result.call, attributes, status=result.status, ended=ended)


def end_unknown(state: Trace, recorded: e.Recorded, call: str) -> None:
    """End a call with an outcome that cannot be determined."""
    _open_without_intent(state, recorded, call)
    add_files(state, call)
    state.update(call, state.waited(call, recorded.at), status="unknown", ended=recorded)


def defer(state: Trace, recorded: e.Recorded, deferred: e.CallDeferred, attributes: Mapping[str, object]) -> None:
    """Mark a call that waits for its next attempt; it stays one span from its first attempt to its outcome."""
    state.update(deferred.call, attributes, status="deferred")
    if deferred.system:
        state.system = deferred.system
    if deferred.until and deferred.call in state.spans:
        state.waiting.setdefault(deferred.call, recorded.at)


def approve(state: Trace, recorded: e.Recorded, change: e.ApprovalRequested | e.ApprovalDecided) -> None:
    """Add the span of an approval request, or end it with the decision."""
    prefix: str = change.about
    if change.about == "call":
        prefix = "approval"
    span_id = f"{prefix}/{change.call}"
    if isinstance(change, e.ApprovalDecided):
        attributes = without_empty({"gofer.approval.by": change.by})
        state.update(span_id, attributes, status=change.decision, ended=recorded)
        return
    attributes: dict[str, object] = {
        "gen_ai.tool.name": change.tool,
        "gofer.approval.until": timestamp(change.until),
        "gofer.approval.asked": ", ".join(change.by),
        **state.met(recorded),
    }
    title = f"approval of {change.tool}"
    state.open(recorded, id=span_id, parent=state.llm, kind="approval", name=title, attributes=attributes)


def add_files(state: Trace, parent: str) -> None:
    """Add the spans of the files that a call gave or showed, below the span of the call."""
    if parent not in state.spans:
        parent = RUN
    for recorded in state.files:
        match recorded.entry:
            case e.FileAdded() as added:
                _add_file(state, recorded, parent, added)
            case e.FileRead() as read:
                _add_part(state, recorded, parent, read)
            case _:
                pass
    state.files = []


def _add_file(state: Trace, recorded: e.Recorded, parent: str, added: e.FileAdded) -> None:
    """Add a file that the run got, or learned of. Its name may come from an outsider, and so is in no span."""
    media_type = shown_media_type(added.media_type)
    status = "listed"
    if added.body:
        status = "stored"
    attributes = {"gofer.file.id": added.file, "gofer.file.type": media_type, "gofer.file.size": added.size}
    _add(state, recorded, parent, f"{added.file} ({media_type}, {added.size:,} bytes)", status, attributes)


def _add_part(state: Trace, recorded: e.Recorded, parent: str, read: e.FileRead) -> None:
    attributes = {
        "gofer.file.id": read.file,
        "gofer.file.unit": read.unit,
        "gofer.file.start": read.start,
        "gofer.file.stop": read.stop,
    }
    _add(state, recorded, parent, f"{read.file} {read.unit} {read.start}–{read.stop}", "read", attributes)


def _add(
    state: Trace, recorded: e.Recorded, parent: str, title: str, status: str, attributes: Mapping[str, object]
) -> None:
    span_id = state.number("file")
    name = f"file {title}"
    state.open(recorded, id=span_id, parent=parent, kind="file", name=name, status=status, attributes=attributes)
    state.update(span_id, ended=recorded)


def _identity(call: str, tool: str) -> dict[str, object]:
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": call}


def _parent(state: Trace, call: str) -> str:
    """Return the parent of a call: the model for a call of a model, the run for a call of the run or its script."""
    if is_own(call):
        return RUN
    return state.llm


def _open_without_intent(state: Trace, recorded: e.Recorded, call: str) -> None:
    """Add the span of a call that was refused, or that an earlier run made, if it has none."""
    if call in state.spans:
        return
    tool = _tool_without_intent(state, call)
    identity = _identity(call, tool)
    state.open(recorded, id=call, parent=_parent(state, call), kind="tool", name=tool, attributes=identity)


def _tool_without_intent(state: Trace, call: str) -> str:
    """Return the tool of a call that was refused before it was made, or that an earlier run made."""
    tool = state.asked.get(call, "")
    if is_of_a_script(call):
        tool = call.split(":")[1]
    elif is_own(call):
        tool = call.partition("/")[0]
    if _TOOL.fullmatch(tool):
        return tool
    return "(no tool name)"
