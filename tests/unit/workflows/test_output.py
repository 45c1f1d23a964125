import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.workflows.output import ASKER, PEOPLE, instructions, problems, read_answer
from gofer.workflows.output_schema import LEVELS_LIMIT, SCHEMA_LIMIT, flaws

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


def test_answer_mistakes_are_listed_with_place_up_to_ten() -> None:
    assert flaws(SCHEMA) == []
    assert problems(SCHEMA, {"steps": [{"title": "Stop"}, {"title": "Go"}]}) == []
    assert sorted(problems(SCHEMA, {"steps": [{}, {"title": "go"}], "note": 1})) == [
        "steps[0]: 'title' is a required property",
        "steps[1].title: 'go' does not match '^[A-Z]'",
        "the whole answer: Additional properties are not allowed ('note' was unexpected)",
    ]
    assert problems(SCHEMA, {}) == ["the whole answer: 'steps' is a required property"]
    assert len(problems(SCHEMA, {"steps": [{}] * 1000})) == 10


@pytest.mark.parametrize("readers", [PEOPLE, ASKER])
def test_output_instructions_name_the_readers_of_the_answer(readers: str) -> None:
    told = instructions(SCHEMA, readers)
    assert f"and nothing else. {readers}" in told
    assert "by a program" not in told


def properties(**parts: object) -> dict[str, object]:
    return {"type": "object", "properties": parts}


def nested(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return {"type": "object", **schema}


DOUBLING = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(11)} | {"d11": {}}
CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(600)} | {"d600": {}}


@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        ([], "", "not a mapping"),
        (5, "", "not a mapping"),
        ({}, "", "no `type: object`"),
        ({"type": "array"}, "type", "one object"),
        (properties(a={"type": "strnig"}), "properties.a.type", "'strnig' is not a type"),
        (properties(a={"minLength": "1"}), "properties.a.minLength", "not of type 'integer'"),
        ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}, "$schema", "unsupported dialect"),
        (
            properties(a={"$schema": "https://json-schema.org/draft/2020-12/schema"}),
            "properties.a.$schema",
            "not support",
        ),
        (properties(a={"pattern": "(?=a)"}), "properties.a.pattern", "look-around"),
        (properties(a={"pattern": "("}), "properties.a.pattern", "unclosed group"),
        ({"type": "object", "patternProperties": {"a": {}}}, "patternProperties", "not support"),
        (properties(a={"$ref": "https://example.com/a.json"}), "properties.a.$ref", "refers to nothing"),
        (properties(a={"$ref": "#/$defs/b"}), "properties.a.$ref", "refers to nothing"),
        (
            {"type": "object", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
            "$defs.a.items.$ref",
            "refers to itself",
        ),
        (properties(a={"title": "x" * SCHEMA_LIMIT}), "", "longer than"),
        ({"type": "object", "default": {1, 2}}, "", "is not JSON"),
        ({"type": "object", "default": float("nan")}, "", "is not JSON"),
        ({"type": "object", "$defs": DOUBLING}, "", "more than 2000 parts"),
        ({"type": "object", "$defs": CHAIN}, "", "nested deeper than 40 levels"),
        ({"type": "object", "$defs": dict(reversed(list(CHAIN.items())[-50:]))}, "", "nested deeper"),
        (nested(LEVELS_LIMIT + 1), "", "nested deeper"),
    ],
)
def test_unusable_output_schema_is_refused_with_reason_and_place(schema: object, path: str, reason: str) -> None:
    (flaw,) = flaws(schema)
    assert ".".join(str(part) for part in flaw.path) == path
    assert reason in flaw.reason


def test_output_schema_mistakes_are_reported_at_once() -> None:
    wrong = properties(a={"type": "strnig", "pattern": "("}, b={"$ref": "x"}) | {"required": "a"}
    assert [flaw.path for flaw in flaws(wrong)] == [
        ("properties", "a", "pattern"),
        ("properties", "a", "type"),
        ("properties", "b", "$ref"),
        ("required",),
    ]


def test_deepest_accepted_output_schema_can_be_validated() -> None:
    deepest = nested(LEVELS_LIMIT)
    assert flaws(deepest) == []
    # As many negations as there are levels below the first: an odd number.
    assert len(problems(deepest, {})) == 1


def test_number_too_large_for_a_float_is_a_mistake_in_the_answer() -> None:
    schema = {"type": "object", "properties": {"a": {"multipleOf": 0.1}}}
    assert problems(schema, {"a": 10**400}) == ["the whole answer: a number is too large"]


def test_output_pattern_is_matched_in_linear_time() -> None:
    assert flaws(EVIL) == []
    # A backtracking engine would not come to an end at all.
    assert len(problems(EVIL, {"a": "a" * 39_000 + "!"})) == 1


@given(st.lists(st.one_of(st.integers(-2, 2), st.floats(-2, 2), st.sampled_from(["a", "1"]), st.booleans())))
def test_unique_items_of_an_answer_are_compared_by_json_equality(items: list[object]) -> None:
    schema = {"type": "object", "properties": {"a": {"uniqueItems": True}}}
    pairs = [(one, other) for at, one in enumerate(items) for other in items[:at]]
    twice = any(one == other and isinstance(one, bool) == isinstance(other, bool) for one, other in pairs)
    assert bool(problems(schema, {"a": items})) == twice


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '```json\n{"a": 1}\n```', 'Here it is:\n```\n{"a": 1}\n```\nBest', ' {"a":1}\n']
)
def test_answer_in_a_code_fence_is_read(text: str) -> None:
    assert read_answer(text) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "hint"),
    [("Yes.", "not JSON"), ("[1]", "no JSON object"), ('{"a": NaN}', "not JSON"), ("`" * 6, "not JSON"),
     ('{"a": "' + "x" * 40_000 + '"}', "longer than")],
)  # fmt: skip
def test_answer_without_a_json_object_is_refused_with_a_reason(text: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        read_answer(text)
