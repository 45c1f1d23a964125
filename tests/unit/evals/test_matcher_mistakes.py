"""Mistakes in matchers."""

import pytest

from gofer.evals.matcher_mistakes import check_matcher


@pytest.mark.parametrize(
    ("matcher", "loc", "message", "hint"),
    [
        ({"any_off": ["a"]}, ("any_off",), "`any_off` is not an operator.", "Write `any_of`"),
        ({"any_of": ["a"], "b": 1}, ("b",), "`b` is not an operator.", "Write only operators"),
        ({"fields": [{"matches": "("}]}, ("fields", 0, "matches"), "The pattern is not valid", "RE2"),
        ({"matches": "a(?=b)"}, ("matches",), "The pattern is not valid", "look-around"),
        ({"matches": 3}, ("matches",), "`matches` cannot have", "in quotes"),
        ({"any_of": "High"}, ("any_of",), "`any_of` is not a list", "List at least one"),
        ({"any_of": [{"present": 1}]}, ("any_of", 0, "present"), "`present` cannot have", "true or false"),
        ({"contains": {"min_items": -1}}, ("contains", "min_items"), "`min_items` cannot", "0 or more"),
        ({"at_least": None}, ("at_least",), "`at_least` cannot", "a number"),
    ],
)
def test_mistake_names_its_part_and_the_correction(matcher: object, loc: object, message: str, hint: str) -> None:
    (found,) = check_matcher(matcher)
    assert found.loc == loc
    assert message in found.message
    assert hint in found.hint


def test_correct_matchers_have_no_mistake() -> None:
    correct = {"a": {"any_of": ["x", {"matches": "^y"}]}, "b": [1, None], "c": {"equals": {"length": {"any": 1}}}}
    assert list(check_matcher(correct)) == []
