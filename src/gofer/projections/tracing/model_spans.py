"""The spans of models: each attempt of a model, the subagents that ask models, and compactions."""

from collections.abc import Mapping
from dataclasses import replace

from gofer.journal import entries as e
from gofer.journal.purposes import COMPACTION
from gofer.projections.tracing.spans import RUN, Trace, without_empty
from gofer.values.messages import asked_at

_PARAMETERS = {
    "model": "gen_ai.request.model",
    "endpoint": "gofer.endpoint",
    "temperature": "gen_ai.request.temperature",
    "seed": "gen_ai.request.seed",
    "max_completion_tokens": "gen_ai.request.max_tokens",
}
"""The attribute names of OpenTelemetry and of Gofer for the parameters of a request."""


def ask(state: Trace, recorded: e.Recorded, request: e.LlmRequest) -> None:
    """Begin an attempt of the run's model."""
    attributes: dict[str, object] = {
        "gofer.prompt.through": request.through,
        "gofer.prompt.prefix_sha256": request.prefix_sha256,
    }
    if weights := request.weights:
        attributes |= {"gofer.context.window": weights.window, "gofer.context.expected": weights.expected}
        attributes |= {f"gofer.context.{role}": tokens for role, tokens in weights.roles.items()}
        state.update(state.compacted, {"gofer.compacted.tokens_after": weights.expected})
        state.compacted = ""
    state.model = asked_at(request.params)
    if left_out := sum(thinker != state.model for thinker in state.thinkers):
        attributes["gofer.thoughts.left_out"] = left_out
    _begin_attempt(state, recorded, "model", request.params, attributes)


def answer(state: Trace, recorded: e.Recorded, response: e.LlmResponse) -> None:
    """End an attempt of the run's model with its answer."""
    state.exchanged = response.usage.input_tokens + response.usage.output_tokens
    if response.api and (response.extra or any(ask.extra for ask in response.tool_calls)):
        state.thinkers.append(state.model)
    found = {"gofer.api": response.api, "gofer.cache.miss": response.cache_miss}
    found["gofer.thoughts.ignored"] = response.ignored
    attributes = {
        **_usage(response),
        **without_empty(found),
        "gen_ai.response.finish_reasons": [response.finish_reason],
    }
    ended = recorded
    if response.duration_ms and state.llm in state.spans:
        # An answer is recorded with the calls that follow, so its entry is later than its end.
        ended = replace(recorded, at=min(recorded.at, state.spans[state.llm].start + response.duration_ms))
    state.update(state.llm, attributes, status="ok", ended=ended)


def start_subagent(state: Trace, recorded: e.Recorded, asked: e.SubagentStarted) -> None:
    """Begin a subagent, or an attempt of the model of a one-shot subagent."""
    if asked.run:
        _start_agent(state, recorded, asked)
    elif asked.call.startswith(f"{COMPACTION}/"):
        _start_compaction(state, recorded, asked.call)
        _begin_attempt(state, recorded, asked.call, asked.params)
    else:
        _start_one_shot(state, recorded, asked)
        _begin_attempt(state, recorded, asked.call, asked.params)


def finish_subagent(state: Trace, recorded: e.Recorded, finished: e.SubagentFinished) -> None:
    """End a subagent, and the attempt of a one-shot subagent, with the answer."""
    attributes: dict[str, object] = without_empty({"error.type": finished.code})
    if finished.run:
        attributes |= _usage(finished)
        attributes |= {"gofer.llm_calls": finished.llm_calls, "gofer.tool_calls": finished.tool_calls}
    else:
        _end_attempt(state, recorded, finished)
    attributes |= state.waited(finished.call, recorded.at - finished.duration_ms)
    span = state.spans.get(finished.call)
    if span is not None and span.kind == "compaction":
        # The compaction ends when the history is replaced, with or without this summary.
        state.update(finished.call, attributes)
        return
    state.update(finished.call, attributes, status=finished.status, ended=recorded)


def defer(state: Trace, recorded: e.Recorded, call: str, attributes: Mapping[str, object]) -> bool:
    """End an attempt without an answer; return whether the call asks a model."""
    attempt = state.attempts.get(call, "")
    if not attempt:
        return False
    state.update(attempt, attributes, status="deferred", ended=recorded)
    return True


def lose_attempts(state: Trace, recorded: e.Recorded) -> None:
    """End the open attempts, because an earlier owner did not record their answers."""
    for attempt in state.attempts.values():
        if state.spans[attempt].end is None:
            state.update(attempt, {"error.type": "lost"}, status="error", ended=recorded)


def compact(state: Trace, recorded: e.Recorded, compacted: e.ContextCompacted) -> str:
    """End a compaction, which has no earlier entry if code wrote the summary; return the id of its span."""
    span_id = state.number(COMPACTION)
    if span_id not in state.spans:
        _start_compaction(state, recorded, span_id)
    attributes = {"gofer.compacted.turns": list(compacted.turns), "gofer.compacted.by": compacted.by}
    state.update(span_id, attributes, status="ok", ended=recorded)
    state.compacted = span_id
    # The last turns stay, and their thoughts; an upper bound would need the messages.
    state.thinkers.clear()
    return span_id


def _begin_attempt(
    state: Trace,
    recorded: e.Recorded,
    call: str,
    params: Mapping[str, object],
    more: Mapping[str, object] | None = None,
) -> None:
    parent = RUN
    prefix = "llm"
    if call != "model":
        parent = call
        prefix = f"{call}/llm"
    requested = {attribute: params[name] for name, attribute in _PARAMETERS.items() if name in params}
    attributes = {"gen_ai.operation.name": "chat", **requested, **(more or {})}
    span_id = state.number(prefix)
    state.attempts[call] = span_id
    name = f"chat {params.get('model', '')}"
    state.open(recorded, id=span_id, parent=parent, kind="llm", name=name, attributes=attributes)


def _end_attempt(state: Trace, recorded: e.Recorded, finished: e.SubagentFinished) -> None:
    attempt = state.attempts.get(finished.call, "")
    if attempt and state.spans[attempt].end is None:
        code = without_empty({"error.type": finished.code})
        state.update(attempt, {**_usage(finished), **code}, status=finished.status, ended=recorded)
    elif finished.status == "error":
        # The run goes on without the answer of the last attempt, so no further attempt follows.
        state.update(attempt, status="error")


def _usage(answered: e.LlmResponse | e.SubagentFinished) -> dict[str, object]:
    return {
        **without_empty({"openai.response.system_fingerprint": answered.fingerprint}),
        "gen_ai.response.model": answered.model,
        "gen_ai.usage.input_tokens": answered.usage.input_tokens,
        "gen_ai.usage.output_tokens": answered.usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": answered.usage.cached_tokens,
        **without_empty(
            {
                "gen_ai.usage.cache_write.input_tokens": answered.usage.written_tokens,
                "gen_ai.usage.reasoning.output_tokens": answered.usage.reasoning_tokens,
            }
        ),
        "gofer.cost_usd": answered.cost_usd,
        "gofer.duration_ms": answered.duration_ms,
    }


def _start_one_shot(state: Trace, recorded: e.Recorded, asked: e.SubagentStarted) -> None:
    """Add the span of a one-shot subagent, or reopen it for the next attempt."""
    if asked.call in state.spans:
        state.update(asked.call, status="open")
        return
    # The question of a call is part of that call: `subagent/1.0` belongs to `1.0`.
    parent = asked.call.partition("/")[2]
    if parent not in state.spans:
        parent = RUN
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": asked.name}
    name = f"subagent {asked.name}"
    state.open(recorded, id=asked.call, parent=parent, kind="agent", name=name, attributes=attributes)


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
        state.open(recorded, id=asked.call, kind="agent", name=name, attributes=attributes)
    elif earlier.kind != "agent":
        state.spans[asked.call] = replace(earlier, kind="agent", name=name, attributes=attributes)


def _start_compaction(state: Trace, recorded: e.Recorded, span_id: str) -> None:
    if span_id in state.spans:
        return
    attributes: dict[str, object] = {}
    if state.exchanged:
        attributes["gofer.compacted.tokens_before"] = state.exchanged
    state.open(recorded, id=span_id, kind="compaction", name="compaction", attributes=attributes)
