"""The failures that are certain although a play has no evidence: no answer of a model could make such a run pass."""

from collections.abc import Iterator, Sequence

from gofer.evals.eval_file import Case, Expectations, RequiredCall, ToolExpectations
from gofer.evals.grading.call_words import expected_call, missing_tool, read_expectation
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.expected import expected_of
from gofer.evals.grading.tool_grades import tool_grades
from gofer.evals.grading.turn_view import TurnView, turn_view
from gofer.evals.plays import Play
from gofer.evals.results import Grade


def certain_failures(case: Case, play: Play) -> Sequence[Grade]:
    """Return the failed grades of a play without evidence: forbidden calls that it made, and tools that are gone.

    A required call of a tool that the workflow does not have fails with every answer of the model.
    """
    expected = expected_of(case, play)
    found: list[Grade] = []
    for number, expect in enumerate(expected[: len(play.turns)], start=1):
        turn = turn_view(play, number)
        found += verdicts("tools.required", _gone(expect, turn), number)
        found += tool_grades(ToolExpectations(forbidden=expect.tools.forbidden), turn)
    return [grade for grade in found if not grade.passed]


def _gone(expect: Expectations, turn: TurnView) -> Iterator[Failure]:
    """Yield each expected call of a tool that the workflow does not have."""
    written: Sequence[RequiredCall] = (*expect.tools.required, *expect.tools.in_order, *(expect.next or ()))
    wanted = dict(read_expectation(one) for one in written)
    for tool, expectation in wanted.items():
        is_wanted = expectation.times != 0 and expectation.status == "ok"
        if is_wanted and (gone := missing_tool(turn, tool)):
            yield Failure(expected_call(tool, expectation), gone)
