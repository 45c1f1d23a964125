"""The spans of a run, with OpenTelemetry's GenAI names: its steps, their times and their outcomes.

Spans carry names, counts and statuses, never contents. A step without an outcome is a span without an end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import assert_never

from gofer.journal import entries as e
from gofer.journal.purposes import is_own

_PARAMETERS = {
    "model": "gen_ai.request.model",
    "endpoint": "gofer.endpoint",
    "temperature": "gen_ai.request.temperature",
    "seed": "gen_ai.request.seed",
    "max_completion_tokens": "gen_ai.request.max_tokens",
}
"""The attribute names of OpenTelemetry and of Gofer for the parameters of a request."""


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a run. `start` and `end` are unix milliseconds; `end` is None while the step is open or in doubt."""

    id: str
    parent: str | None
    kind: str
    """`run`, `llm`, `tool`, `agent` (a subagent with its own run) or `approval`."""
    name: str
    status: str
    start: int
    end: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    began_in: str = ""
    """The address of the entry with its start."""
    ended_in: str = ""
    """The address of the entry with its end; empty before that."""

    def to_json(self) -> dict[str, object]:
        """Return `{id, parent, kind, name, status, start, end, attributes}` with times as RFC 3339 in UTC."""
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
    """The spans of one run so far by id, in the order of their starts."""

    spans: dict[str, Span] = field(default_factory=dict[str, Span])
    llm_calls: int = 0
    llm: str = ""
    """The id of the running or last model call."""
    compactions: int = 0
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    """The time of the first wait of each call without an outcome, by the id of its span."""


def project(entries: Iterable[e.Recorded]) -> tuple[Span, ...]:
    """Return the spans of a whole journal; the first is the run itself."""
    state = Trace()
    for recorded in entries:
        fold(state, recorded)
    return tuple(state.spans.values())


def fold(state: Trace, recorded: e.Recorded) -> None:
    """Add one more entry to the trace, in place."""
    match recorded.entry:
        case e.RunAccepted(workflow=workflow, event=event):
            attributes = {"gofer.event.kind": event.kind, "gofer.workflow": workflow}
            _open(
                state,
                recorded,
                id="run",
                parent=None,
                kind="run",
                name=workflow,
                status="accepted",
                attributes=attributes,
            )
        case e.RunOwned() | e.RunParked() | e.RunHandedOver() as change:
            _change_owner(state, recorded.owner, change)
        case e.RunStarted(bundle=bundle, continues=earlier):
            _update(state, "run", _without_empty({"gofer.bundle": bundle, "gofer.continues": earlier}))
        case e.LlmRequest() as request:
            _ask(state, recorded, request)
        case e.LlmResponse() as response:
            _answer(state, recorded, response)
        case e.SubagentStarted(run="") as subagent:
            _start_subagent(state, recorded, subagent)
        case e.SubagentStarted() as subagent:
            _start_agent(state, recorded, subagent)
        case e.SubagentFinished(call=call, status=status) as subagent:
            waited = _waited(state, call, recorded.at - subagent.duration_ms)
            _update(state, call, {**_answer_attributes(subagent), **waited}, status=status, ended=recorded)
        case e.ToolCall() as intent:
            _start_call(state, recorded, intent)
        case e.ToolResult() as result:
            _end_call(state, recorded, result)
        case e.ToolUnknown(call=call):
            _update(state, call, _waited(state, call, recorded.at), status="unknown", ended=recorded)
        case e.RunFinished() as finished:
            _finish(state, recorded, finished)
        case e.RunCancelled(by=by):
            _update(state, "run", {"gofer.cancelled_by": by})
        case e.RunRetried(by=by):
            _update(state, "run", {"gofer.retried_by": by})
        case e.CallDeferred() as deferred:
            _defer(state, recorded, deferred)
        case e.ApprovalRequested() | e.ApprovalDecided() as change:
            _approve(state, recorded, change)
        case e.MessageReceived() | e.PermitRenewed() | e.RunConcluded() | e.ApprovalClicked() | e.ValueRecorded():
            pass
        case e.ContextCompacted(turns=turns, by=by):
            state.compactions += 1
            _update(
                state,
                f"compaction/{state.compactions}",
                {"gofer.compacted.turns": list(turns), "gofer.compacted.by": by},
            )
        case e.FileAdded() | e.FileRead() | e.SkillLoaded() | e.PlanUpdated() | e.RunChecked():
            pass  # the span of the call that caused the change has the summary; checks have no duration
        case _:
            assert_never(recorded.entry)


def timestamp(at: int) -> str:
    """Return unix milliseconds as RFC 3339 in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _open(
    state: Trace,
    recorded: e.Recorded,
    *,
    id: str,  # noqa: A002 - as the field of a span
    kind: str,
    name: str,
    parent: str | None = "run",
    status: str = "open",
    start: int | None = None,
    attributes: Mapping[str, object] | None = None,
) -> None:
    """Add a span that an entry starts, at `start` or else at the time of the entry."""
    state.spans[id] = Span(
        id=id,
        parent=parent,
        kind=kind,
        name=name,
        status=status,
        start=start or recorded.at,
        attributes=attributes or {},
        began_in=recorded.address,
    )


def _ask(state: Trace, recorded: e.Recorded, request: e.LlmRequest) -> None:
    state.llm_calls += 1
    state.llm = f"llm/{state.llm_calls}"
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "chat",
        **_request_attributes(request.params),
        "gofer.prompt.through": request.through,
        "gofer.prompt.prefix_sha256": request.prefix_sha256,
    }
    if weights := request.weights:
        attributes |= {"gofer.context.window": weights.window, "gofer.context.expected": weights.expected}
        attributes |= {f"gofer.context.{role}": tokens for role, tokens in weights.roles.items()}
    name = f"chat {request.params.get('model', '')}"
    _open(state, recorded, id=state.llm, kind="llm", name=name, attributes=attributes)


def _request_attributes(params: Mapping[str, object]) -> dict[str, object]:
    return {attribute: params[name] for name, attribute in _PARAMETERS.items() if name in params}


def _answer(state: Trace, recorded: e.Recorded, response: e.LlmResponse) -> None:
    attributes = {**_answer_attributes(response), "gen_ai.response.finish_reasons": [response.finish_reason]}
    _update(state, state.llm, attributes, status="ok", ended=recorded)


def _answer_attributes(answer: e.LlmResponse | e.SubagentFinished) -> dict[str, object]:
    below: dict[str, object] = {}
    if isinstance(answer, e.SubagentFinished) and answer.run:
        below = {"gofer.llm_calls": answer.llm_calls, "gofer.tool_calls": answer.tool_calls}
    return {
        **below,
        "gen_ai.response.model": answer.model,
        "gen_ai.usage.input_tokens": answer.usage.input_tokens,
        "gen_ai.usage.output_tokens": answer.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": answer.usage.cached_tokens,
        "gofer.cost_usd": answer.cost_usd,
        "gofer.duration_ms": answer.duration_ms,
    }


def _start_subagent(state: Trace, recorded: e.Recorded, asked: e.SubagentStarted) -> None:
    """Add the span of a subagent, or reopen it if the subagent is asked again by another worker or model."""
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": asked.name,
        **_request_attributes(asked.params),
    }
    if earlier := state.spans.get(asked.call):
        if asked.call in state.waiting:
            attributes["gofer.deferred"] = earlier.attributes.get("gofer.deferred", "")
        again = replace(earlier, status="open", end=None, ended_in="", attributes=attributes)
        state.spans[asked.call] = again
        return
    name = f"subagent {asked.name}"
    _open(state, recorded, id=asked.call, kind="llm", name=name, attributes=attributes)


def _start_agent(state: Trace, recorded: e.Recorded, asked: e.SubagentStarted) -> None:
    """Add the span of a subagent with its own run. A tool call that asked for it becomes that span."""
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": asked.name,
        "gofer.subagent.run": asked.run,
    }
    name = f"subagent {asked.name}"
    earlier = state.spans.get(asked.call)
    if earlier is None:
        _open(state, recorded, id=asked.call, kind="agent", name=name, attributes=attributes)
    elif earlier.kind != "agent":
        state.spans[asked.call] = replace(earlier, kind="agent", name=name, attributes=attributes)


def _defer(state: Trace, recorded: e.Recorded, deferred: e.CallDeferred) -> None:
    """End the span of an attempt of a model, or mark the span of a call that waits.

    The next attempt of a model is a span of its own. A call of a tool or of a subagent stays one span, from its first
    attempt to its outcome.
    """
    attributes: dict[str, object] = {"gofer.deferred": deferred.reason}
    if deferred.system:
        attributes["gofer.system"] = deferred.system
    if error := deferred.provider_error:
        attributes |= _without_empty(
            {
                "gofer.provider.code": error.code,
                "gofer.provider.type": error.type,
                "gofer.provider.parameter": error.parameter,
            }
        )
        attributes["error.type"] = error.failure
    if deferred.call == "model":
        _update(state, state.llm, attributes, status="deferred", ended=recorded)
        return
    _update(state, deferred.call, attributes, status="deferred")
    if deferred.until and deferred.call in state.spans:
        state.waiting.setdefault(deferred.call, recorded.at)


def _waited(state: Trace, call: str, until: int) -> dict[str, object]:
    """Return how long a call waited before the attempt with its outcome; empty if the call never waited."""
    since = state.waiting.pop(call, None)
    if since is None:
        return {}
    return {"gofer.waited_ms": max(0, until - since)}


def _start_call(state: Trace, recorded: e.Recorded, call: e.ToolCall) -> None:
    # A call of a model belongs below the model's span, a call of the run or its script below the run's span.
    parent = state.llm or "run"
    if is_own(call.call):
        parent = "run"
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.call,
        "gofer.effect": call.effect,
    }
    start = recorded.at
    if call.call in state.waiting:
        earlier = state.spans[call.call]
        start = earlier.start
        attributes = {**earlier.attributes, **attributes}
    _open(state, recorded, id=call.call, parent=parent, kind="tool", name=call.tool, start=start, attributes=attributes)


def _change_owner(state: Trace, owner: str, change: e.RunOwned | e.RunParked | e.RunHandedOver) -> None:
    match change:
        case e.RunOwned():
            _update(state, "run", {"gofer.owner": owner}, status="running")
        case e.RunParked(reason=why):
            _update(state, "run", {"gofer.parked": why}, status="parked")
        case e.RunHandedOver():
            _update(state, "run", status="accepted")


def _approve(state: Trace, recorded: e.Recorded, change: e.ApprovalRequested | e.ApprovalDecided) -> None:
    """Add the span of an approval request, or end it with the decision."""
    prefix = change.about
    if change.about == "call":
        prefix = "approval"
    span_id = f"{prefix}/{change.call}"
    if isinstance(change, e.ApprovalDecided):
        attributes = _without_empty({"gofer.approval.by": change.by})
        _update(state, span_id, attributes, status=change.decision, ended=recorded)
        return
    attributes = {
        "gen_ai.tool.name": change.tool,
        "gofer.approval.until": timestamp(change.until),
        "gofer.approval.asked": ", ".join(change.by),
    }
    parent = state.llm or "run"
    title = f"approval of {change.tool}"
    _open(state, recorded, id=span_id, parent=parent, kind="approval", name=title, attributes=attributes)


def _end_call(state: Trace, recorded: e.Recorded, result: e.ToolResult) -> None:
    if result.call not in state.spans:
        parent = state.llm or "run"
        name = _name_without_call(result)
        _open(state, recorded, id=result.call, parent=parent, kind="tool", name=name, status=result.status)
    attributes = _without_empty({"gofer.summary": result.summary})
    if result.status == "error":
        code = (result.details or {}).get("code")
        if isinstance(code, str) and code:
            attributes["error.type"] = code
    ended = recorded
    if result.call in state.waiting:
        attributes |= _waited(state, result.call, recorded.at - result.duration_ms)
    elif result.duration_ms:
        ended = replace(recorded, at=min(recorded.at, state.spans[result.call].start + result.duration_ms))
    _update(state, result.call, attributes, status=result.status, ended=ended)


def _name_without_call(result: e.ToolResult) -> str:
    """Return the name of the span for a result without an intent: refused, or done by an earlier run."""
    if result.status == "refused":
        return "(refused)"
    return "(done before)"


def _finish(state: Trace, recorded: e.Recorded, finished: e.RunFinished) -> None:
    """End the span of the run, and all spans that are open or wait for an attempt that never came."""
    status_of_waiting = "error"
    if finished.status == "cancelled":
        status_of_waiting = "closed"
    for span in list(state.spans.values()):
        ended = None
        if span.end is None:
            ended = recorded
        followed = span.id.startswith("llm/") and span.id != state.llm
        if span.status == "deferred" and not followed:
            waited = _waited(state, span.id, recorded.at)
            _update(state, span.id, waited, status=status_of_waiting, ended=ended)
        elif span.kind == "approval" and ended:
            _update(state, span.id, status="closed", ended=ended)
        elif span.kind in ("llm", "agent") and ended:
            _update(state, span.id, status="error", ended=ended)
    attributes = {"gofer.reason": finished.reason, "error.type": finished.cause, "gofer.system": finished.system}
    _update(state, "run", _without_empty(attributes), status=finished.status, ended=recorded)


def _without_empty(attributes: Mapping[str, str]) -> dict[str, object]:
    return {name: value for name, value in attributes.items() if value}


def _update(
    state: Trace,
    span_id: str,
    attributes: Mapping[str, object] | None = None,
    *,
    status: str = "",
    ended: e.Recorded | None = None,
) -> None:
    span = state.spans.get(span_id)
    if span is None:
        return
    span = replace(span, status=status or span.status, attributes={**span.attributes, **(attributes or {})})
    if ended is not None:
        span = replace(span, end=ended.at, ended_in=ended.address)
    state.spans[span_id] = span
