"""The grades of a decision point: the calls of the first answer after the history."""

from collections.abc import Iterator, Sequence, Set

from gofer.evals.eval_file import CallExpectation, RequiredCall
from gofer.evals.grading.call_words import expected_call, joined, missing_tool, read_expectation, tool_name
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.tool_grades import argument_problems
from gofer.evals.grading.turn_view import ModelAnswer, PlayedCall, TurnView
from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import quoted

_WORDS = "an answer in words without a call"


def decision_grades(written: Sequence[RequiredCall], turn: TurnView) -> Sequence[Grade]:
    """Return the grades of `expect.next`."""
    return verdicts("next", _failures([read_expectation(one) for one in written], turn), turn.number)


def _failures(expected: Sequence[tuple[str, CallExpectation]], turn: TurnView) -> Iterator[Failure]:
    if not turn.answers:
        calls = joined([expected_call(*one) for one in expected]) or _WORDS
        yield Failure(calls, "the model did not answer", turn.last_step)
        return
    answer = turn.answers[0]
    made = [call for call in turn.calls if call.call.id == call.step and call.call.asked_in == answer.address]
    if not expected and made:
        yield Failure(_WORDS, _called(made, answer), made[0].step)
    fitting = [[at for at, call in enumerate(made) if _fits(call, *one)] for one in expected]
    served = _served(fitting)
    for number, (tool, wanted) in enumerate(expected):
        enough = number in served
        if wanted.times is not None:
            enough = len(fitting[number]) == wanted.times
        if not enough:
            happened, step = _difference(turn, made, answer, tool, wanted)
            yield Failure(expected_call(tool, wanted), happened, step)


def _fits(made: PlayedCall, tool: str, wanted: CallExpectation) -> bool:
    # At a decision point a call may have no outcome yet, so its outcome counts only if the file names one.
    if "status" in wanted.model_fields_set and wanted.status not in (None, made.call.status):
        return False
    return made.call.tool == tool and not argument_problems(made, wanted.arguments)


def _served(fitting: Sequence[Sequence[int]]) -> Set[int]:
    """Return the expectations that get a call of their own; `fitting` has the calls that fit each of them."""
    taken: dict[int, int] = {}
    for number in range(len(fitting)):
        _place(number, fitting, taken, set())
    return set(taken.values())


def _place(number: int, fitting: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    """Give an expectation a call, and move an earlier expectation to another call if that makes room."""
    for call in fitting[number]:
        if call in tried:
            continue
        tried.add(call)
        if call not in taken or _place(taken[call], fitting, taken, tried):
            taken[call] = number
            return True
    return False


def _difference(
    turn: TurnView, made: Sequence[PlayedCall], answer: ModelAnswer, tool: str, wanted: CallExpectation
) -> tuple[str, str]:
    """Return what the next answer did in place of an expected call, and the step."""
    sentences = [_called(made, answer)]
    step = answer.step
    if absent := missing_tool(turn, tool):
        sentences.insert(0, absent)
    differing = [call for call in made if call.call.tool == tool]
    if differing:
        step = differing[0].step
        problems = argument_problems(differing[0], wanted.arguments)
        sentences += [f"in {differing[0].name} {problem}" for problem in problems[:1]]
    return "; ".join(sentences), step


def _called(calls: Sequence[PlayedCall], answer: ModelAnswer) -> str:
    if calls:
        return f"the next answer called {joined([f'{tool_name(made)} ({made.name})' for made in calls])}"
    return f"the next answer called no tool; it says {quoted(answer.entry.text)}"
