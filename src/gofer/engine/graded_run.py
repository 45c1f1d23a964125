"""The grades of a run that an eval started, which are appended to its journal after its end."""

from dataclasses import replace

from gofer.engine.owned_run import Deadline, OwnedRun
from gofer.engine.services import Services
from gofer.journal.entries import RunGraded
from gofer.journal.grade_entries import Grade
from gofer.journal.log import Pen, open_journal
from gofer.values.errors import ConfigError, Gone

MOST_GRADES = 200
"""The most grades that a journal keeps; of more grades, the failed ones come first."""
LONGEST = 500
"""The most characters of each text of a grade."""
LONGEST_NAME = 200
"""The most characters of a dimension and of a step."""
_OWNER = "evals"


async def note_grades(services: Services, run: str, graded: RunGraded) -> bool:
    """Append the grades to the journal of an ended run; return False, and write nothing, for a private run.

    Only the process that serves the state of the run may call this. Grades that were noted before are kept, so a call
    can be repeated. Raises ConfigError for a run that has not ended, Corrupt, and TemporaryError.
    """
    pen = Pen(_OWNER, services.outside)
    try:
        journal, entries = await open_journal(run, services.store, services.blobs, pen)
    except Gone:
        return False  # the contents of a private run are deleted at its end
    owned = OwnedRun(journal, services, entries, Deadline(services.outside.clock))
    await owned.look_whether_hidden()
    if owned.progress.finished is None:
        raise ConfigError(f"Run {run} has not ended, so it has no grades; grade it after its end.")
    if owned.is_private:
        return False
    if owned.progress.graded is None:
        owned.note(_bounded(graded))
        await owned.commit()
    return True


def _bounded(graded: RunGraded) -> RunGraded:
    kept = graded.grades
    if len(kept) > MOST_GRADES:
        kept = tuple(sorted(kept, key=lambda grade: grade.passed)[:MOST_GRADES])
    return replace(graded, grades=tuple(map(_cut, kept)))


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
