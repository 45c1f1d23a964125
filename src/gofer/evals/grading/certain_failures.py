"""The failures that are certain although a play has no evidence: no answer of a model could make such a run pass."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.evals.eval_file import Case, Expectations, RequiredCall, Rubric, ToolExpectations, WorldExpectations
from gofer.evals.grading.call_words import expected_call, missing_tool, read_expectation
from gofer.evals.grading.check_grades import check_grades
from gofer.evals.grading.dimensions import Failure, verdicts
from gofer.evals.grading.expected import expected_of
from gofer.evals.grading.output_grades import found_texts, written_texts
from gofer.evals.grading.rubric_grades import rubric_grades
from gofer.evals.grading.tool_grades import fits, tool_grades
from gofer.evals.grading.turn_view import TurnView, turn_view, with_conversation
from gofer.evals.grading.world_grades import added_at, world_grades
from gofer.evals.grading.world_paths import parts_of
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.projections import calls

_GROWING_CHECKS = ("check.no-tool-loops", "check.llm-call-budget", "check.plan-call-budget")
"""The checks that no further step of a run can make pass."""
_MOST = ("max_llm_calls", "max_tool_calls", "max_cost_usd")
"""The criteria of a rubric that no further step can meet again."""


def certain_failures(case: Case, play: Play) -> Sequence[Grade]:
    """Return the failed grades of a play without evidence that no further answer of a model could avoid.

    These are calls of tools that are gone, and what already happened too often: forbidden calls and texts, more calls,
    new values or costs than the case allows.
    """
    turns = [turn_view(play, number) for number in range(1, len(play.turns) + 1)]
    views = turns
    if case.user:
        views = with_conversation(turns)
    found: list[Grade] = []
    for expect, turn in zip(expected_of(case, play), views, strict=False):
        found += verdicts("tools.required", _gone(expect, turn), turn.number)
        found += tool_grades(_broken_rules(expect.tools, turn), turn)
        found += world_grades(WorldExpectations(counts=_exceeded(expect.world.counts, turn, play)), turn)
        found += _unwanted("output.not_contains", expect.output.not_contains, turn)
        found += _unwanted("rubric.forbidden_phrases", case.rubric.forbidden_phrases, turn)
        found += [grade for grade in check_grades(expect.checks, turn) if grade.dimension in _GROWING_CHECKS]
    if turns:
        limits = Rubric.model_validate({name: getattr(case.rubric, name) for name in _MOST})
        found += rubric_grades(limits, play, turns)
    return [grade for grade in found if not grade.passed]


def _broken_rules(tools: ToolExpectations, turn: TurnView) -> ToolExpectations:
    """Return the rules about calls that a run can only break: those that it already called too often, and others."""
    required = tuple(written for written in tools.required if _is_exceeded(written, turn))
    return ToolExpectations(required=required, forbidden=tools.forbidden, only=tools.only)


def _is_exceeded(written: RequiredCall, turn: TurnView) -> bool:
    tool, wanted = read_expectation(written)
    matching = sum(fits(call, wanted) for call in turn.by_tool.get(tool, ()))
    return wanted.times is not None and matching > wanted.times


def _exceeded(counts: Mapping[str, int], turn: TurnView, play: Play) -> Mapping[str, int]:
    """Return the counts of new values that a run exceeded, without those that Gofer itself may have added."""
    return {
        pattern: number
        for pattern, number in counts.items()
        if len(added_at(pattern, turn)) - _own_writes(pattern, play) > number
    }


def _own_writes(pattern: str, play: Play) -> int:
    """Return how many values Gofer itself may have added, such as its status and the notice of a failure."""
    system = next(iter(parts_of(pattern)), "")
    made = [call for turn in play.turns for call in calls.project(turn.entries).calls.values() if call.is_own]
    own = [call for call in made if call.effect not in (None, "read")]
    return sum(system in ("*", "**") or call.tool.startswith(f"{system}_") for call in own)


def _unwanted(dimension: str, texts: Sequence[str], turn: TurnView) -> Sequence[Grade]:
    return verdicts(dimension, found_texts(texts, list(written_texts(turn)), turn), turn.number)


def _gone(expect: Expectations, turn: TurnView) -> Iterator[Failure]:
    """Yield each expected call of a tool that the workflow does not have."""
    written: Sequence[RequiredCall] = (*expect.tools.required, *expect.tools.in_order, *(expect.next or ()))
    wanted = dict(read_expectation(one) for one in written)
    for tool, expectation in wanted.items():
        is_wanted = expectation.times != 0 and expectation.status == "ok"
        if is_wanted and (gone := missing_tool(turn, tool)):
            yield Failure(expected_call(tool, expectation), gone)
