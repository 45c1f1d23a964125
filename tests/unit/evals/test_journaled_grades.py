"""The grades of a case run as a journal keeps them."""

from gofer.evals.journaled_grades import LONGEST, MOST_GRADES, journaled_grades
from gofer.evals.results import CaseRun, Grade


def graded(*grades: Grade) -> CaseRun:
    return CaseRun(number=2, outcome="failed", runs=["ab"], grades=grades, evidence="live", agent_version="b" * 64)


def test_journal_of_each_turn_keeps_the_grades_of_that_turn() -> None:
    first = Grade("status", passed=True)
    second = Grade("tools.required", passed=False, expected="look is called", happened="not called", turn=2)
    run = graded(first, second)
    assert [journaled_grades("answers/basic", run, turn).grades for turn in (1, 2)] == [(first,), (second,)]
    entry = journaled_grades("answers/basic", run, 1)
    assert (entry.case, entry.number, entry.outcome) == ("answers/basic", 2, "failed")
    assert (entry.evidence, entry.agent_version) == ("live", "b" * 64)


def test_grades_in_a_journal_are_bounded_and_keep_the_failed_ones() -> None:
    many = [Grade(f"d{n}", passed=n != 999, happened="x\n" * 90_000) for n in range(1_000)]
    grades = journaled_grades("answers/basic", graded(*many), 1).grades
    assert len(grades) == MOST_GRADES
    assert grades[0].dimension == "d999"
    assert {len(grade.happened) for grade in grades} == {LONGEST}
    assert "\n" not in grades[0].happened
