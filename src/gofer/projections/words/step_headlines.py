"""The headline of each step: one line with names and numbers, for a terminal and for the page of a run."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from gofer.journal.purposes import is_own
from gofer.projections.open_work import WORDS
from gofer.projections.rules_in_words import said
from gofer.projections.tracing.trace import timestamp
from gofer.projections.words.follow_ups import feedback_headline, review_headline
from gofer.projections.words.steps import Step, summary
from gofer.values.amounts import counted, money
from gofer.values.canonical_json import as_list, as_object

_STATES: Mapping[str, str] = {**WORDS}
_NAMES = 12
"""The most names that a headline lists."""
_NAME = 80
"""The most characters of a name in a headline."""


def headline(step: Step) -> str:
    """Return what a step is about in one line, without its input and output."""
    return " ".join(_headline(step, step.details).split())


def _headline(step: Step, facts: Mapping[str, object]) -> str:
    match step.kind:
        case "run.accepted":
            return f"{_text(facts, 'event_kind')} starts {_text(facts, 'workflow')}"
        case "agent.start":
            return _start(facts)
        case "llm.request" | "llm.response" | "context.snapshot":
            return _model(step, facts)
        case "tool.call" | "tool.result" | "tool.unknown" | "call.deferred":
            return _call(step, facts)
        case "subagent.started" | "subagent.finished":
            return " ".join(filter(None, [_text(facts, "name"), _text(facts, "model"), _text(facts, "run")]))
        case "file.added" | "file.read" | "skill.loaded":
            return _file(step, facts)
        case "approval.requested" | "approval.clicked" | "approval.decided":
            return _approval(step, facts)
        case "state.transition":
            return f"{state_name(facts.get('from'))} → {state_name(facts.get('to'))}"
        case "context.compacted":
            return f"turns {_range(facts.get('turns'))} became {_text(facts, 'file')}, by {_text(facts, 'by')}"
        case "plan.updated":
            return counted(len(step.output.splitlines()), "item")
        case "message.received":
            return _message(facts)
        case "run.parked" | "run.handed_over" | "run.owned" | "run.cancelled" | "run.retried":
            return _owner(step, facts)
        case "run.concluded" | "agent.end":
            return _end(facts)
        case "run.graded":
            return _grades(facts)
        case "feedback.given":
            return feedback_headline(facts, step.status)
        case "run.reviewed":
            return review_headline(facts, step.status)
        case "thought" | "permit.renewed" | "value.recorded" | "damage":
            return ""
        case _:
            assert_never(step.kind)


def state_name(state: object) -> str:
    """Return a state of a run in words."""
    return _STATES.get(str(state), str(state))


def _text(facts: Mapping[str, object], name: str) -> str:
    value = facts.get(name)
    if value is None:
        return ""
    return summary(str(value), _NAME)


def _number(facts: Mapping[str, object], name: str) -> int:
    value = facts.get(name)
    if isinstance(value, int):
        return value
    return 0


def _names(values: object) -> str:
    """Return the first names of a list, and the number of the others."""
    names = [summary(str(value), _NAME) for value in as_list(values)]
    if len(names) > _NAMES:
        return f"{', '.join(names[:_NAMES])} and {len(names) - _NAMES} more"
    return ", ".join(names)


def _start(facts: Mapping[str, object]) -> str:
    origin = _text(facts, "workflow") or "without its bundle"
    prompt = _text(facts, "prompt_file")
    if prompt:
        origin = f"{origin} from {prompt}"
    tools = as_list(facts.get("tools"))
    start = f"{origin}, bundle {_text(facts, 'bundle')[:12]}, {counted(len(tools), 'tool')}: {_names(tools)}"
    return "; ".join([start, *_rule(facts)])


def _rule(facts: Mapping[str, object]) -> Sequence[str]:
    return said(rule=facts.get("rule"), readers=facts.get("readers"))


def _model(step: Step, facts: Mapping[str, object]) -> str:
    match step.kind:
        case "llm.request":
            sent = f"{counted(_number(facts, 'messages'), 'message')}, {_number(facts, 'new_messages')} new"
            window = _window(facts)
            if window:
                window = f"{window}, as expected"
            return f"{_text(facts, 'model')}: {sent}{window}"
        case "llm.response":
            usage = as_object(facts.get("usage"))
            tokens = f"{_number(usage, 'input_tokens'):,} tokens in, {_number(usage, 'output_tokens'):,} out"
            asked = [as_object(call).get("tool") for call in as_list(facts.get("tool_calls"))]
            calls = ""
            if asked:
                calls = f"; calls {_names(asked)}"
            return f"{_text(facts, 'model')}: {tokens}, {_cost(facts.get('cost_usd'))}{calls}"
        case _:
            return _context(facts)


def _window(facts: Mapping[str, object]) -> str:
    window = _number(facts, "window")
    if not window:
        return ""
    share = facts.get("utilisation")
    if not isinstance(share, float | int):
        return ""
    return f", {share:.0%} of the window of {window:,}"


def _context(facts: Mapping[str, object]) -> str:
    tokens = f"{_number(facts, 'expected'):,} tokens, as expected"
    if counted_tokens := _number(facts, "counted"):
        tokens = f"{counted_tokens:,} tokens, as the provider counted"
    changes = {name: _names(facts.get(name)) for name in ("entered", "left")}
    named = [f"{name}: {names}" for name, names in changes.items() if names]
    return "; ".join([f"{tokens}{_window(facts)}", *named])


def _cost(value: object) -> str:
    if isinstance(value, float | int):
        return money(value)
    return money(None)


def _call(step: Step, facts: Mapping[str, object]) -> str:
    name = step.tool or step.call
    if step.tool and step.call and not is_own(step.call):
        # The id tells calls of the same tool apart, and names the call in `gofer replay` and `gofer golden`.
        name = f"{step.tool} {step.call}"
    match step.kind:
        case "call.deferred":
            until = _number(facts, "until")
            again = "at once with the next model"
            if until:
                again = f"not before {timestamp(until)}"
            return f"{name}: again {again}"
        case "tool.result":
            code = _text(as_object(facts.get("details")), "code")
            return "; ".join([": ".join(filter(None, [name, _text(facts, "summary"), code])), *_rule(facts)])
        case _:
            return name


def _file(step: Step, facts: Mapping[str, object]) -> str:
    match step.kind:
        case "file.added":
            size = f"{_number(facts, 'size'):,} bytes"
            return f"{_text(facts, 'file')}, {_text(facts, 'media_type')}, {size}, from {_text(facts, 'origin')}"
        case "file.read":
            return f"{_text(facts, 'file')}, {_text(facts, 'unit')} {facts.get('start')} to {facts.get('stop')}"
        case _:
            return " ".join(filter(None, [_text(facts, "skill"), _text(facts, "file")]))


def _approval(step: Step, facts: Mapping[str, object]) -> str:
    asked = _names(facts.get("by"))
    match step.kind:
        case "approval.requested":
            request = f"{step.tool}, asked {asked}, until {timestamp(_number(facts, 'until'))}"
            return "; ".join([request, *_rule(facts)])
        case "approval.clicked":
            return f"{step.tool}, by {_text(facts, 'actor')}"
        case _:
            return f"{step.tool}, by {_text(facts, 'by') or 'no person'}"


def _range(turns: object) -> str:
    first, *rest = [str(turn) for turn in as_list(turns)] or ["?"]
    return " to ".join([first, *rest])


def _message(facts: Mapping[str, object]) -> str:
    media = as_list(facts.get("media"))
    files = ""
    if media:
        files = f" with {_names([as_object(one).get('file') for one in media])}"
    if facts.get("item"):
        return f"from a person, while the run was at work{files}"
    return f"from the run to its model{files}"


def _owner(step: Step, facts: Mapping[str, object]) -> str:
    match step.kind:
        case "run.parked":
            return f"until {timestamp(_number(facts, 'until'))}"
        case "run.owned":
            return f"worker {_text(facts, 'owner')}"
        case "run.handed_over":
            return ""
        case _:
            return f"by {_text(facts, 'by')}"


def used(usage: Mapping[str, object]) -> str:
    """Return the calls, tokens and cost of a run in one line, from the `usage` of its last step."""
    calls = (
        f"{counted(_number(usage, 'llm_calls'), 'model call')}, {counted(_number(usage, 'tool_calls'), 'tool call')}"
    )
    tokens = f"{_number(usage, 'input_tokens'):,} tokens in, {_number(usage, 'output_tokens'):,} out"
    return f"{calls}, {tokens}, {_cost(usage.get('cost_usd'))}"


def _end(facts: Mapping[str, object]) -> str:
    usage = as_object(facts.get("usage"))
    failed = [as_object(check) for check in as_list(facts.get("checks"))]
    names = [f"{check.get('check')} ({check.get('severity')})" for check in failed if not check.get("passed")]
    said = [_text(facts, "reason")]
    if usage:
        said.append(used(usage))
    if names:
        said.append(f"failed checks: {_names(names)}")
    return "; ".join(filter(None, said))


def _grades(facts: Mapping[str, object]) -> str:
    grades = [as_object(grade) for grade in as_list(facts.get("grades"))]
    failed = [grade.get("dimension") for grade in grades if not grade.get("passed") and not grade.get("missing")]
    missing = [grade.get("dimension") for grade in grades if grade.get("missing")]
    played = f"case {_text(facts, 'case')}, run {_number(facts, 'number')}, {_text(facts, 'evidence')} answers"
    passed = f"{sum(bool(grade.get('passed')) for grade in grades)} of {counted(len(grades), 'grade')} passed"
    said = [played, passed]
    if failed:
        said.append(f"failed: {_names(failed)}")
    if missing:
        said.append(f"without verdict: {_names(missing)}")
    return "; ".join(said)
