"""The grades of a play that is compared with a golden."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gofer.evals.eval_file import Criterion
from gofer.evals.grading.dimensions import JUDGE
from gofer.evals.judging.judge import Judge
from gofer.evals.judging.judge_role import refusal, refusal_by_answers
from gofer.evals.judging.judged import why_not_blocking
from gofer.evals.judging.trajectories import ComparedTurn, compared
from gofer.evals.judging.turn_facts import TurnFacts, turns_of
from gofer.evals.plays import Play
from gofer.evals.results import Grade


async def judged_trajectory(
    recorded: Sequence[Sequence[TurnFacts]], play: Play, criterion: Criterion, judge: Judge | None, folder: Path
) -> Sequence[Grade]:
    """Return the grades of each run of a play against the recorded run in its place.

    `trajectory` holds the verdicts of code, and blocks. `judge.<id>` holds the verdicts of the judge, and blocks only
    if the agreement of the judge is measured and high. A judge that may not judge the play is not asked.
    """
    refused = ""
    if judge is not None:
        refused = refusal(judge.served, play)
    if refused:
        judge = None
    played = [turns_of(turn.entries) for turn in play.turns]
    grades: list[Grade] = []
    for number, (wanted, given) in enumerate(itertools.zip_longest(recorded, played, fillvalue=()), start=1):
        turns = await compared(wanted, given, criterion, judge)
        if judge is not None and refusal_by_answers(judge, play):
            refused = refusal_by_answers(judge, play)
            judge = None
            turns = await compared(wanted, given, criterion, judge)
        grades.append(_by_code(turns, number))
        if any(turn.decided_by == "judge" for turn in turns):
            grades.append(_by_judge(turns, number, criterion, judge, folder, refused))
    return grades


def _by_code(turns: Sequence[ComparedTurn], number: int) -> Grade:
    mine = [turn for turn in turns if turn.decided_by == "code"]
    return _grade("trajectory", turns, mine, number)


def _by_judge(
    turns: Sequence[ComparedTurn], number: int, criterion: Criterion, judge: Judge | None, folder: Path, refused: str
) -> Grade:
    mine = [turn for turn in turns if turn.decided_by == "judge"]
    grade = _grade(f"{JUDGE}{criterion.id}", turns, mine, number)
    reason = refused
    if judge is not None:
        reason = why_not_blocking(criterion, judge, folder)
    blocks = judge is not None and not reason
    undecided = next((turn for turn in mine if turn.verdict is None), None)
    if undecided is not None:
        problem = refused or undecided.reason
        return replace(
            grade, passed=False, blocks=blocks, happened=problem, explanation=problem, missing=undecided.missing
        )
    if reason:
        return replace(grade, blocks=False, explanation=f"{grade.explanation} Does not block: {reason}")
    return grade


def _grade(dimension: str, turns: Sequence[ComparedTurn], mine: Sequence[ComparedTurn], number: int) -> Grade:
    """Return the grade of the turns of one side, with the first difference among them."""
    correct = sum(turn.verdict == "CORRECT" for turn in mine)
    grade = Grade(
        dimension,
        passed=correct == len(mine),
        score=correct / max(1, len(mine)),
        explanation=f"{correct} of {len(mine)} turns CORRECT, of {len(turns)} recorded turns.",
        turn=number,
    )
    if grade.passed:
        return replace(grade, score=1.0)
    first = next(turn for turn in mine if turn.verdict != "CORRECT")
    expected = f"turn {first.number}: {first.recorded}"
    happened = f"{first.played} ({first.reason})"
    return replace(grade, expected=expected, happened=happened, step=first.step)
