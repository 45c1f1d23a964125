import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.workflows.output import check_schema, problems, read_answer

STEP = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string", "pattern": "^[A-Z]"}}}
SCHEMA = {
    "type": "object",
    "required": ["steps"],
    "additionalProperties": False,
    "properties": {
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "uniqueItems": True},
        "pattern": {"type": "integer"},
    },
    "$defs": {"step": STEP},
}
EVIL = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}


def test_every_mistake_is_named_with_its_place() -> None:
    check_schema(SCHEMA)
    assert problems(SCHEMA, {"steps": [{"title": "Stop"}, {"title": "Go"}]}) == []
    assert sorted(problems(SCHEMA, {"steps": [{}, {"title": "go"}], "note": 1})) == [
        "steps[0]: 'title' is a required property",
        "steps[1].title: 'go' does not match '^[A-Z]'",
        "the whole: Additional properties are not allowed ('note' was unexpected)",
    ]
    assert problems(SCHEMA, {}) == ["the whole: 'steps' is a required property"]
    assert len(problems(SCHEMA, {"steps": [{}] * 1000})) == 10


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ([], "type: object"),
        ({"type": "array"}, "type: object"),
        ({"type": "object", "properties": {"a": {"type": "strnig"}}}, "properties.a.type: 'strnig'"),
        ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}, "another dialect"),
        ({"type": "object", "properties": {"a": {"pattern": "(?=a)"}}}, "look-around"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "unclosed group"),
        ({"type": "object", "patternProperties": {"a": {}}}, "`patternProperties` cannot be used"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}, "leads nowhere"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}, "leads nowhere"),
        ({"type": "object", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, "a` leads round in a circle"),
        ({"type": "object", "properties": {str(n): {"type": "string"} for n in range(2001)}}, "longer than"),
        ({"type": "object", "default": {1, 2}}, "is not JSON"),
        (
            {"type": "object", "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
             | {"d40": {}}},
            "more than 2000 parts",
        ),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_used_says_why(schema: object, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        check_schema(schema)


def test_a_number_that_no_float_holds_is_a_mistake_and_no_crash() -> None:
    schema = {"type": "object", "properties": {"a": {"multipleOf": 0.1}}}
    assert problems(schema, {"a": 10**400}) == ["the whole: a number is too large"]


def test_no_value_makes_a_pattern_slow() -> None:
    check_schema(EVIL)
    began = time.process_time()
    assert len(problems(EVIL, {"a": "a" * 39_000 + "!"})) == 1
    # A backtracking engine would not come to an end at all.
    assert time.process_time() - began < 10


@given(st.lists(st.one_of(st.integers(-2, 2), st.floats(-2, 2), st.sampled_from(["a", "1"]), st.booleans())))
def test_items_are_unique_when_no_two_are_equal(items: list[object]) -> None:
    schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    pairs = [(one, other) for at, one in enumerate(items) for other in items[:at]]
    twice = any(one == other and isinstance(one, bool) == isinstance(other, bool) for one, other in pairs)
    assert bool(problems(schema, {"a": items})) == twice


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Here it is:\n```\n{"a": 1}\n```\nBest', ' {"a":1}\n']
)
def test_an_answer_may_stand_in_a_fence(text: str) -> None:
    assert read_answer(text) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "hint"),
    [("Yes.", "not JSON"), ("[1]", "no JSON object"), ('{"a": NaN}', "not JSON"), ("`" * 6, "not JSON"),
     ('{"a": "' + "x" * 40_000 + '"}', "longer than")],
)  # fmt: skip
def test_an_answer_that_is_no_object_says_so(text: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        read_answer(text)
