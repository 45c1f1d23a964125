"""The list of dimensions, and its page in the documents."""

import re
from pathlib import Path

from gofer.evals.grading.dimensions import DIMENSIONS, JUDGE, MOST_WORDS, Failure, verdicts
from gofer.evals.results import Grade

PAGE = Path(__file__).parents[4] / "docs" / "eval-dimensions.md"


def test_page_lists_every_dimension_once_and_in_order() -> None:
    listed = re.findall(r"^\| `([a-z_.<>-]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert listed == [*DIMENSIONS, f"{JUDGE}<id>"]


def test_dimension_has_one_grade_for_each_failure_or_a_passed_grade() -> None:
    assert verdicts("status", [], 2) == [Grade("status", passed=True, turn=2)]
    failures = [Failure("a", "b", "1.0"), Failure("c", "d", "2.0", turn=1)]
    assert verdicts("status", failures, 2) == [
        Grade("status", passed=False, expected="a", happened="b", step="1.0", turn=2),
        Grade("status", passed=False, expected="c", happened="d", step="2.0", turn=1),
    ]


def test_words_of_a_grade_are_one_short_line() -> None:
    (grade,) = verdicts("status", [Failure("a\n b", f"c\n{'d' * 100_000}")], 1)
    assert grade.expected == "a b"
    assert grade.happened == f"c {'d' * (MOST_WORDS - 2)}…"
