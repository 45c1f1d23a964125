"""Tool calls that a model writes as text, and answers that only mention calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.answer_text import before_call, written_call

OFFERED = ("look", "jira_create_issue")


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ('<tool_call>{"name": "look", "arguments": {}}</tool_call>', "look"),
        ('<tool_call>\n{"name": "not_offered", "arguments": {}}', "not_offered"),
        ('Sure!<tool_call>{"name": "look"', "look"),
        ("<tool_call>\n<function=look>\n<parameter=a>1</parameter>\n</function>\n</tool_call>", "look"),
        ("<tool_call>look\n<arg_key>a</arg_key>", ""),
        ("<tool_call>", ""),
        ('<function=look>{"a": 1}</function>', "look"),
        ('[TOOL_CALLS][{"name": "look", "arguments": {}}]', "look"),
        ('[TOOL_CALLS]look{"a": 1}', "look"),
        ('<|python_tag|>{"name": "look", "parameters": {}}', "look"),
        ('<function_calls>\n<invoke name="look">', "look"),
        ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function", ""),
        ('{"name": "look", "arguments": {"a": 1}}', "look"),
        ('{"name": "look", "parameters": "{}"}', "look"),
        ('[{"name": "look", "arguments": {}}, {"name": "look", "arguments": {}}]', "look"),
        ('{"tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]}', "look"),
        ('{"type": "function", "function": {"name": "look", "arguments": {}}}', "look"),
        ('```json\n{"name": "look", "arguments": {}}\n```', "look"),
        ('```\n<tool_call>{"name": "look", "arguments": {}}</tool_call>\n```', "look"),
    ],
)
def test_written_tool_call_is_recognized_in_every_form(text: str, tool: str) -> None:
    assert written_call(text, OFFERED) == tool


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"name": "Kim", "arguments": "none"}',
        '{"name": "look"}',
        '[{"name": "look", "arguments": {}}, {"name": "Kim", "arguments": {}}]',
        'A call looks like this:\n\n```json\n{"name": "look", "arguments": {}}\n```',
        "Write it as `<tool_call>{...}</tool_call>`.",
        'Write it like this:\n\n```\n<tool_call>\n{"name": "look"}\n</tool_call>\n```\n',
        "The tag <tool_call> begins a call.",
        "Models of Mistral write `[TOOL_CALLS]` first.",
        'I called look with {"a": 1} and found two.',
        '```json\n{"name": "deploy", "input": {"stage": "prod"}}\n```',
        "```python\nlook(1)\n```",
    ],
)
def test_answer_about_tool_calls_stays_an_answer(text: str) -> None:
    assert written_call(text, OFFERED) is None


@given(st.text(max_size=200))
def test_ordinary_text_contains_no_tool_call(text: str) -> None:
    assert written_call(text, OFFERED) is None


@given(
    st.text(alphabet="abc .,\n", max_size=30),
    st.dictionaries(st.sampled_from(["name", "arguments", "tool", "input", "x"]), st.text(max_size=5) | st.integers()),
    st.text(alphabet="abc .,", min_size=1, max_size=30),
)
def test_json_explained_to_a_person_is_no_tool_call(before: str, value: dict[str, object], after: str) -> None:
    shown = json.dumps({**value, "name": "look"})
    assert written_call(f"{before}x\n```json\n{shown}\n```\n{after}", OFFERED) is None
    assert written_call(f"{before}x `{shown}` {after}", OFFERED) is None


@given(
    st.recursive(
        st.none() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner)
    )
)
def test_json_that_names_no_offered_tool_is_no_tool_call(value: object) -> None:
    assert written_call(json.dumps(value), OFFERED) is None


@pytest.mark.parametrize("piece", ["<tool_call>", "`<tool_call>{", "[TOOL_CALLS]", "\n", "<tool_call> ", "{", "```\n"])
def test_million_characters_of_call_markers_are_parsed_without_hanging(piece: str) -> None:
    # No time is asserted: with a quadratic number of steps this test would never end.
    written_call(piece * (1_000_000 // len(piece)), OFFERED)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Two builds failed.", "Two builds failed."),
        ('Two builds failed.\n\n<tool_call>{"name": "look", "arguments": {}}</tool_call> Done.', "Two builds failed."),
        ('<tool_call>{"name": "look", "arguments": {}}</tool_call>', ""),
        ('{"name": "look", "arguments": {}}', ""),
        ("Write `<function=look>` for a call.", "Write `<function=look>` for a call."),
    ],
)
def test_text_before_a_written_tool_call_is_kept(text: str, before: str) -> None:
    assert before_call(text, {"look"}) == before
