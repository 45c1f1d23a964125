"""The JSON of one run for programs: `GET /runs/{id}` and `GET /runs/{id}/trace`."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from gofer.projections.tracing.trace import timestamp
from gofer.projections.tracing.whole_trace import whole_trace
from gofer.projections.words.follow_ups import feedback_json, review_json
from gofer.projections.words.step_details import checks_of, eval_of, grades_of, usage_of
from gofer.projections.words.steps import AgentSetup, Step, cut
from gofer.runtime.run_record import RunRecord
from gofer.values.canonical_json import as_object

PAGE_BYTES = 3_000_000
"""The most bytes of steps and spans in one answer. An answer of a Lambda function has at most 6 MB with its escapes."""
TEXT = 500_000
"""The most characters of one input or output."""
_DETAIL = 50_000
"""The most characters of one text in the details of a step."""
_SHORT = 20_000
"""The most characters of an input or output of a step that is too large otherwise."""
_MOST_SPANS = 5_000
_SPAN_TEXT = 2_000
"""The most characters of one text of a span."""


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
        "eval": eval_of(progress),
        "grades": grades_of(progress),
        "feedback": feedback_json(progress.follow_ups),
        "review": review_json(progress.follow_ups),
        "usage": usage_of(progress, progress.last_at),
        "links": links(record),
        "replay": record.replay_command,
    }
    if concluded := progress.concluded:
        shown |= {"answer": concluded.text, "output": concluded.output}
    return _with_damage(shown, record)


def trace_json(record: RunRecord, *, full: bool, after: int, most: int = PAGE_BYTES) -> Mapping[str, object]:
    """Return the steps of a run after step `after`, of at most `most` bytes together, and `next` if there are more.

    The first answer also has the spans of the run, with at most half of the bytes.
    """
    shown: dict[str, object] = {"run": record.run, "status": record.status}
    steps: list[Mapping[str, object]] = []
    spans: list[Mapping[str, object]] = []
    if not after:
        spans = _spans(record, most // 2)
    used = _size(spans)
    for step in record.steps():
        if step.step <= after:
            continue
        entry = _step(step, most // 2, full=full)
        used += _size(entry)
        if steps and used > most:
            shown["next"] = _next(record, step.step - 1, full=full)
            break
        steps.append(entry)
    shown["steps"] = steps
    if not after:
        shown["spans"] = spans
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


def _step(step: Step, most: int, *, full: bool) -> Mapping[str, object]:
    """Return a step of at most `most` bytes: first its long texts are cut, then its details are left out."""
    shown = step.to_json(full=full)
    if full:
        shown |= {"input": cut(step.input, TEXT), "output": cut(step.output, TEXT)}
        shown["details"] = _cut_texts(shown["details"], _DETAIL)
    if _size(shown) > most:
        shown["details"] = {"left_out": f"They are too long; `gofer trace {step.run} --full --json` has them."}
    if full and _size(shown) > most:
        shown |= {"input": cut(step.input, _SHORT), "output": cut(step.output, _SHORT)}
    return shown


def _spans(record: RunRecord, most: int) -> list[Mapping[str, object]]:
    """Return the first spans of a run, of at most `most` bytes together."""
    shown: list[Mapping[str, object]] = []
    used = 0
    for span in whole_trace(record.entries, record.subagents)[:_MOST_SPANS]:
        entry = {name: _cut_texts(value, _SPAN_TEXT) for name, value in span.to_json().items()}
        used += _size(entry)
        if used > most:
            break
        shown.append(entry)
    return shown


def _cut_texts(value: object, limit: int) -> object:
    """Return JSON with at most `limit` characters of each of its texts."""
    match value:
        case str():
            return cut(value, limit)
        case dict():
            return {cut(name, limit): _cut_texts(item, limit) for name, item in as_object(cast(object, value)).items()}
        case list() | tuple():
            return [_cut_texts(item, limit) for item in cast(Sequence[object], value)]
        case _:
            return value


def _size(shown: object) -> int:
    return len(json.dumps(shown, ensure_ascii=False).encode(errors="replace"))


def _next(record: RunRecord, after: int, *, full: bool) -> str:
    path = f"/runs/{record.run}/trace?after={after}"
    if full:
        return f"{path}&full=1"
    return path


def _with_damage(shown: Mapping[str, object], record: RunRecord) -> Mapping[str, object]:
    if record.damage:
        return {**shown, "damage": record.damage}
    return shown
