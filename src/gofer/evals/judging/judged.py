"""The grades of a play by its criteria."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gofer.evals.eval_file import Criterion
from gofer.evals.grading.dimensions import JUDGE
from gofer.evals.judging.agreement import Agreement, not_blocking, read_agreement
from gofer.evals.judging.judge import Judge, Opinion
from gofer.evals.judging.judge_role import JUDGE_ROLE, refusal, refusal_by_answers
from gofer.evals.judging.labels import Labels, read_labels
from gofer.evals.judging.material import Material, TooLong, material_of
from gofer.evals.judging.question import PROMPT_SHA256, question_of
from gofer.evals.judging.verdict import addresses_the_judge
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.values.amounts import counted
from gofer.values.errors import ConfigError

NO_JUDGE = (
    f"No model judges: add `models: {{{JUDGE_ROLE}: …}}` to agents/defaults.yaml, with another model than the judged."
)


async def judged(criteria: Sequence[Criterion], play: Play, judge: Judge | None, folder: Path) -> Sequence[Grade]:
    """Return one grade `judge.<id>` for each criterion.

    `folder` has the eval file, and paths of labels begin there. A grade without a verdict has `missing` set. Only a
    criterion with measured, high agreement blocks.
    """
    if judge is None:
        return [ungraded(criterion, NO_JUDGE) for criterion in criteria]
    refused = refusal(judge.served, play)
    if refused:
        return [ungraded(criterion, refused) for criterion in criteria]
    try:
        material = material_of(play)
    except TooLong as error:
        return [_without_verdict(criterion, str(error), judge, folder) for criterion in criteria]
    return [await _grade(criterion, play, material, judge, folder) for criterion in criteria]


def ungraded(criterion: Criterion, problem: str) -> Grade:
    """Return the grade of a criterion that no model may judge. It does not block."""
    return Grade(
        f"{JUDGE}{criterion.id}",
        passed=False,
        expected=criterion.ask,
        happened=problem,
        blocks=False,
        explanation=problem,
        missing="no_evidence",
    )


async def _grade(criterion: Criterion, play: Play, material: Material, judge: Judge, folder: Path) -> Grade:
    votes = await judge.votes(question_of(criterion, material), criterion.votes)
    refused = refusal_by_answers(judge, play)
    if refused:
        return ungraded(criterion, refused)
    grade = grade_of(criterion, Opinion(votes, criterion.least_score), judge, folder)
    if addresses_the_judge(material):
        note = "The run holds text that asks for a verdict; the judge is told to treat it as data."
        return replace(grade, explanation=f"{grade.explanation} {note}")
    return grade


def grade_of(criterion: Criterion, opinion: Opinion, judge: Judge, folder: Path) -> Grade:
    """Return the grade of a criterion from the votes about it."""
    if opinion.passed is None:
        grade = _without_verdict(criterion, opinion.missing[0].problem, judge, folder)
        return replace(grade, missing=opinion.why_missing)
    reason = why_not_blocking(criterion, judge, folder)
    explanation = f"{_counted(opinion, judge)} {_evidence(opinion)}"
    if reason:
        explanation = f"{explanation} Does not block: {reason}"
    grade = Grade(
        f"{JUDGE}{criterion.id}",
        passed=opinion.passed,
        blocks=not reason,
        score=opinion.score,
        explanation=explanation,
    )
    if grade.passed:
        return grade
    return replace(grade, expected=criterion.ask, happened=_evidence(opinion))


def why_not_blocking(criterion: Criterion, judge: Judge, folder: Path) -> str:
    """Return why a failed criterion does not block, in one sentence; empty if it does."""
    if judge.is_stand_in:
        return "A script answered for the judge, which says nothing about the run."
    labels: Labels | None = None
    measurement: Agreement | None = None
    if criterion.labels:
        path = folder / criterion.labels
        try:
            labels = read_labels(path)
            measurement = read_agreement(path)
        except ConfigError as error:
            return str(error)
    return not_blocking(criterion, judge.name, judge.endpoint, labels, measurement)


def _without_verdict(criterion: Criterion, problem: str, judge: Judge, folder: Path) -> Grade:
    """Return the grade of a criterion without a verdict, which blocks as a verdict would."""
    return replace(ungraded(criterion, problem), blocks=not why_not_blocking(criterion, judge, folder))


def _counted(opinion: Opinion, judge: Judge) -> str:
    """Return the votes, the judge and its prompt in one sentence."""
    said = sum(verdict.decision == "CORRECT" for verdict in opinion.verdicts)
    return (
        f"{said} of {counted(len(opinion.verdicts), 'vote')} CORRECT by {judge.name} "
        f"(prompt {PROMPT_SHA256[:12]}, least score {opinion.least_score:g})."
    )


def _evidence(opinion: Opinion) -> str:
    """Return the reason and the quote of the deciding verdict in one line."""
    verdict = opinion.deciding
    if verdict is None:
        # The majority says CORRECT, but fewer than `least_score`, and the sides do not name one verdict.
        return "The votes disagree."
    reason = " ".join(verdict.reason.split())
    if not verdict.quote:
        return reason
    return f"{reason} Quote: “{' '.join(verdict.quote.split())}”"
