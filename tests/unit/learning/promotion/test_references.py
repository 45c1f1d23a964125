"""The values that a script can read: of events in each form, and of results."""

from gofer.learning.promotion.references import (
    MOST_ITEMS,
    MOST_VALUES,
    Reference,
    body_of,
    event_values,
    part_of,
    pattern_words,
    read_values,
    result_values,
)
from support.learning.observed_runs import hook_event, made


def test_values_of_a_json_body_have_their_paths() -> None:
    values = event_values(hook_event({"who": {"name": "Owner"}, "tags": ["a", "b"]}, room="7"))
    assert values[Reference("body", ("who", "name"))] == "Owner"
    assert values[Reference("body", ("tags",))] == ["a", "b"]
    assert values[Reference("body", ("tags", 1))] == "b"
    assert values[Reference("place", ("room",))] == "7"


def test_regular_parts_of_a_plain_text_are_values() -> None:
    text = "Please file this\nTeam: Payments\n*Start*: 2026-12-01\nsee OPS-17 and https://example.com/a, #42"
    values = event_values(hook_event(text))
    parts = {reference.pattern: value for reference, value in values.items() if reference.pattern}
    assert set(parts.values()) == {"Payments", "2026-12-01", "OPS-17", "https://example.com/a,", "42"}
    assert all(part_of(text, pattern) == value for pattern, value in parts.items())
    assert {pattern_words(pattern) for pattern in parts if pattern} == {"Team", "Start", "issue key", "link", "number"}


def test_text_of_a_result_has_parts_only_with_several_lines() -> None:
    one_line = result_values(2, made("find", {"text": "Created OPS-17."}))
    assert list(one_line) == [Reference("result", ("text",), 2)]
    lines = result_values(2, made("find", {"text": "Created OPS-17.\nStatus: open"}))
    assert {"OPS-17", "open"} < set(lines.values())


def test_values_of_large_results_are_limited() -> None:
    assert len(read_values("body", {str(number): number for number in range(MOST_VALUES + 10)})) == MOST_VALUES
    assert len(read_values("body", {"items": list(range(MOST_ITEMS + 10))})) == MOST_ITEMS + 1


def test_text_without_json_has_no_body() -> None:
    assert [body_of(text) for text in ("hello", "{broken", "")] == [None, None, None]
    assert body_of(' {"a": 1}') == {"a": 1}
