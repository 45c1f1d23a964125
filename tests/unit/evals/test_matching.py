"""Matchers: plain values, operators, sentences, and bounded cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from gofer.evals.matching import MISSING, field_at, mismatch
from support.steps import steps

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
ISSUE = {"project": "OPS", "priority": "Low", "labels": ["from-slack", "p1"], "points": 3, "assignee": None}


@pytest.mark.parametrize(
    "matcher",
    [
        {"project": "OPS"},
        {"labels": ["from-slack", {"matches": "^p[0-9]$"}]},
        {"labels": {"contains": "p1", "min_items": 2, "length": 2}},
        {"labels": {"contains": ["p1", "from-slack"]}},
        {"points": {"at_least": 3, "at_most": 3.5}},
        {"priority": {"any_of": ["High", {"matches": "(?i)low"}]}},
        {"priority": {"contains": "ow"}},
        {"assignee": {"present": False}, "due": {"present": False}, "points": {"present": True}},
        {"assignee": None},
        {"due": {"any_of": [{"present": False}, "2026-03-02"]}},
        {"points": {"equals": 3.0}},
        {},
    ],
)
def test_issue_matches(matcher: object) -> None:
    assert mismatch(matcher, ISSUE) == ""


@pytest.mark.parametrize(
    ("matcher", "sentence"),
    [
        ({"project": "SUP"}, "`project` is `OPS`; expected `SUP`"),
        ({"priority": {"any_of": ["High", "Highest"]}}, "`priority` is `Low`; expected one of `High`, `Highest`"),
        ({"due": "2026-03-02"}, "`due` is missing; expected `2026-03-02`"),
        ({"labels": ["from-slack"]}, "`labels` has 2 items; expected 1"),
        ({"labels": ["from-slack", "p2"]}, "`labels[1]` is `p1`; expected `p2`"),
        ({"labels": {"min_items": 3}}, "`labels` has 2 items; expected 3 or more"),
        ({"project": {"length": 4}}, "`project` has 3 characters; expected 4"),
        ({"labels": {"contains": "bug"}}, '`labels` is `["from-slack", "p1"]`; expected `bug` in it'),
        ({"priority": {"matches": "^H"}}, "`priority` is `Low`; expected a text that matches `^H`"),
        ({"points": {"at_most": 2}}, "`points` is `3`; expected at most `2`"),
        ({"points": {"at_least": "2"}}, "`points` is `3`; expected at least `2`"),
        ({"points": True}, "`points` is `3`; expected `true`"),
        ({"points": {"name": "x"}}, "`points` is `3`; expected an object"),
        ({"assignee": {"present": True}}, "`assignee` is `null`; expected a value"),
        ({"project": {"present": False}}, "`project` is `OPS`; expected no value"),
        ({"project": {"matches": "("}}, "The pattern is not valid: missing ): ("),
        ({"points": {"length": 3}}, "`points` is `3`; expected a list, an object or a text"),
    ],
)
def test_difference_is_one_sentence(matcher: object, sentence: str) -> None:
    assert mismatch(matcher, ISSUE) == sentence


def test_equals_refuses_more_keys_than_a_plain_mapping() -> None:
    assert mismatch({"points": 3}, ISSUE) == ""
    assert "expected" in mismatch({"equals": {"points": 3}}, ISSUE)


def test_keys_named_as_operators_are_compared_with_equals() -> None:
    assert mismatch({"equals": {"length": 3}}, {"length": 3}) == ""


@given(JSON)
def test_every_value_equals_itself(value: object) -> None:
    assert mismatch({"equals": value}, value) == ""


@given(JSON, JSON)
def test_every_pair_of_values_gets_a_short_answer(matcher: object, value: object) -> None:
    assert len(mismatch(matcher, value)) < 1_000


@given(JSON, JSON)
def test_any_of_matches_exactly_if_an_option_does(option: object, value: object) -> None:
    assert (mismatch({"any_of": [option]}, value) == "") == (mismatch(option, value) == "")


def test_large_values_end_the_comparison_early() -> None:
    inner = {"contains": {"any_of": [{"contains": "z"}] * 100}}
    # The whole comparison would look at a thousand times as many values.
    rows = [["a"] * 1_000] * 1_000
    assert mismatch(inner, rows, "rows") == "`rows` is too large to compare; match a smaller part"


def test_pattern_with_repetitions_is_searched_to_the_end() -> None:
    # An engine that tries each way through the repetitions would never end.
    assert mismatch({"matches": "(a*)*(a*)*b$"}, "a" * 500_000)
    assert mismatch({"matches": "x"}, "a" * 1_000_001).endswith("which no pattern searches")


def test_dotted_path_leads_into_objects_and_lists() -> None:
    assert field_at({"a": [{"b": 1}]}, "a.0.b") == 1
    assert field_at({"a": [{"b": 1}]}, "a.1.b") is MISSING


class SteppedObject(dict[str, object]):
    """An object whose parts take steps of Python to write."""

    @override
    def items(self):
        return super().items()


@pytest.mark.parametrize("matcher", ["any_of", "contains"])
def test_value_is_quoted_once_for_any_number_of_options(matcher: str) -> None:
    def steps_of(options: int, size: int) -> int:
        value: list[object] = [[SteppedObject(key=number) for number in range(size)]]
        if matcher == "any_of":
            return steps(lambda: mismatch({"any_of": [f"option {number}" for number in range(options)]}, value))
        return steps(lambda: mismatch({"contains": [{"any_of": [f"option {n}" for n in range(options)]}]}, [value]))

    # The first call fills caches of the process.
    steps_of(1, 1_000)
    one_quote = steps_of(1, 1_000) - steps_of(1, 10)
    assert one_quote > 900
    assert steps_of(100, 1_000) - steps_of(100, 10) == one_quote
