"""Graders of one's own: functions of `evals/` that say whether a play is right."""

from pathlib import Path

import pytest

from gofer.evals.own_graders import load_grader, own_grades
from gofer.evals.results import Grade
from gofer.values.errors import ConfigError
from support.evals.played import asks, ended, made, played

GRADERS = """\
from evals.words import REFUND


def refund(play):
    play.after["shop"]["refund"] = 0
    return play.before == {"shop": {"refund": 0}} and play.calls[0].arguments == {"key": REFUND}


def reason(play):
    return False, f"{play.answer} is no {play.status} {play.output} {len(play.answers)}"


def several(play):
    return [True, (False, "one"), (True, "two"), False]


def odd(play):
    return "yes"


def failing(play):
    return play.calls[7]
"""
PLAYED = played(
    [asks(("refund", {"key": "A1"}))],
    made("1.0", "refund"),
    ended(),
    before={"shop": {"refund": 0}},
    after={"shop": {"refund": 3}},
)


def graded(path: Path, name: str, graders: str = GRADERS) -> list[Grade]:
    (path / "evals").mkdir()
    (path / "evals" / "graders.py").write_text(graders)
    (path / "evals" / "words.py").write_text("REFUND = 'A1'\n")
    return list(own_grades([f"evals/graders.py:{name}"], PLAYED, path))


def test_grader_sees_calls_and_the_world_and_changes_neither(tmp_path: Path) -> None:
    (grade,) = graded(tmp_path, "refund")
    assert (grade.dimension, grade.passed, PLAYED.after) == ("grade", True, {"shop": {"refund": 3}})


@pytest.mark.parametrize(
    ("name", "happened"),
    [
        ("reason", ["Done. is no done None 1"]),
        ("several", ["one", "it returned False"]),
        ("odd", ["it returned a str; return True, False, or (False, why)"]),
        ("failing", ["evals/graders.py:22: IndexError: tuple index out of range"]),
        ("missing", ["evals/graders.py has no function missing."]),
    ],
)
def test_failed_grades_have_the_reason(tmp_path: Path, name: str, happened: list[str]) -> None:
    grades = graded(tmp_path, name)
    assert [grade.happened for grade in grades if not grade.passed] == happened
    assert all(grade.blocks for grade in grades)


def test_module_that_cannot_be_imported_is_a_failed_grade(tmp_path: Path) -> None:
    (grade,) = graded(tmp_path, "refund", "import nowhere_at_all\n")
    said = "evals/graders.py:1 cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'."
    assert (grade.passed, grade.happened) == (False, said)
    with pytest.raises(ConfigError, match="cannot be imported"):
        load_grader(tmp_path, "evals/graders.py:refund")
    with pytest.raises(ConfigError, match=r"There is no file evals/other\.py"):
        load_grader(tmp_path, "evals/other.py:refund")
