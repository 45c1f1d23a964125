"""The JSON of one run for programs: `GET /runs/{id}` and `GET /runs/{id}/trace`."""

import json
from collections.abc import Mapping

from gofer.projections.tracing.trace import timestamp
from gofer.projections.tracing.whole_trace import whole_trace
from gofer.projections.words.step_details import checks_of, usage_of
from gofer.projections.words.steps import AgentSetup, Step, cut
from gofer.runtime.run_record import RunRecord

PAGE_BYTES = 3_000_000
"""The most bytes of steps in one answer; an answer of a Lambda function has at most 6 MB with its spans."""
TEXT = 500_000
"""The most characters of one input or output."""
_MOST_SPANS = 5_000


def run_json(record: RunRecord) -> Mapping[str, object]:
    """Return what a run was, how it ended, and what it used."""
    progress = record.progress
    shown: dict[str, object] = {
        "run": record.run,
        "workflow": progress.workflow,
        "status": record.status,
        "reason": _reason(record),
        "accepted_at": timestamp(progress.accepted_at),
        "updated_at": timestamp(progress.last_at),
        "answer": "",
        "output": None,
        "checks": checks_of(progress),
        "usage": usage_of(progress, progress.last_at),
        "links": links(record),
    }
    if concluded := progress.concluded:
        shown |= {"answer": concluded.text, "output": concluded.output}
    return _with_damage(shown, record)


def trace_json(record: RunRecord, *, full: bool, after: int, most: int = PAGE_BYTES) -> Mapping[str, object]:
    """Return the steps of a run after step `after`, of at most `most` bytes together, and `next` if there are more.

    The first answer also has the spans of the run.
    """
    shown: dict[str, object] = {"run": record.run, "status": record.status}
    steps: list[Mapping[str, object]] = []
    used = 0
    for step in record.steps():
        if step.step <= after:
            continue
        entry = _step(step, full=full)
        used += len(json.dumps(entry, ensure_ascii=False).encode())
        if steps and used > most:
            shown["next"] = _next(record, step.step - 1, full=full)
            break
        steps.append(entry)
    shown["steps"] = steps
    if not after:
        spans = whole_trace(record.entries, record.subagents)
        shown["spans"] = [span.to_json() for span in spans[:_MOST_SPANS]]
    return _with_damage(shown, record)


def prompt_json(run: str, setup: AgentSetup) -> Mapping[str, object]:
    """Return the prompt and the tools that a run began with."""
    return {
        "run": run,
        "workflow": setup.workflow,
        "prompt_file": setup.prompt_file,
        "models": list(setup.models),
        "system": setup.system,
        "tools": list(setup.tools),
    }


def links(record: RunRecord) -> Mapping[str, str]:
    """Return the paths of a run: its page, its steps, its prompt, and the run that it continues; empty if none."""
    page = f"/runs/{record.run}"
    earlier = ""
    if record.progress.started is not None and record.progress.started.continues:
        earlier = f"/runs/{record.progress.started.continues}"
    return {"page": page, "trace": f"{page}/trace", "prompt": f"{page}/prompt", "continues": earlier}


def _reason(record: RunRecord) -> str:
    progress = record.progress
    if progress.finished is not None:
        return progress.finished.reason
    return progress.parked_reason


def _step(step: Step, *, full: bool) -> Mapping[str, object]:
    shown = step.to_json(full=full)
    if full:
        shown |= {"input": cut(step.input, TEXT), "output": cut(step.output, TEXT)}
    return shown


def _next(record: RunRecord, after: int, *, full: bool) -> str:
    path = f"/runs/{record.run}/trace?after={after}"
    if full:
        return f"{path}&full=1"
    return path


def _with_damage(shown: Mapping[str, object], record: RunRecord) -> Mapping[str, object]:
    if record.damage:
        return {**shown, "damage": record.damage}
    return shown
