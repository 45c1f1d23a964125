import json
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import pytest
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

from gofer.models.formats.format import is_strict
from gofer.models.formats.responses import Responses
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.values.messages import Media, ToolAsk

BY = {"api": "responses", "model": "m"}
TOOL: Mapping[str, object] = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {}},
}
THOUGHT: Mapping[str, object] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}
CALL: Mapping[str, object] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"b":1,"a":',
}
ITEMS = [THOUGHT, CALL]
CLOSED: Mapping[str, object] = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}


def asked(*parts: bytes, by: str = "m", **params: object) -> Mapping[str, object]:
    """Return what is sent for messages, after the types of the SDK have read it."""
    body = encode({"model": "m", **params, "messages": [json.loads(part) for part in parts]})
    wire = Responses().encode(body, by)
    assert wire == Responses().encode(body, by)
    sent = json.loads(wire.body)
    assert sent["store"] is False
    form = ResponseCreateParamsStreaming if wire.stream else ResponseCreateParamsNonStreaming
    adapter: TypeAdapter[Mapping[str, object]] = TypeAdapter(form)
    list(cast(Iterable[object], adapter.validate_python(sent).get("tools", [])))
    return sent


def answer(items: Sequence[object], *ids: str, text: str = "", by: Mapping[str, str] = BY) -> bytes:
    calls = tuple(ToolAsk(id_, "look", "{}") for id_ in ids)
    return messages.assistant(text, calls, json.dumps({"items": items}), by)


def items(*parts: bytes, by: str = "m") -> Sequence[Mapping[str, object]]:
    return cast(Sequence[Mapping[str, object]], asked(*parts, by=by)["input"])


def test_request_has_instructions_items_and_flat_tools() -> None:
    sent = asked(
        messages.system("You help."),
        messages.user("Look."),
        tools=[{"type": "function", "function": TOOL}],
        tool_choice={"type": "function", "function": {"name": "look"}},
        max_completion_tokens=900,
        reasoning={"effort": "high", "summary": "auto"},
    )
    assert sent["instructions"] == "You help."
    assert sent["input"] == [{"type": "message", "role": "user", "content": "Look."}]
    assert sent["tools"] == [{**TOOL, "type": "function", "strict": False}]
    assert sent["tool_choice"] == {"type": "function", "name": "look"}
    assert (sent["max_output_tokens"], sent["reasoning"]) == (900, {"effort": "high", "summary": "auto"})
    assert sent["include"] == ["reasoning.encrypted_content"]
    assert "messages" not in sent
    assert "max_completion_tokens" not in sent


@pytest.mark.parametrize("params", [{}, {"reasoning": {"effort": "none"}}])
def test_model_without_effort_is_not_asked_for_encrypted_thoughts(params: dict[str, object]) -> None:
    assert "include" not in asked(messages.system("You help."), messages.user("Look."), **params)


def test_parameters_of_chat_completions_are_written_in_the_words_of_responses() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": CLOSED, "strict": True}}
    sent = asked(messages.user("x"), reasoning_effort="low", verbosity="low", response_format=schema, max_tokens=5)
    assert sent["reasoning"] == {"effort": "low"}
    form = {"type": "json_schema", "name": "n", "schema": CLOSED, "strict": True}
    assert (sent["text"], sent["max_output_tokens"]) == ({"verbosity": "low", "format": form}, 5)
    assert asked(messages.user("x"), response_format={"type": "json_object"})["text"] == {
        "format": {"type": "json_object"}
    }


def test_parameter_that_the_format_does_not_have_is_sent_on() -> None:
    sent = json.loads(Responses().encode(encode({"model": "m", "seed": 3, "stop": ["x"], "messages": []}), "m").body)
    assert (sent["seed"], sent["stop"]) == (3, ["x"])


def test_stream_is_asked_for_where_the_neutral_request_asks_for_one() -> None:
    assert asked(messages.user("x"), stream=True)["stream"] is True
    assert asked(messages.user("x"), stream=False)["stream"] is False


def test_image_and_document_are_parts_of_the_message() -> None:
    image, pages = Media("a.png", "image/png", "AAAA"), Media("b", "application/pdf", "BBBB", pages=2)
    [message] = items(messages.user("See.", [image, pages]))
    assert message["content"] == [
        {"type": "input_text", "text": "See."},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        {"type": "input_file", "filename": "b (2 pages).pdf", "file_data": "data:application/pdf;base64,BBBB"},
    ]


def test_own_items_go_back_unchanged_and_in_place_with_the_provider_id_in_the_result() -> None:
    sent = items(messages.user("x"), answer(ITEMS, "g0001"), messages.tool("g0001", "seen"), messages.user("y"))
    result = {"type": "function_call_output", "call_id": "call_1", "output": "seen"}
    assert list(sent[1:4]) == [*ITEMS, result]
    assert sent[4]["content"] == "y"


@pytest.mark.parametrize("by", [{"api": "responses", "model": "other"}, {"api": "messages", "model": "m"}])
def test_items_of_another_model_or_format_are_left_out(by: Mapping[str, str]) -> None:
    sent = items(answer(ITEMS, "call_1", text="<think>hm</think>I look.", by=by), messages.tool("call_1", "seen"))
    assert sent == [
        {"type": "message", "role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
    ]


def test_unknown_item_goes_back_in_place() -> None:
    raw: list[object] = [
        THOUGHT,
        {"type": "crystal_ball", "id": "cb_1"},
        {"type": "message", "role": "assistant", "content": []},
    ]
    sent = Responses().encode(encode({"messages": [json.loads(answer(raw, text="x"))]}), "m").body
    assert json.loads(sent)["input"] == raw


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param([{**THOUGHT, "encrypted_content": None}, CALL], id="thoughts that were not encrypted"),
        pytest.param([THOUGHT], id="thoughts alone"),
        pytest.param([THOUGHT, CALL, {**CALL, "call_id": "call_2"}], id="a call without an answer"),
        pytest.param([THOUGHT, {**CALL, "call_id": ""}], id="a call without an id"),
        pytest.param([*ITEMS, {"type": "custom_tool_call", "call_id": "c", "name": "x", "input": ""}], id="custom"),
    ],
)
def test_items_that_the_provider_would_refuse_are_left_out_as_a_whole(raw: Sequence[object]) -> None:
    sent = items(answer(raw, "g1"), messages.tool("g1", "seen"))
    assert [item["type"] for item in sent] == ["function_call", "function_call_output"]
    assert {item["call_id"] for item in sent} == {"g1"}


def test_thoughts_at_the_end_of_an_answer_are_left_out() -> None:
    sent = items(answer([*ITEMS, {**THOUGHT, "id": "rs_2"}], "call_1"), messages.tool("call_1", "seen"))
    assert list(sent[:2]) == ITEMS


def test_cache_key_is_the_same_for_one_workflow_only() -> None:
    first = asked(messages.system("A"), messages.user("x"))["prompt_cache_key"]
    assert asked(messages.system("A"), messages.user("y"), temperature=1)["prompt_cache_key"] == first
    assert asked(messages.system("B"), messages.user("x"))["prompt_cache_key"] != first
    assert asked(messages.user("x"), prompt_cache_key="mine")["prompt_cache_key"] == "mine"


def test_marks_of_the_cache_are_after_the_system_text_and_before_the_tail() -> None:
    history = [messages.system("A"), messages.user("x"), answer(ITEMS, "call_1"), messages.tool("call_1", "seen")]
    sent = asked(*history, messages.user("Step 2."), prompt_cache_options={"mode": "explicit", "ttl": "12h"})
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    first, question, *own, result, tail = cast(Sequence[Mapping[str, object]], sent["input"])
    assert first["content"] == [{"type": "input_text", "text": "A", **mark}]
    assert question["content"] == [{"type": "input_text", "text": "x"}]
    assert own == ITEMS
    assert result["output"] == [{"type": "input_text", "text": "seen", **mark}]
    assert tail["content"] == [{"type": "input_text", "text": "Step 2."}]
    assert "instructions" not in sent


def test_schema_of_the_answer_is_strict_only_if_all_its_objects_are_closed() -> None:
    sent = asked(messages.user("x"), output_schema=CLOSED)
    assert sent["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": CLOSED, "strict": True}}
    within: Mapping[str, object] = {**CLOSED, "properties": {"a": {"type": "object", "properties": {}}}}
    loose: list[Mapping[str, object]] = [
        {},
        within,
        {**CLOSED, "required": []},
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "minProperties": 1},
        {"type": "array", "items": {"type": "object"}},
    ]
    assert not any(map(is_strict, loose))
    array = asked(messages.user("x"), output_schema={"type": "array", "items": CLOSED})
    assert cast(Mapping[str, Mapping[str, object]], array["text"])["format"]["strict"] is False
    assert is_strict({**CLOSED, "properties": {"a": {"anyOf": [CLOSED, {"type": "null"}]}}})
