"""Expected calls and their values in the words of a grade."""

import pytest

from gofer.evals.eval_file import CallExpectation
from gofer.evals.grading.call_words import expected_call, joined, written_value


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (list("abcde"), "a, b, c, d and e"),
        (list("abcdefg"), "a, b, c, d, e and 2 more"),
    ],
)
def test_names_are_joined_in_one_sentence(names: list[str], words: str) -> None:
    assert joined(names) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("PAY", "PAY"),
        ("two words", "“two words”"),
        ("", "“”"),
        ("a\nb", "“a b”"),
        ("x" * 500, f"{'x' * 80}…"),
        (3, "3"),
        (None, "null"),
        ({"any_of": ["a", "b"]}, '{"any_of": ["a", "b"]}'),
        (float("nan"), "NaN"),
    ],
)
def test_expected_value_is_one_short_line(value: object, words: str) -> None:
    assert written_value(value) == words


def test_expected_number_of_calls_is_told() -> None:
    words = [expected_call("search", CallExpectation(times=times)) for times in (None, 0, 1, 1_200)]
    assert words == ["a call of search", "no call of search", "search once", "search 1,200 times"]
