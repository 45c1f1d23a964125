"""What did a run do, when, and how did each step go? As spans, with OpenTelemetry's GenAI names.

Spans carry names, counts and statuses, never contents. A step without an outcome is a span without an end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import assert_never

from gofer.journal.entries import (
    ApprovalClicked,
    ApprovalDecided,
    ApprovalRequested,
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
    SubagentFinished,
    SubagentStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
    ValueRecorded,
)
from gofer.journal.workspace import ContextCompacted, FileAdded, FileRead, PlanUpdated, SkillLoaded


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a run. `start` and `end` are unix milliseconds; `end` is None while it is open or in doubt."""

    id: str
    parent: str | None
    kind: str
    """`run`, `llm`, `tool` or `approval`."""
    name: str
    status: str
    start: int
    end: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])

    def to_json(self) -> dict[str, object]:
        """`{id, parent, kind, name, status, start, end, attributes}`, times as RFC 3339 in UTC."""
        return {
            "id": self.id,
            "parent": self.parent,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "start": timestamp(self.start),
            "end": None if self.end is None else timestamp(self.end),
            "attributes": dict(self.attributes),
        }


@dataclass(slots=True)
class Trace:
    """The spans of one run so far, by id, in the order in which they began."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    llm_calls: int = 0
    llm: str = ""
    """Id of the model call under way or last ended."""
    compactions: int = 0


def project(entries: Iterable[Recorded]) -> tuple[Span, ...]:
    """The spans of a whole journal; the first is the run itself."""
    state = Trace()
    for recorded in entries:
        state = fold(state, recorded)
    return tuple(state.spans.values())


def fold(state: Trace, recorded: Recorded) -> Trace:
    """The trace after one more entry; the state given is used up."""
    at = recorded.at
    match recorded.entry:
        case RunAccepted(workflow=workflow, event=event):
            attributes = {"gofer.event.kind": event.kind, "gofer.workflow": workflow}
            state.spans["run"] = Span("run", None, "run", workflow, "accepted", at, None, attributes)
        case RunOwned() | RunParked() | RunHandedOver() as change:
            _change_hands(state, recorded.owner, change)
        case RunStarted(bundle=bundle, continues=earlier):
            _update(state, "run", {"gofer.bundle": bundle} | ({"gofer.continues": earlier} if earlier else {}))
        case LlmRequest() as request:
            _ask(state, at, request)
        case LlmResponse() as response:
            _hear(state, at, response)
        case SubagentStarted() as subagent:
            _ask_aside(state, at, subagent)
        case SubagentFinished(call=call, status=status) as subagent:
            _update(state, call, _answered(subagent), status=status, end=at)
        case ToolCall() as intent:
            _begin(state, at, intent)
        case ToolResult() as result:
            _settle(state, at, result)
        case ToolUnknown(call=call):
            _update(state, call, status="unknown", end=at)
        case RunFinished() as finished:
            _finish(state, at, finished)
        case RunCancelled(by=by):
            _update(state, "run", {"gofer.cancelled_by": by})
        case CallDeferred(call=call, why=why):
            _defer(state, at, call, why)
        case ApprovalRequested() | ApprovalDecided() as change:
            _approve(state, at, change)
        case MessageReceived() | PermitRenewed() | RunConcluded() | ApprovalClicked() | ValueRecorded():
            pass
        case ContextCompacted(turns=turns, by=by):
            state.compactions += 1
            _update(
                state,
                f"compaction/{state.compactions}",
                {"gofer.compacted.turns": list(turns), "gofer.compacted.by": by},
            )
        case FileAdded() | FileRead() | SkillLoaded() | PlanUpdated():
            pass  # said by the call that it came of
        case _:
            assert_never(recorded.entry)
    return state


def timestamp(at: int) -> str:
    """Unix milliseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ask(state: Trace, at: int, request: LlmRequest) -> None:
    state.llm_calls += 1
    state.llm = f"llm/{state.llm_calls}"
    model = str(request.params.get("model", ""))
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gofer.prompt.through": request.through,
        "gofer.prompt.prefix_sha256": request.prefix_sha256,
    }
    if weights := request.weights:
        attributes |= {"gofer.context.window": weights.window, "gofer.context.expected": weights.expected}
        attributes |= {f"gofer.context.{role}": tokens for role, tokens in weights.roles.items()}
    state.spans[state.llm] = Span(state.llm, "run", "llm", f"chat {model}", "open", at, None, attributes)


def _hear(state: Trace, at: int, response: LlmResponse) -> None:
    attributes = {**_answered(response), "gen_ai.response.finish_reasons": [response.finish]}
    _update(state, state.llm, attributes, status="ok", end=at)


def _answered(answer: LlmResponse | SubagentFinished) -> dict[str, object]:
    return {
        "gen_ai.response.model": answer.model,
        "gen_ai.usage.input_tokens": answer.usage.input_tokens,
        "gen_ai.usage.output_tokens": answer.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": answer.usage.cached_tokens,
        "gofer.cost_usd": answer.cost_usd,
        "gofer.took_ms": answer.took_ms,
    }


def _ask_aside(state: Trace, at: int, asked: SubagentStarted) -> None:
    """A subagent that is asked again, by another worker or another model, stays one span."""
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": asked.name,
        "gen_ai.request.model": str(asked.params.get("model", "")),
    }
    start = state.spans[asked.call].start if asked.call in state.spans else at
    name = f"subagent {asked.name}"
    state.spans[asked.call] = Span(asked.call, "run", "llm", name, "open", start, None, attributes)


def _defer(state: Trace, at: int, call: str, why: str) -> None:
    """An attempt that got no answer is over; the next one is a span of its own."""
    span_id = state.llm if call == "model" else call  # or that of a subagent
    _update(state, span_id, {"gofer.deferred": why}, status="deferred", end=at)


def _begin(state: Trace, at: int, call: ToolCall) -> None:
    # What a model asked for belongs to its answer; what the run or its script does, to the run.
    parent = "run" if "/" in call.call or not state.llm else state.llm
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.call,
        "gofer.effect": call.effect,
    }
    state.spans[call.call] = Span(call.call, parent, "tool", call.tool, "open", at, None, attributes)


def _change_hands(state: Trace, owner: str, change: RunOwned | RunParked | RunHandedOver) -> None:
    match change:
        case RunOwned():
            _update(state, "run", {"gofer.owner": owner}, status="running")
        case RunParked(why=why):
            _update(state, "run", {"gofer.parked": why}, status="parked")
        case RunHandedOver():
            _update(state, "run", status="accepted")


def _approve(state: Trace, at: int, change: ApprovalRequested | ApprovalDecided) -> None:
    """A request is a span from when it was asked to when it was decided."""
    name = f"{'approval' if change.about == 'call' else 'leaving'}/{change.call}"
    if isinstance(change, ApprovalDecided):
        named = {"gofer.approval.by": change.by} if change.by else {}
        return _update(state, name, named, status=change.decision, end=at)
    attributes = {"gen_ai.tool.name": change.tool, "gofer.approval.until": timestamp(change.until)}
    attributes["gofer.approval.asked"] = ", ".join(change.by)
    state.spans[name] = Span(
        name, state.llm or "run", "approval", f"approval of {change.tool}", "open", at, None, attributes
    )
    return None


def _settle(state: Trace, at: int, result: ToolResult) -> None:
    if result.call not in state.spans:
        state.spans[result.call] = Span(result.call, state.llm or "run", "tool", _uncalled(result), result.status, at)
    end = min(at, state.spans[result.call].start + result.took_ms) if result.took_ms else at
    attributes = {"gofer.summary": result.summary} if result.summary else {}
    _update(state, result.call, attributes, status=result.status, end=end)


def _uncalled(result: ToolResult) -> str:
    """What stands for a call that had no intent: it was refused, or an earlier run had made it."""
    return "(refused)" if result.status == "refused" else "(done before)"


def _finish(state: Trace, at: int, finished: RunFinished) -> None:
    """A model call that never got an answer ended, at the latest, with the run; so did a wait for a decision."""
    for span in list(state.spans.values()):
        if span.kind in ("llm", "approval") and span.end is None:
            _update(state, span.id, status="error" if span.kind == "llm" else "closed", end=at)
    attributes = {"gofer.reason": finished.reason} if finished.reason else {}
    _update(state, "run", attributes, status=finished.status, end=at)


def _update(
    state: Trace,
    span_id: str,
    attributes: Mapping[str, object] | None = None,
    *,
    status: str = "",
    end: int | None = None,
) -> None:
    if span := state.spans.get(span_id):
        state.spans[span_id] = replace(
            span,
            status=status or span.status,
            end=span.end if end is None else end,
            attributes={**span.attributes, **(attributes or {})},
        )
