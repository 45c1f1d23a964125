"""Differences of texts in lines, with hard limits."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.projections.comparison.prompt_diff import MOST_LINES, line_diff, shortened

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


def test_difference_is_shown_between_a_few_equal_lines() -> None:
    before = "\n".join(["1", "2", "3", "old", "4", "5", "6"])
    after = before.replace("old", "new")
    assert list(line_diff(before, after)) == [" 2", " 3", "-old", "+new", " 4", " 5"]


def test_many_equal_lines_between_two_differences_are_counted() -> None:
    before = "\n".join(["a", *map(str, range(9)), "z"])
    after = "\n".join(["b", *map(str, range(9)), "y"])
    assert list(line_diff(before, after)) == ["-a", "+b", " 0", " 1", " … 5 equal lines", " 7", " 8", "-z", "+y"]


@given(before=LINES, after=LINES)
def test_difference_has_the_lines_of_both_texts(before: str, after: str) -> None:
    lines = list(line_diff(before, after))
    added = [line for line in lines if line.startswith("+")]
    removed = [line for line in lines if line.startswith("-")]
    assert len(added) - len(removed) == len(after.splitlines()) - len(before.splitlines())
    assert bool(added or removed) == (before.splitlines() != after.splitlines())


def test_very_long_difference_is_not_matched_line_by_line() -> None:
    before = "\n".join(f"old {number}" for number in range(MOST_LINES + 1))
    lines = list(line_diff(before, "new"))
    assert (lines[-1], len(lines)) == ("+new", MOST_LINES + 2)
    assert shortened(lines, 3)[-1] == f"… {MOST_LINES - 1} more lines"
