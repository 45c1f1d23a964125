"""The grade of the replay of a golden."""

from dataclasses import replace

from gofer.evals.grading.replay_grades import replay_grades
from gofer.evals.plays import Difference
from gofer.evals.results import Grade
from support.evals.played import ended, played


def test_play_with_new_answers_has_no_grade_of_a_replay() -> None:
    assert list(replay_grades(played(ended()))) == []


def test_equal_replay_passes() -> None:
    assert list(replay_grades(replace(played(ended()), is_replay=True))) == [Grade("replay", passed=True)]


def test_first_difference_of_a_replay_fails_with_its_step() -> None:
    difference = Difference(2, "text of tool.result 1.0: a", "b", "1.0")
    (grade,) = replay_grades(replace(played(ended()), is_replay=True, difference=difference))
    assert (grade.passed, grade.turn, grade.step) == (False, 2, "1.0")
    assert (grade.expected, grade.happened) == ("text of tool.result 1.0: a", "b")
