"""The request that asks for the review of one run, and the answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from gofer.models.served_model import ServedModel
from gofer.projections.words.steps import Step
from gofer.runtime.run_record import RunRecord
from gofer.values.canonical_json import as_object, as_text, decode, encode
from gofer.values.errors import BadRequest
from gofer.workflows.load import Loaded

RULES = files("gofer.runtime.reviews").joinpath("rules.md").read_text("utf-8")
"""The system prompt of the reviewer."""
VERSION = 1
"""The version of the rules and of the material; verdicts of different versions are not compared."""
LONGEST_TEXT = 4_000
"""The most characters of the request, of the goal and of the answer."""
LONGEST_PART = 600
"""The most characters of the input or the output of a step."""
MOST_STEPS = 60
"""The most steps; of a longer run, as many of the first as of the last."""
_LONGEST_SENTENCE = 600
_KINDS = frozenset({"llm.response", "tool.call", "tool.result", "tool.unknown", "subagent.finished", "call.deferred"})
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)

Material = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A readable answer of the reviewer."""

    effective: bool
    why: str
    next_step: str
    goal_drift: bool
    drift: str


class Unreadable(Exception):
    """An answer that is no review. The message says why, for the reviewer and for people."""


def material_of(record: RunRecord) -> Material:
    """Return what the reviewer reads of a run, with limited texts."""
    progress = record.progress
    event = progress.event
    concluded = progress.concluded
    bundle = record.bundle
    failed = record.failed_checks.get(record.run, ())
    return {
        "request": _cut(event.text if event else "", LONGEST_TEXT),
        "goal": _cut(goal_of(bundle.loaded) if bundle else "", LONGEST_TEXT),
        "steps": [_step(step) for step in _first_and_last(record.steps())],
        "answer": _cut(concluded.text if concluded else "", LONGEST_TEXT),
        "status": record.status,
        "failed_checks": [verdict.summary for verdict in failed],
    }


def goal_of(loaded: Loaded) -> str:
    """Return the prompt of a workflow; the whole system prompt if the place of the prompt in it is not known."""
    if loaded.prompt_span is None:
        return loaded.system
    start, stop = loaded.prompt_span
    return loaded.system[start:stop]


def request(served: ServedModel, material: Material, problem: str = "") -> bytes:
    """Return the bytes of a request. `problem` says why the last answer could not be read.

    The material is inside one JSON object, so that no text of it can end it.
    """
    asked: dict[str, object] = {"run": material}
    if problem:
        asked["problem"] = problem
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": encode(asked).decode()}]
    return encode({**served.parameters, "model": served.name, "stream": False, "messages": messages})


def verdict_of(text: str) -> Verdict:
    """Return the verdict that an answer holds. Raises Unreadable."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        answer = as_object(decode(text.encode(errors="replace")))
    except BadRequest as error:
        raise Unreadable("The answer was not one JSON object.") from error
    effective = answer.get("effective")
    why = as_text(answer.get("why")).strip()
    if not isinstance(effective, bool) or not why:
        raise Unreadable("The answer needs `effective` (true or false) and `why`, a text.")
    goal_drift = answer.get("goal_drift", False)
    if not isinstance(goal_drift, bool):
        raise Unreadable("The answer needs `goal_drift` as true or false.")
    return Verdict(
        effective,
        _cut(why, _LONGEST_SENTENCE),
        _cut(as_text(answer.get("next_step")).strip(), _LONGEST_SENTENCE),
        goal_drift,
        _cut(as_text(answer.get("drift")).strip(), _LONGEST_SENTENCE) if goal_drift else "",
    )


def _first_and_last(steps: Sequence[Step]) -> Sequence[Step]:
    told = [step for step in steps if step.kind in _KINDS]
    if len(told) <= MOST_STEPS:
        return told
    half = MOST_STEPS // 2
    return [*told[:half], *told[-half:]]


def _step(step: Step) -> Mapping[str, object]:
    parts = {"step": step.step, "kind": step.kind, "tool": step.tool, "call": step.call, "status": step.status}
    texts = {"input": _cut(step.input, LONGEST_PART), "output": _cut(step.output, LONGEST_PART)}
    return {name: value for name, value in {**parts, **texts}.items() if value}


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}[cut]"
