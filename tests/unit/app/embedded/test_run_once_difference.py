import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.embedded.run_once import LONGEST, MOST, difference

NOTHING = {"added": {}, "removed": {}, "changed": {}, "more": 0}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "a", "b/c", "~", ""]), inner, max_size=4)
        | st.lists(st.fixed_dictionaries({"id": st.integers(0, 9), "text": inner}), max_size=4)
    ),
    max_leaves=20,
)


def differs(before: object, after: object, **told: object) -> None:
    assert difference(before, after) == {**NOTHING, **told}


def test_difference_reports_a_new_message_as_one_addition() -> None:
    before = {"slack": {"general": {"messages": [{"ts": "1.0", "text": "a"}, {"ts": "3.0", "text": "c"}]}}}
    message = {"ts": "2.0", "text": "b"}
    after = {"slack": {"general": {"messages": [message, *before["slack"]["general"]["messages"]]}}}
    differs(before, after, added={"/slack/general/messages/2.0": message})
    differs(after, before, removed={"/slack/general/messages/2.0": message})


def test_difference_reports_a_change_with_the_previous_value() -> None:
    before = {"OPS-1": {"status": "To Do", "labels": ["a", "b", "c"]}}
    after = {"OPS-1": {"status": "Done", "labels": ["a", "x", "c", "d"]}}
    differs(
        before,
        after,
        added={"/OPS-1/labels/3": "d"},
        changed={
            "/OPS-1/status": {"before": "To Do", "after": "Done"},
            "/OPS-1/labels/1": {"before": "b", "after": "x"},
        },
    )


def test_difference_paths_are_json_pointers_and_tuples_count_as_lists() -> None:
    differs({"a/b": {"~": (1, 2)}}, {"a/b": {"~": (1, 3)}}, changed={"/a~1b/~0/1": {"before": 2, "after": 3}})


@pytest.mark.parametrize(("before", "after"), [(1, True), (None, ""), ({}, []), ("1", 1)])
def test_difference_separates_values_of_different_types(before: object, after: object) -> None:
    differs({"x": before}, {"x": after}, changed={"/x": {"before": before, "after": after}})


def test_difference_separates_list_items_that_python_calls_equal() -> None:
    """For Python, False is 0 and True is 1, also inside nested values."""
    differs([{"a": False}], [{"a": 0}], changed={"/0/a": {"before": False, "after": 0}})
    differs([1, [True]], [1, [1]], changed={"/1/0": {"before": True, "after": 1}})


def test_difference_is_limited_in_entries_and_in_length() -> None:
    many: Any = difference({}, {str(n): n for n in range(MOST + 50)})
    assert (len(many["added"]), many["more"]) == (MOST, 50)
    long: Any = difference({"x": "a"}, {"x": "b" * 10_000, "y": ["c" * 10_000]})
    assert len(long["changed"]["/x"]["after"]) == len(long["added"]["/y"]) == LONGEST + 1


@given(JSON)
def test_difference_of_equal_values_is_empty(value: object) -> None:
    differs(value, json.loads(json.dumps(value)))


@given(JSON, JSON)
def test_difference_is_symmetric_and_complete(before: object, after: object) -> None:
    there: Any = difference({"x": before}, {"x": after})
    back: Any = difference({"x": after}, {"x": before})
    assert set(there["added"]) == set(back["removed"])
    assert set(there["changed"]) == set(back["changed"])
    told = {**there["added"], **there["removed"], **there["changed"]}
    if not told:
        # Then only the order of named items may differ.
        assert _sorted(before) == _sorted(after)


def _sorted(value: object) -> str:
    """A value without the order of lists, for comparing."""
    match value:
        case dict():
            return "{" + ",".join(f"{key!r}:{_sorted(inner)}" for key, inner in sorted(value.items())) + "}"
        case list():
            return "[" + ",".join(sorted(map(_sorted, value))) + "]"
        case _:
            return repr(value)
