"""The grades of a run, which are noted in its journal after its end."""

import pytest

from gofer.engine.graded_run import LONGEST, MOST_GRADES, note_grades
from gofer.journal.entries import RunGraded
from gofer.journal.grade_entries import Grade
from gofer.journal.hidden_runs import hide
from gofer.journal.log import read_journal
from gofer.projections import progress, states
from gofer.runtime.retention import delete
from gofer.values.errors import ConfigError
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

GRADES = (
    Grade("status", passed=True),
    Grade("tools.required", passed=False, expected="slack_read_thread is called", happened="no call", step="1.0"),
)
GRADED = RunGraded("answers/basic", 1, "failed", "scripted", "b" * 64, GRADES)


async def played() -> MemoryWorker:
    made = memory_worker(says("the answer"))
    await made.accept("run1", private=False)
    await made.work_once()
    return made


async def noted(made: MemoryWorker, graded: RunGraded = GRADED) -> bool:
    return await note_grades(made.worker.services, "run1", graded)


async def test_grades_are_appended_to_the_journal_of_an_ended_run() -> None:
    made = await played()
    before = await read_journal("run1", made.store, made.blobs)
    assert await noted(made)
    journal = await read_journal("run1", made.store, made.blobs)
    assert list(journal[:-1]) == list(before)
    assert journal[-1].entry == GRADED
    assert journal[-1].i == 0
    assert states.project(journal).violations == ()
    graded = progress.project(journal)
    assert graded.graded == GRADED
    assert graded.last_at == progress.project(before).last_at


async def test_grades_of_a_run_are_noted_once() -> None:
    made = await played()
    for _ in range(2):
        assert await noted(made)
    journal = await read_journal("run1", made.store, made.blobs)
    assert sum(isinstance(one.entry, RunGraded) for one in journal) == 1


async def test_run_of_a_place_that_became_private_gets_no_grades() -> None:
    made = await played()
    await hide("run1", made.store, 1)
    assert not await noted(made)


async def test_run_with_deleted_contents_gets_no_grades() -> None:
    made = await played()
    assert await delete(["run1"], made.worker.services.stores) == 1
    assert not await noted(made)


async def test_run_without_an_end_gets_no_grades() -> None:
    made = memory_worker(says("the answer"))
    await made.accept("run1", private=False)
    with pytest.raises(ConfigError, match="has not ended"):
        await noted(made)


async def test_grades_in_a_journal_are_bounded_and_keep_the_failed_ones() -> None:
    made = await played()
    many = [Grade(f"d{n}", passed=n != 999, happened="x\n" * 90_000) for n in range(1_000)]
    await noted(made, RunGraded("answers/basic", 1, "failed", "scripted", "b", tuple(many)))
    entry = (await read_journal("run1", made.store, made.blobs))[-1].entry
    assert isinstance(entry, RunGraded)
    assert len(entry.grades) == MOST_GRADES
    assert entry.grades[0].dimension == "d999"
    assert {len(grade.happened) for grade in entry.grades} == {LONGEST}
    assert "\n" not in entry.grades[0].happened
