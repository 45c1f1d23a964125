"""Typed answers as text: the reply template of the workflow, or a line for each field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.workflows.reply_template import LONGEST, NOTHING, fields_in, fields_of, render

SCHEMA: dict[str, object] = {
    "type": "object",
    "required": ["title", "issue_key"],
    "properties": {"title": {"type": "string"}, "issue_key": {"type": "string", "title": "Ticket"}, "steps": {}},
}


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("{title} goes to {team}.", {"title": "A", "team": "B"}, "A goes to B."),
        ("Steps:\n{steps}", {"steps": ["one", 2, True]}, "Steps:\n- one\n- 2\n- yes"),
        ("Steps: {steps}.", {"steps": ["one", "two"]}, "Steps: one, two."),
        ("{size}", {"size": 0}, "0"),
        ("{done}", {"done": False}, "no"),
        ("{price}", {"price": 1.5}, "1.5"),
        (
            "{people}",
            {"people": [{"name": "Ann", "teams": ["a", "b"]}, {"name": "Bob", "teams": []}]},
            "- Name: Ann, Teams: (a, b)\n- Name: Bob",
        ),
        ("{where}", {"where": {"city": "Berlin", "floor": 3}}, "- City: Berlin\n- Floor: 3"),
        ("At {where}.", {"where": {"city": "Berlin", "floor": None}}, "At City: Berlin."),
        ("{title}\nOwner: {owner}\nEnd", {"title": "A"}, "A\nEnd"),
        ("A\n\n{gone}\n\nB", {}, "A\n\nB"),
        ("{title}", {"title": "{team}", "team": "x"}, "{team}"),
        ("{} stays, { too", {}, "{} stays, { too"),
        ("{{title}} is {{{title}}}, }} {{", {"title": "A"}, "{title} is {A}, } {"),
        ("{steps}\nBye {title}", {"steps": ["one", "two"], "title": "A"}, "- one\n- two\n\nBye A"),
        ("{title}\nBye", {"title": "Look:\n- A"}, "Look:\n- A\n\nBye"),
        ("- {title}\n  and more\nBye", {"title": "A"}, "- A\n  and more\n\nBye"),
        ("- {title}\nBye", {"title": "A"}, "- A\n\nBye"),
        ("- First: {title}\n{steps}", {"steps": ["one"], "title": "A"}, "- First: A\n- one"),
        ("{steps}", {"steps": ["one\ntwo\n\nthree", "four"]}, "- one\n  two\n\n  three\n- four"),
        ("{where}", {"where": {"city": "Bad\nTölz", "floor": 3}}, "- City: Bad\n  Tölz\n- Floor: 3"),
        ("- {title}\n- end", {"title": "one\ntwo"}, "- one\n  two\n- end"),
        ("A\n{steps}\nB", {"steps": [None, ""]}, "A\nB"),
    ],
)
def test_reply_template_formats_values_as_text(template: str, value: dict[str, object], text: str) -> None:
    assert render(template, SCHEMA, value) == text


def test_typed_answer_without_a_template_has_a_line_per_field_required_fields_first() -> None:
    value = {"steps": ["one", "two"], "more_of_it": {"a": 1}, "issue_key": "OPS-1", "title": "Long\ntext", "none": None}
    assert render("", SCHEMA, value) == (
        "- **Title:**\n  Long\n  text\n- **Ticket:** OPS-1\n- **Steps:**\n  - one\n  - two\n- **More of it:**\n  - A: 1"
    )


def test_typed_answer_without_a_template_starts_lists_and_objects_on_a_new_line() -> None:
    value = {"issue_key": {"name": "bo"}, "steps": ["only one"], "title": "", "none": [None]}
    assert render("", SCHEMA, value) == "- **Ticket:**\n  - Name: bo\n- **Steps:**\n  - only one"


def test_reply_template_with_too_long_a_result_is_ignored() -> None:
    assert render("{title}" * 500, SCHEMA, {"title": "x" * 1_000}) == f"- **Title:** {'x' * 1_000}"
    assert render("", SCHEMA, {"title": ""}) == NOTHING


def test_template_fields_include_the_fields_of_schema_alternatives() -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"a": {}},
        "allOf": [{"$ref": "#/$defs/more"}],
        "oneOf": [{"properties": {"b": {}}}],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"properties": {"c": {}}},
        "$defs": {"more": {"properties": {"d": {}}}},
    }
    assert sorted(fields_in(schema)) == ["a", "b", "c", "d"]
    assert fields_of("{a} and {b.c} and {a} and {{d}}") == ["a", "b.c"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.text(max_size=60), st.dictionaries(st.sampled_from(["title", "steps", "x", ""]), values, max_size=4))
def test_typed_answer_of_any_value_has_a_bounded_text(template: str, value: dict[str, object]) -> None:
    told = render(template, SCHEMA, value)
    assert told
    assert len(told) <= LONGEST
