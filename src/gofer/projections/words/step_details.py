"""The texts and details of steps that follow from one entry or one view of a journal."""

import json
from dataclasses import asdict

from gofer.journal.entries import LlmRequest, RunAccepted
from gofer.journal.workspace_entries import Todo
from gofer.projections.calls import Call, without_signatures
from gofer.projections.progress import Progress
from gofer.projections.requests.context import share_of
from gofer.values.canonical_json import as_object, as_text, encode_text

SHARE_DIGITS = 3
"""The digits of a share of the window."""


def usage_of(progress: Progress, now: int) -> dict[str, object]:
    """Return what a run used until `now` (unix milliseconds): tokens, cost, calls and durations."""
    return {
        "input_tokens": progress.usage.input_tokens,
        "output_tokens": progress.usage.output_tokens,
        "cached_tokens": progress.usage.cached_tokens,
        "written_tokens": progress.usage.written_tokens,
        "reasoning_tokens": progress.usage.reasoning_tokens,
        "cost_usd": progress.cost_usd,
        "known_cost_usd": progress.spent_usd,
        "llm_calls": progress.llm_calls,
        "tool_calls": progress.tool_calls,
        "duration_ms": max(0, now - progress.accepted_at),
        "owned_ms": progress.owned_ms(now),
    }


def checks_of(progress: Progress) -> list[dict[str, object]]:
    """Return the verdicts of the checks of a run; empty before its end."""
    if progress.checked is None:
        return []
    return [asdict(verdict) for verdict in progress.checked.verdicts]


def eval_of(progress: Progress) -> dict[str, object] | None:
    """Return the case that a run played in an eval, with its outcome; None for every other run."""
    graded = progress.follow_ups.graded
    if graded is None:
        return None
    return {
        "case": graded.case,
        "number": graded.number,
        "outcome": graded.outcome,
        "evidence": graded.evidence,
        "agent_version": graded.agent_version,
    }


def grades_of(progress: Progress) -> list[dict[str, object]]:
    """Return the grades of a run that an eval started; empty for every other run."""
    if progress.follow_ups.graded is None:
        return []
    return [asdict(grade) for grade in progress.follow_ups.graded.grades]


def event_details(accepted: RunAccepted) -> dict[str, object]:
    """Return the workflow and the event of a run, without the text of the event."""
    event = asdict(accepted.event)
    del event["text"]
    return {
        "workflow": accepted.workflow,
        "source": accepted.event.source,
        "event_kind": accepted.event.kind,
        "place": dict(accepted.event.place),
        "actor": accepted.event.actor.id,
        "parent": accepted.parent,
        "routes": [asdict(route) for route in accepted.routes],
        "event": event,
    }


def utilisation(entry: LlmRequest) -> dict[str, object]:
    """Return how much of the window in force a request was expected to fill."""
    weights = entry.weights
    if weights is None:
        return {"window": 0, "expected": 0, "utilisation": 0.0}
    share = share_of(weights.expected, weights.window)
    return {
        "window": weights.window,
        "expected": weights.expected,
        "utilisation": round(share, SHARE_DIGITS),
        "kinds": dict(weights.kinds),
    }


def reasoning(extra: str) -> str:
    """Return the reasoning in the fields that a provider expects back; empty without any."""
    if not extra:
        return ""
    fields = as_object(json.loads(extra))
    return as_text(fields.get("reasoning_content")) or as_text(fields.get("reasoning"))


def arguments_text(call: Call) -> str:
    """Return the arguments of a call as JSON, or as the model wrote them if they are no JSON object."""
    if call.asked_for:
        return call.asked_for
    if call.arguments is None:
        return ""
    return encode_text(without_signatures(call.id, call.arguments))


def todo_line(todo: Todo) -> str:
    """Return one item of a plan as a line."""
    line = f"{todo.status}: {todo.id}: {todo.description}"
    if todo.needs:
        return f"{line} (needs {todo.needs})"
    return line
