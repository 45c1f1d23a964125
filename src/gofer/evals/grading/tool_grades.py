"""The grades of a run's calls: required, forbidden, in an order, and of certain tools only."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.evals.eval_file import CallExpectation, RequiredCall, ToolExpectations
from gofer.evals.grading.call_words import (
    called_instead,
    expected_call,
    how_often,
    joined,
    missing_tool,
    named_calls,
    outcome,
    read_expectation,
    tool_name,
    with_arguments,
)
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.turn_view import PlayedCall, TurnView
from gofer.evals.matching import MISSING, mismatch
from gofer.evals.results import Grade
from gofer.values.amounts import counted


def tool_grades(expect: ToolExpectations, turn: TurnView) -> Iterator[Grade]:
    """Yield the grades of the expectations that are written."""
    if expect.required:
        yield from verdicts("tools.required", _required(expect.required, turn), turn.number)
    if expect.forbidden:
        yield from verdicts("tools.forbidden", _forbidden(expect.forbidden, turn), turn.number)
    if expect.in_order:
        yield from verdicts("tools.in_order", _in_order(expect.in_order, turn), turn.number)
    if expect.only is not None:
        yield from verdicts("tools.only", _only(expect.only, turn), turn.number)


def _required(expected: Sequence[RequiredCall], turn: TurnView) -> Iterator[Failure]:
    """Yield each expected call that the run did not make, or not as often as expected."""
    for written in expected:
        tool, wanted = read_expectation(written)
        made = turn.by_tool.get(tool, ())
        matching = [call for call in made if fits(call, wanted)]
        if _is_number_of(len(matching), wanted.times):
            continue
        happened, step = _difference(turn, tool, wanted, matching)
        yield Failure(expected_call(tool, wanted), happened, step)


def _is_number_of(calls: int, times: int | None) -> bool:
    if times is None:
        return calls > 0
    return calls == times


def fits(made: PlayedCall, wanted: CallExpectation) -> bool:
    """Return whether a call has the expected outcome and arguments."""
    return wanted.status in (None, made.call.status) and not argument_problems(made, wanted.arguments)


def argument_problems(made: PlayedCall, wanted: Mapping[str, object]) -> Sequence[str]:
    """Return a sentence for each argument of a call that does not match."""
    given = made.call.arguments
    if given is None:
        return ["the arguments are no JSON object"] * len(wanted)
    found = (mismatch(matcher, given.get(name, MISSING), name) for name, matcher in wanted.items())
    return [problem for problem in found if problem]


def _difference(turn: TurnView, tool: str, wanted: CallExpectation, matching: Sequence[PlayedCall]) -> tuple[str, str]:
    """Return what happened in place of the expected calls, and the step."""
    if wanted.times is not None and len(matching) > wanted.times:
        return how_often(matching), matching[wanted.times].step
    made = turn.by_tool.get(tool, ())
    others = [call for call in made if not fits(call, wanted)]
    sentences: list[str] = []
    step = turn.last_step
    if absent := missing_tool(turn, tool):
        sentences.append(absent)
    elif matching or not others:
        sentences.append(how_often(matching))
    if others:
        nearest = min(others, key=lambda call: _distance(call, wanted))
        sentences.append(_why_not(nearest, wanted))
        step = nearest.step
    elif not matching:
        sentences.append(called_instead(turn))
    return "; ".join(sentences), step


def _distance(made: PlayedCall, wanted: CallExpectation) -> tuple[int, bool]:
    return len(argument_problems(made, wanted.arguments)), wanted.status != made.call.status


def _why_not(made: PlayedCall, wanted: CallExpectation) -> str:
    """Return why a call of the tool is not an expected one."""
    problems = argument_problems(made, wanted.arguments)
    if not problems:
        return outcome(made)
    further = ""
    if len(problems) > 1:
        further = f" ({counted(len(problems) - 1, 'further argument')} did not match)"
    return f"in {made.name} {problems[0]}{further}"


def _forbidden(expected: Sequence[RequiredCall], turn: TurnView) -> Iterator[Failure]:
    for written in expected:
        tool, wanted = read_expectation(written)
        found = [call for call in turn.by_tool.get(tool, ()) if _is_forbidden(call, wanted)]
        if found:
            happened = outcome(found[0])
            if len(found) > 1:
                happened = f"{how_often(found)}; {happened}"
            yield Failure(f"no call of {tool}{with_arguments(wanted.arguments)}", happened, found[0].step)


def _is_forbidden(made: PlayedCall, wanted: CallExpectation) -> bool:
    # A refused attempt counts as made, unless the file names the outcome itself.
    if "status" in wanted.model_fields_set:
        return fits(made, wanted)
    return not argument_problems(made, wanted.arguments)


def _in_order(expected: Sequence[RequiredCall], turn: TurnView) -> Iterator[Failure]:
    """Yield the first expected call that does not follow those before it."""
    ahead = 0
    before = ""
    for written in expected:
        tool, wanted = read_expectation(written)
        times = 1
        if wanted.times is not None:
            times = wanted.times
        # `range` makes no list, and the first missing call ends the loop, however large the number is.
        for _ in range(times):
            at = _next(turn.calls, ahead, tool, wanted)
            if at is None:
                yield _out_of_order(turn, tool, wanted, before, ahead)
                return
            ahead = at + 1
        before = tool


def _next(calls: Sequence[PlayedCall], start: int, tool: str, wanted: CallExpectation) -> int | None:
    for at in range(start, len(calls)):
        if calls[at].call.tool == tool and fits(calls[at], wanted):
            return at
    return None


def _out_of_order(turn: TurnView, tool: str, wanted: CallExpectation, before: str, ahead: int) -> Failure:
    expected = expected_call(tool, wanted)
    early = [call for call in turn.calls[:ahead] if call.call.tool == tool and fits(call, wanted)]
    happened, step = _difference(turn, tool, wanted, early)
    if before:
        expected = f"{expected} after {before}"
    if early and before:
        happened = f"it was called only before that ({named_calls(early)}; {before} was {turn.calls[ahead - 1].name})"
        step = early[0].step
    return Failure(expected, happened, step)


def _only(tools: Sequence[str], turn: TurnView) -> Iterator[Failure]:
    allowed = {*tools, *turn.base_tools}
    others = [call for call in turn.calls if call.call.tool not in allowed]
    if others:
        first = {call.call.tool: call for call in reversed(others)}
        named = [f"{tool_name(call)} ({call.name})" for call in reversed(first.values())]
        expected = f"calls of {joined(tools) or 'no tool'} only"
        yield Failure(expected, f"the run also called {joined(named)}", others[0].step)
