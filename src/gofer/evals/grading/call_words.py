"""Calls in the words of a grade: which call was expected, and what a call did."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from gofer.evals.eval_file import CallExpectation, RequiredCall
from gofer.evals.grading.turn_view import PlayedCall, TurnView
from gofer.projections.checks.check_settings import quoted, shortened
from gofer.values.amounts import counted

_LISTED = 5
"""The most names that a sentence lists."""
_TOOL = 64
"""The most characters of the name of a tool, because a model may write anything there."""
_VALUE = 80
"""The most characters of an expected argument."""
_ENDS = {
    "error": ", which must fail",
    "refused": ", which must be refused",
    "unknown": ", whose outcome must be unknown",
}


def read_expectation(written: RequiredCall) -> tuple[str, CallExpectation]:
    """Return the tool and the expectation of an entry of an eval file."""
    if isinstance(written, str):
        return written, CallExpectation()
    ((tool, wanted),) = written.items()
    return tool, wanted


def expected_call(tool: str, wanted: CallExpectation) -> str:
    """Return an expected call for people, such as `file_ticket once with project PAY`."""
    return f"{_times(tool, wanted.times)}{with_arguments(wanted.arguments)}{_ENDS.get(wanted.status or '', '')}"


def _times(tool: str, times: int | None) -> str:
    match times:
        case None:
            return f"a call of {tool}"
        case 0:
            return f"no call of {tool}"
        case 1:
            return f"{tool} once"
        case _:
            return f"{tool} {times:,} times"


def with_arguments(arguments: Mapping[str, object]) -> str:
    """Return expected arguments for people, such as ` with project PAY`; empty if there are none."""
    if not arguments:
        return ""
    return f" with {joined([f'{name} {written_value(value)}' for name, value in arguments.items()])}"


def written_value(value: object) -> str:
    """Return an expected value for people, on one short line."""
    if isinstance(value, str) and value.isprintable() and " " not in value and value:
        return shortened(value, _VALUE)
    if isinstance(value, str):
        return quoted(value)
    return shortened(json.dumps(value, ensure_ascii=False, default=str), _VALUE)


def joined(names: Sequence[str], last: str = "and") -> str:
    """Return names in one sentence: `a, b and c`, and only the number of further ones."""
    shown = list(names[:_LISTED])
    if len(names) > _LISTED:
        shown.append(f"{len(names) - _LISTED} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def tool_name(call: PlayedCall) -> str:
    """Return the name of a call's tool, cut."""
    return shortened(call.call.tool, _TOOL)


def named_calls(calls: Sequence[PlayedCall]) -> str:
    """Return calls for people: `call 2.0`, or `calls 2.0 and 3.0`."""
    if len(calls) == 1:
        return calls[0].name
    return f"calls {joined([call.name.removeprefix('call ') for call in calls])}"


def how_often(calls: Sequence[PlayedCall]) -> str:
    """Return how often a tool was called, such as `it was called 2 times (calls 2.0 and 3.0)`."""
    if not calls:
        return "it was not called"
    times = "once"
    if len(calls) > 1:
        times = counted(len(calls), "time")
    return f"it was called {times} ({named_calls(calls)})"


def outcome(made: PlayedCall) -> str:
    """Return what came of a call, such as `call 1.0 asked for it; the gate refused it (unknown_tool)`."""
    call = made.call
    match call.status:
        case "refused" if not call.began_in:
            return f"{made.name} asked for it; the gate refused it{_reason(made)}"
        case "refused":
            return f"{made.name} was refused by its system{_reason(made)}"
        case "error":
            return f"{made.name} failed{_reason(made)}"
        case "unknown":
            return f"the outcome of {made.name} is unknown"
        case "ok":
            return f"{made.name} was made with success"
        case "asked" | "open" | "waiting":
            return f"{made.name} has no outcome"


def _reason(made: PlayedCall) -> str:
    if made.call.code:
        return f" ({shortened(made.call.code, _TOOL)})"
    if made.call.text:
        return f": {quoted(made.call.text)}"
    return ""


def called_instead(turn: TurnView) -> str:
    """Return the tools that a run called, for a tool that it did not call."""
    tools = list(dict.fromkeys(map(tool_name, islice(turn.calls, 1_000))))
    if not tools:
        return "the run called no tool"
    return f"the run called {joined(tools)}"


def missing_tool(turn: TurnView, tool: str) -> str:
    """Return the sentence about a tool that the workflow does not have; empty if it has it or did not start."""
    if not turn.tools or tool in turn.tools:
        return ""
    sentence = f"the workflow has no tool {tool} any more"
    similar = get_close_matches(tool, sorted(turn.tools), n=1)
    if similar:
        return f"{sentence}; the most similar one is {similar[0]}"
    return sentence
