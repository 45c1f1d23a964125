"""The trace of a run: one set of spans with OpenTelemetry's GenAI names, for every reader of a run.

Spans carry names, counts and statuses, never contents. A step without an outcome is a span without an end.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from gofer.journal import entries as e
from gofer.projections.tracing import call_spans, model_spans
from gofer.projections.tracing.evaluation_events import add_grades
from gofer.projections.tracing.spans import RUN, Span, Trace, timestamp, without_empty

_WAITS: Mapping[e.ParkReason, str] = {
    "quiet_time": "wait for sent requests to land",
    "model": "wait for a model",
    "approval": "wait for an approval",
    "earlier_run": "wait for an earlier run",
    "rate_limit": "wait for a rate limit",
    "outage": "wait for the end of an outage",
}
_FAILED = frozenset({"failed", "needs_attention"})


def project(entries: Iterable[e.Recorded]) -> tuple[Span, ...]:
    """Return the spans of a whole journal; the first is the run itself."""
    state = Trace()
    for recorded in entries:
        fold(state, recorded)
    return tuple(state.spans.values())


def fold(state: Trace, recorded: e.Recorded) -> None:
    """Add one more entry to the trace, in place."""
    match recorded.entry:
        case e.RunAccepted() as accepted:
            _accept(state, recorded, accepted)
        case e.RunOwned() | e.RunParked() | e.RunHandedOver() as change:
            _change_owner(state, recorded, change)
        case e.RunStarted() | e.RunCancelled() | e.RunRetried() as change:
            _describe_run(state, change)
            state.update(RUN, state.met(recorded))
        case e.LlmRequest() as request:
            model_spans.ask(state, recorded, request)
        case e.LlmResponse() as response:
            model_spans.answer(state, recorded, response)
            call_spans.expect(state, response.tool_calls)
        case e.SubagentStarted() as asked:
            model_spans.start_subagent(state, recorded, asked)
        case e.SubagentFinished() as finished:
            model_spans.finish_subagent(state, recorded, finished)
        case e.ToolCall() as intent:
            call_spans.begin(state, recorded, intent)
        case e.ToolResult() as result:
            call_spans.end(state, recorded, result)
        case e.ToolUnknown(call=call):
            call_spans.end_unknown(state, recorded, call)
        case e.CallDeferred() as deferred:
            _defer(state, recorded, deferred)
        case e.ApprovalRequested() | e.ApprovalDecided() as change:
            call_spans.approve(state, recorded, change)
        case e.FileAdded() | e.FileRead():
            state.files.append(recorded)
        case e.MessageReceived():
            call_spans.add_files(state, RUN)
        case e.ContextCompacted() as compacted:
            call_spans.add_files(state, model_spans.compact(state, recorded, compacted))
        case e.RunFinished() as finished:
            _finish(state, recorded, finished)
        case e.RunGraded() as graded:
            add_grades(state, graded)
        case e.PermitRenewed() | e.RunConcluded() | e.ApprovalClicked() | e.ValueRecorded():
            pass
        case e.SkillLoaded() | e.PlanUpdated() | e.RunChecked() | e.FeedbackGiven() | e.RunReviewed():
            pass  # the span of the call that caused the change has the summary; what follows the end has no duration
        case _:
            assert_never(recorded.entry)


def _accept(state: Trace, recorded: e.Recorded, accepted: e.RunAccepted) -> None:
    attributes = {"gofer.event.kind": accepted.event.kind, "gofer.workflow": accepted.workflow}
    name = accepted.workflow
    state.open(recorded, id=RUN, parent=None, kind="run", name=name, status="accepted", attributes=attributes)


def _describe_run(state: Trace, change: e.RunStarted | e.RunCancelled | e.RunRetried) -> None:
    match change:
        case e.RunStarted(bundle=bundle, continues=earlier):
            state.update(RUN, without_empty({"gofer.bundle": bundle, "gofer.continues": earlier}))
        case e.RunCancelled(by=by):
            state.update(RUN, {"gofer.cancelled_by": by})
        case e.RunRetried(by=by):
            state.update(RUN, {"gofer.retried_by": by})


def _change_owner(state: Trace, recorded: e.Recorded, change: e.RunOwned | e.RunParked | e.RunHandedOver) -> None:
    match change:
        case e.RunOwned():
            _take_over(state, recorded)
        case e.RunParked() as parked:
            state.update(RUN, status="parked")
            _park(state, recorded, parked)
        case e.RunHandedOver(reason=reason):
            state.update(RUN, status="accepted")
            if reason == "interrupted":
                state.add_error(recorded, "interrupted hand-over", {"error.type": "interrupted"})
    state.owned = isinstance(change, e.RunOwned)


def _take_over(state: Trace, recorded: e.Recorded) -> None:
    if state.owned:
        state.add_error(recorded, "crashed owner", {"error.type": "crashed_owner"})
    model_spans.lose_attempts(state, recorded)
    state.update(state.wait, status="over", ended=recorded)
    state.wait = ""
    state.update(RUN, {"gofer.owner": recorded.owner}, status="running")


def _park(state: Trace, recorded: e.Recorded, parked: e.RunParked) -> None:
    """Begin the wait of a run that no worker continues."""
    attributes = {"gofer.wait.reason": parked.reason, "gofer.wait.until": timestamp(parked.until)}
    if parked.reason in ("rate_limit", "outage") and state.system:
        attributes["gofer.system"] = state.system
    state.wait = state.number("wait")
    state.open(recorded, id=state.wait, kind="wait", name=_WAITS[parked.reason], status="parked", attributes=attributes)


def _defer(state: Trace, recorded: e.Recorded, deferred: e.CallDeferred) -> None:
    """End the attempt of a model, and mark the call that waits.

    The next attempt of a model is a span of its own. A call of a tool or of a subagent stays one span.
    """
    attributes: dict[str, object] = {"gofer.deferred": deferred.reason}
    if deferred.system:
        attributes["gofer.system"] = deferred.system
    if error := deferred.provider_error:
        attributes |= without_empty(
            {
                "gofer.provider.code": error.code,
                "gofer.provider.type": error.type,
                "gofer.provider.parameter": error.parameter,
            }
        )
        attributes["error.type"] = error.failure
    if model_spans.defer(state, recorded, deferred.call, attributes):
        attributes = {"gofer.deferred": deferred.reason}
    call_spans.defer(state, recorded, deferred, attributes)


def _finish(state: Trace, recorded: e.Recorded, finished: e.RunFinished) -> None:
    """End the span of the run, and all spans that are open or wait for an attempt that never came."""
    call_spans.add_files(state, RUN)
    status_of_waiting = "error"
    if finished.status == "cancelled":
        status_of_waiting = "closed"
    last_attempts = set(state.attempts.values())
    for span in list(state.spans.values()):
        ended = None
        if span.end is None:
            ended = recorded
        followed = span.kind == "llm" and span.id not in last_attempts
        if span.status == "deferred" and not followed:
            state.update(span.id, state.waited(span.id, recorded.at), status=status_of_waiting, ended=ended)
        elif ended is not None:
            _close(state, span, ended)
    attributes = {"gofer.reason": finished.reason, "error.type": finished.cause, "gofer.system": finished.system}
    state.update(RUN, without_empty(attributes), status=finished.status, ended=recorded)
    if finished.status in _FAILED:
        cause = without_empty({"error.type": finished.cause or finished.status, "gofer.system": finished.system})
        state.add_error(recorded, "failed end", cause)


def _close(state: Trace, span: Span, ended: e.Recorded) -> None:
    """End a span that was open when the run ended."""
    match span.kind:
        case "approval" | "wait":
            state.update(span.id, status="closed", ended=ended)
        case "llm" | "agent" | "compaction":
            state.update(span.id, status="error", ended=ended)
        case "run" | "tool" | "file" | "error":
            pass  # the run ends below, a call without an outcome stays in doubt, and the others have no duration
        case _:
            assert_never(span.kind)
