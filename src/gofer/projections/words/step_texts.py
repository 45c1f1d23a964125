"""The texts of each step as people read them: what was said, sent, called and returned.

A request repeats what earlier steps show. Such a message is named by the step that shows it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.projections.words.follow_ups import review_texts
from gofer.projections.words.request_texts import SentMessage, answer_text, new_messages
from gofer.projections.words.step_details import reasoning
from gofer.projections.words.step_headlines import state_name
from gofer.projections.words.steps import Step
from gofer.values.canonical_json import as_list, as_object, as_text

BY_ROLE = "estimate by role"
"""The label of the tokens of a request by role, which the page shows as a bar."""
_SHORT = 40
"""The least characters of a text that a later message can be the same as; shorter texts are repeated."""


@dataclass(frozen=True, slots=True)
class StepText:
    """One text of a step."""

    label: str
    """A word for the text, such as `arguments` or the role of a message."""
    text: str
    same_as: int = 0
    """The number of the earlier step that shows the same text; 0 if the text is new."""


@dataclass(slots=True)
class _Shown:
    """The texts that steps have shown so far, each with the number of its step."""

    texts: dict[str, int] = field(default_factory=dict[str, int])

    def message(self, message: SentMessage) -> StepText:
        return StepText(f"sent as {message.role}", message.text, self.texts.get(message.text, 0))

    def answer(self, text: str) -> StepText:
        return StepText("answer", text, self.texts.get(text, 0))

    def add(self, text: str, step: Step) -> None:
        if len(text) >= _SHORT:
            self.texts.setdefault(text, step.step)


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step as people read it."""

    step: Step
    texts: Sequence[StepText]
    states: Sequence[str]
    """The states that the run reached with this step."""


def shown_steps(steps: Sequence[Step]) -> Iterator[ShownStep]:
    """Yield the steps in their order. An allowed change of the state belongs to the step before it."""
    shown = _Shown()
    states = _states(steps)
    for step in steps:
        if not _is_mark(step):
            texts = [text for text in _texts(step, shown) if text.text]
            yield ShownStep(step, texts, states.get(step.step, ()))
            shown.add(_as_message(step), step)


def _is_mark(step: Step) -> bool:
    return step.kind == "state.transition" and step.status == "ok"


def _states(steps: Sequence[Step]) -> Mapping[int, Sequence[str]]:
    """Return the states that the run reached with each step, by the number of the step."""
    found: dict[int, list[str]] = {}
    last = 0
    for step in steps:
        if _is_mark(step):
            found.setdefault(last, []).append(state_name(step.details.get("to")))
        else:
            last = step.step
    return found


def _as_message(step: Step) -> str:
    """Return the text of a step as a later request repeats it."""
    match step.kind:
        case "message.received":
            return step.input
        case "tool.result" | "tool.unknown":
            return step.output
        case "llm.response":
            calls = [as_object(call) for call in as_list(step.details.get("tool_calls"))]
            return answer_text(step.output, reasoning(as_text(step.details.get("extra"))), calls)
        case _:
            return ""


def _texts(step: Step, shown: _Shown) -> Sequence[StepText]:
    match step.kind:
        case "run.accepted":
            return [StepText("event", step.input), StepText("event fields", _json(_event(step)))]
        case "agent.start":
            return [StepText("system prompt", step.input)]
        case "llm.request":
            return _request(step, shown)
        case "tool.call" | "approval.requested":
            return [StepText("arguments", _readable(step.input))]
        case "tool.result":
            return _result(step)
        case "subagent.started":
            return [StepText("system prompt", as_text(step.details.get("system"))), StepText("prompt", step.input)]
        case "run.concluded":
            return [shown.answer(step.output), StepText("output", _json(step.details.get("output")))]
        case "agent.end":
            return _checks(step)
        case "run.graded":
            return _grades(step)
        case "feedback.given":
            return [StepText("words", step.output)]
        case "run.reviewed":
            return [StepText(label, text) for label, text in review_texts(step.details).items()]
        case "message.received":
            return [StepText("message", step.input)]
        case "call.deferred":
            return [StepText("reason", step.output), StepText("error", _json(step.details.get("provider_error")))]
        case "tool.unknown":
            return [StepText("outcome", step.output)]
        case "context.snapshot":
            return _context(step)
        case _:
            return [StepText("", step.output)]


def _event(step: Step) -> Mapping[str, object]:
    """Return the fields of an event that have a value."""
    fields = dict(as_object(step.details.get("event")))
    repeats = fields.pop("window", 0)
    if repeats:
        fields["an equal delivery counts as a new event after"] = f"{repeats} s"
    return {name: value for name, value in fields.items() if value not in ("", 0, None, [], {}, ())}


def _context(step: Step) -> Sequence[StepText]:
    labels = {BY_ROLE: "roles", "estimate of pinned text": "pinned", "estimate by file and skill": "files"}
    tokens = [StepText(label, _tokens(step.details.get(name))) for label, name in labels.items()]
    return [StepText("problem", step.output), *tokens]


def _tokens(value: object) -> str:
    """Return tokens by name in one line."""
    return ", ".join(f"{name} {tokens:,}" for name, tokens in as_object(value).items() if isinstance(tokens, int))


def _request(step: Step, shown: _Shown) -> Sequence[StepText]:
    parameters = StepText("parameters", _json(step.details.get("parameters")))
    if step.sent is None:
        return [parameters, StepText("end of the request", step.input)]
    messages = new_messages(step.sent, step.since)
    return [parameters, *(shown.message(message) for message in messages)]


def _result(step: Step) -> Sequence[StepText]:
    texts = [StepText("result", step.output)]
    value = step.details.get("value")
    if value is not None:
        texts.append(StepText("value", _json(value)))
    return texts


def _checks(step: Step) -> Sequence[StepText]:
    texts: list[StepText] = []
    for check in map(as_object, as_list(step.details.get("checks"))):
        if check.get("passed"):
            continue
        sentences = [as_text(check.get("summary")), as_text(check.get("detail"))]
        if implied := as_text(check.get("implies")):
            sentences.append(f"It implies {implied.replace('_', ' ')}.")
        if entries := as_list(check.get("entries")):
            sentences.append(f"Entries: {', '.join(map(str, entries))}.")
        label = f"{check.get('severity')} {check.get('check')}"
        texts.append(StepText(label, " ".join(filter(None, sentences)) or "failed"))
    return texts


def _grades(step: Step) -> Sequence[StepText]:
    """Return what was expected and what happened for each grade that did not pass."""
    failed = [grade for grade in map(as_object, as_list(step.details.get("grades"))) if not grade.get("passed")]
    return [StepText(_label_of(grade), _sentences_of(grade) or "failed") for grade in failed]


def _label_of(grade: Mapping[str, object]) -> str:
    label = as_text(grade.get("dimension"))
    if grade.get("missing"):
        label = f"{label} (no verdict)"
    elif not grade.get("blocks"):
        label = f"{label} (does not block)"
    if place := as_text(grade.get("step")):
        label = f"{label} at {place}"
    return label


def _sentences_of(grade: Mapping[str, object]) -> str:
    parts = {"expected": "expected", "happened": "happened", "explanation": "why"}
    said = {label: as_text(grade.get(name)) for name, label in parts.items()}
    return "\n".join(f"{label}: {text}" for label, text in said.items() if text)


def _json(value: object) -> str:
    """Return JSON as text: an object with a line for each field; empty for nothing."""
    if value is None or value in ({}, [], ()):
        return ""
    match value:
        case str():
            return value
        case dict():
            return "\n".join(f"{name}: {_field(item)}" for name, item in as_object(cast(object, value)).items())
        case _:
            return _field(value)


def _field(value: object) -> str:
    match value:
        case str() if "\n" in value:
            return "".join(f"\n    {line}" for line in value.split("\n"))
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def _readable(text: str) -> str:
    """Return a long JSON object with a line for each field; any other text unchanged."""
    if len(text) <= 2 * _SHORT:
        return text
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _json(value) or text
