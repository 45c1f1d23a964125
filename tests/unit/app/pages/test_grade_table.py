"""The grades on the page of a run."""

import pytest

from gofer.app.pages.grade_table import grade_table
from gofer.journal.entries import RunConcluded, RunFinished, RunGraded
from gofer.journal.grade_entries import Grade
from support.app.read_runs import pages_of, record_of
from support.engine.memory_run import MemoryRun, memory_run, says

pytestmark = pytest.mark.anyio

GRADES = (
    Grade("status", passed=True),
    Grade("tools.required", passed=False, expected="<b>post</b> is called", happened="not called", step="1.0"),
    Grade("judge.short", passed=False, blocks=False, score=0.5, explanation="two of four votes"),
)


async def graded(*grades: Grade, outcome: str = "failed") -> MemoryRun:
    made = memory_run(says("The answer."))
    await made.run()
    step = await made.step("next")
    step.note(RunConcluded("done", "", "The answer."))
    step.note(RunFinished("done"))
    await step.commit()
    if grades:
        entry = RunGraded("answers/basic", 2, outcome, "live", "b" * 64, grades)  # type: ignore[arg-type]
        step.note(entry)
        await step.commit()
    return made


async def test_page_shows_the_failed_grades_of_a_run_first() -> None:
    async with pages_of(await graded(*GRADES)) as client:
        page = (await client.get("/runs/run1")).text
    assert "eval <code>answers/basic</code>, run 2, live answers:" in page
    assert "1 of 3 grades passed" in page
    assert '<details class="grades with-fail" open>' in page
    assert "&lt;b&gt;post&lt;/b&gt; is called" in page
    places = [page.index(f"<code>{grade.dimension}</code><td") for grade in GRADES]
    assert places[1] < places[2] < places[0]
    assert "failed, does not block" in page


async def test_table_of_a_passed_run_is_folded() -> None:
    made = await graded(GRADES[0], outcome="passed")
    table = grade_table(await record_of(made))
    assert '<details class="grades with-pass"><summary>' in table


async def test_page_of_a_run_without_grades_has_no_table() -> None:
    assert grade_table(await record_of(await graded())) == ""


async def test_grade_without_a_verdict_has_neither_passed_nor_failed() -> None:
    silent = Grade("judge.short", passed=False, missing="infrastructure")
    made = await graded(silent, outcome="infrastructure")
    table = grade_table(await record_of(made))
    assert ">no verdict<" in table
    assert ">failed<" not in table
    assert "0 of 1 grade passed" in table
