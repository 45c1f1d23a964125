"""The grades of a case run as the entries that journals keep, within limits."""

from dataclasses import replace

from gofer.evals.results import CaseRun, Grade
from gofer.journal.entries import RunGraded

MOST_GRADES = 200
"""The most grades that a journal keeps; of more grades, the failed ones come first."""
LONGEST = 500
"""The most characters of each text of a grade."""
LONGEST_NAME = 200
"""The most characters of a dimension and of a step."""


def journaled_grades(case: str, run: CaseRun, turn: int) -> RunGraded:
    """Return the entry with the grades of one turn of a play, counted from 1; `case` is `<file>/<case>`."""
    grades = tuple(grade for grade in run.grades if grade.turn == turn)
    if len(grades) > MOST_GRADES:
        grades = tuple(sorted(grades, key=lambda grade: grade.passed)[:MOST_GRADES])
    return RunGraded(case, run.number, run.outcome, run.evidence, run.agent_version, tuple(map(_cut, grades)))


def _cut(grade: Grade) -> Grade:
    return replace(
        grade,
        dimension=grade.dimension[:LONGEST_NAME],
        step=grade.step[:LONGEST_NAME],
        expected=_one_line(grade.expected),
        happened=_one_line(grade.happened),
        explanation=_one_line(grade.explanation),
    )


def _one_line(text: str) -> str:
    # A margin for white space, so that a text of megabytes is not split into words.
    line = " ".join(text[: 4 * LONGEST].split())
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST - 1]}…"
