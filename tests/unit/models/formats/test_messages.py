"""The format Messages: the blocks that are sent, marks for the cache, and what an answer means."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.formats.format import Wire
from gofer.models.formats.messages import BLOCKS, MOST_TOKENS, Messages
from gofer.models.language_model import DEPLOYED, Answer, Refused, Unavailable, Unusable
from gofer.values import messages
from gofer.values.messages import Media, ToolAsk, Usage

FORMAT = Messages()
MARK = {"type": "ephemeral"}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in "ab"
]
THINKING = {"type": "thinking", "thinking": "first a", "signature": "c2ln"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"z": 1, "b": 2.0}}
MAKER = {"api": "messages", "model": "anthropic/claude"}
ASK = ToolAsk("toolu_1", "a", '{"b":2.0,"z":1}')


def sent(*parts: bytes, by: str = "anthropic/claude", **params: object) -> dict[str, Any]:
    head = json.dumps({"model": "claude", "stream": False, **params}).encode()[:-1]
    body = head + b',"messages":[' + b",".join([messages.system("Be brief."), *parts]) + b"]}"
    return json.loads(FORMAT.encode(body, by).body)


def body_of(*content: object, **fields: object) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 7}
    whole = {"type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn", "usage": usage}
    return json.dumps({**whole, "content": content, **fields}).encode()


def parsed(raw: bytes) -> Answer:
    return FORMAT.parse(raw, DEPLOYED)


def stream(*events: object) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)


def test_tail_of_a_request_stays_behind_the_marks_of_tools_and_system_text() -> None:
    body = sent(messages.user("hi"), messages.user("tail"), tools=TOOLS, max_completion_tokens=50)
    assert (body["max_tokens"], body["system"]) == (50, [{"type": "text", "text": "Be brief.", "cache_control": MARK}])
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    (turn,) = body["messages"]
    assert [block.get("cache_control") for block in turn["content"]] == [MARK, None]
    assert body["tools"][0] == {"name": "a", "description": "a", "input_schema": {"type": "object"}}


def test_results_stand_in_one_turn_before_the_words_of_people() -> None:
    called = messages.assistant("", (ASK, ToolAsk("x2", "b", "broken")))
    body = sent(
        messages.user("hi"), called, messages.tool("toolu_1", "one"), messages.tool("x2", ""), messages.user("t")
    )
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"][1] == {"type": "tool_use", "id": "x2", "name": "b", "input": {}}
    assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_result", "tool_result", "text"]
    assert (body["max_tokens"], "tools" in body) == (MOST_TOKENS, False)


@pytest.mark.parametrize(
    ("kind", "miss"), [("system_changed", "system_changed"), ("unavailable", ""), ("previous_message_not_found", "")]
)
def test_only_a_diagnosis_is_the_reason_of_a_cache_miss(kind: str, miss: str) -> None:
    answer = parsed(body_of(id="msg_1", diagnostics={"cache_miss_reason": {"type": kind}}))
    assert (answer.cache_miss, answer.response_id) == (miss, "msg_1")


@given(words=st.text(), signature=st.text(), arguments=st.dictionaries(st.text(), st.text()))
def test_thoughts_and_their_signature_return_character_by_character(
    words: str, signature: str, arguments: dict[str, str]
) -> None:
    blocks = [{"signature": signature, "type": "thinking", "thinking": words}, {**USE, "input": arguments}]
    answer = parsed(body_of(*blocks, stop_reason="tool_use"))
    said = messages.assistant(answer.text, answer.asks, answer.extra, MAKER)
    body = sent(messages.user("hi"), said, messages.tool(answer.asks[0].id, "one"), messages.user("t"))
    assert body["messages"][1]["content"] == blocks


@pytest.mark.parametrize("by", ["anthropic/claude", "claude"])
def test_thoughts_return_unchanged_to_their_model_only(by: str) -> None:
    extra = json.dumps({BLOCKS: [THINKING, {**USE, "id": "toolu_9"}]})
    called = messages.assistant("", (ASK,), extra, MAKER)
    body = sent(messages.user("hi"), called, messages.tool("toolu_1", "one"), messages.user("t"), by=by)
    own = by == "anthropic/claude"
    assert (body["messages"][1]["content"][0] == THINKING) is own
    assert body["messages"][2]["content"][0]["tool_use_id"] == ("toolu_9" if own else "toolu_1")


def test_turn_goes_back_in_neutral_form_if_a_call_in_its_blocks_was_not_kept() -> None:
    extra = json.dumps({BLOCKS: [THINKING, USE, {**USE, "id": "toolu_2"}]})
    called = messages.assistant("", (ASK,), extra, MAKER)
    body = sent(messages.user("hi"), called, messages.tool("toolu_1", "one"), messages.user("t"))
    assert body["messages"][1]["content"] == [USE]


def test_ids_of_another_model_are_written_in_the_letters_that_the_vendor_takes() -> None:
    called = messages.assistant("", (ToolAsk("f.a:0", "a", "{}"), ToolAsk("f.a.0", "a", "{}")))
    body = sent(
        messages.user("hi"), called, messages.tool("f.a:0", "1"), messages.tool("f.a.0", "2"), messages.user("t")
    )
    ids = [block["id"] for block in body["messages"][1]["content"]]
    assert ids == ["call_0_f_a_0", "call_1_f_a_0"]
    assert [block.get("tool_use_id") for block in body["messages"][2]["content"]] == [*ids, None]


def test_empty_text_is_no_block() -> None:
    head = b'{"model":"m","messages":['
    body = head + b",".join([messages.system(""), messages.user("hi"), messages.assistant("", ()), messages.user("t")])
    request = json.loads(FORMAT.encode(body + b"]}", "m").body)
    assert "system" not in request
    (turn,) = request["messages"]
    assert [block["text"] for block in turn["content"]] == ["hi", "t"]


@pytest.mark.parametrize("arguments", ["[1]", "broken", '{"n":1e999}', "[" * 10_000])
def test_arguments_that_are_no_object_are_sent_as_none(arguments: str) -> None:
    call = {"id": "x", "type": "function", "function": {"name": "a", "arguments": arguments}}
    called = json.dumps({"role": "assistant", "content": None, "tool_calls": [call]}).encode()
    body = sent(messages.user("hi"), called, messages.tool("x", "one"), messages.user("t"))
    assert body["messages"][1]["content"] == [{"type": "tool_use", "id": "x", "name": "a", "input": {}}]


def test_images_and_documents_are_blocks() -> None:
    media = [
        Media(file="f", media_type="image/png", data="QQ=="),
        Media(file="g", media_type="application/pdf", data="Qg=="),
    ]
    (turn,) = sent(messages.user("look", media))["messages"]
    assert [block["type"] for block in turn["content"]] == ["text", "image", "document"]
    assert turn["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "QQ=="}


@pytest.mark.parametrize(
    ("reasoning", "thinking", "effort"),
    [
        ({"effort": "high", "summary": "auto"}, {"type": "adaptive", "display": "summarized"}, "high"),
        ({"effort": "minimal"}, {"type": "adaptive", "display": "omitted"}, "low"),
        ({"effort": "none"}, {"type": "disabled"}, None),
    ],
)
def test_reasoning_is_written_in_the_words_of_messages(
    reasoning: dict[str, str], thinking: dict[str, str], effort: str | None
) -> None:
    body = sent(messages.user("hi"), reasoning=reasoning)
    assert (body["thinking"], body.get("output_config", {}).get("effort")) == (thinking, effort)
    assert "reasoning" not in body


@pytest.mark.parametrize(
    ("choice", "given"),
    [
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "a"}}, {"type": "tool", "name": "a"}),
        ("auto", None),
    ],
)
def test_choice_of_tools(choice: object, given: object) -> None:
    assert sent(messages.user("hi"), tools=TOOLS, tool_choice=choice).get("tool_choice") == given


def test_only_a_strict_schema_of_the_answer_is_sent() -> None:
    strict = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert sent(messages.user("hi"), output_schema=strict)["output_config"]["format"]["schema"] == strict
    assert "output_config" not in sent(messages.user("hi"), output_schema={**strict, "required": []})


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("pause_turn", "length"),
        ("refusal", "refusal"),
        ("of tomorrow", "of tomorrow"),
    ],
)
def test_stop_reasons(reason: str, finish: str) -> None:
    assert parsed(body_of({"type": "text", "text": "Hi."}, stop_reason=reason)).finish == finish


def test_full_window_counts_as_a_too_large_request() -> None:
    with pytest.raises(Refused) as caught:
        parsed(body_of(stop_reason="model_context_window_exceeded"))
    assert caught.value.provider_error.failure == "too_large"


def test_answer_with_thoughts_keeps_its_blocks_and_counts_every_token() -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_1h_input_tokens": 10, "ephemeral_5m_input_tokens": 20},
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    unknown = {"type": "of_tomorrow", "data": 1}
    missed = {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 9}}
    answer = parsed(body_of(THINKING, USE, unknown, stop_reason="tool_use", usage=usage, diagnostics=missed))
    assert answer.usage == Usage(135, 9, 100, 30, 10, 4)
    assert json.loads(answer.extra) == {BLOCKS: [THINKING, USE, unknown]}
    assert (answer.thoughts, answer.asks, answer.cache_miss) == ("first a", (ASK,), "tools_changed")


def test_plain_answer_has_no_extra() -> None:
    assert parsed(body_of({"type": "text", "text": "Hi."}, USE)).extra == ""


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b'{"type":"message"}', b'{"choices":[]}'])
def test_body_of_another_kind_is_unusable(raw: bytes) -> None:
    with pytest.raises(Unusable):
        parsed(raw)


@pytest.mark.parametrize(
    ("kind", "failure"),
    [("overloaded_error", "busy"), ("billing_error", "no_credit"), ("request_too_large", "too_large")],
)
def test_error_in_place_of_an_answer_has_the_words_of_the_provider(kind: str, failure: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "so it is"}, "request_id": "r"}
    for raw in (json.dumps(error).encode(), stream({"type": "ping"}, error)):
        with pytest.raises((Unavailable, Refused)) as caught:
            parsed(raw)
        assert (caught.value.provider_error.failure, caught.value.provider_error.message) == (failure, "so it is")


EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": json.loads(body_of(usage={"input_tokens": 10, "output_tokens": 1}))},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "first a"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {**USE, "input": {}}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"z":1,'}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"b":2.0}'}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}},
    {"type": "message_stop"},
]


def test_stream_is_read_as_the_answer_in_one_piece() -> None:
    whole = body_of(THINKING, USE, stop_reason="tool_use", usage={"input_tokens": 10, "output_tokens": 12})
    assert parsed(stream(*EVENTS)) == parsed(whole)


@pytest.mark.parametrize("events", range(len(EVENTS)))
def test_stream_without_its_end_is_no_answer(events: int) -> None:
    with pytest.raises((Unavailable, Unusable)):
        parsed(stream(*EVENTS[:events]))


def test_cut_arguments_stay_a_text_and_return_as_none() -> None:
    cut = [*EVENTS[:8], {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}, {"type": "message_stop"}]
    answer = parsed(stream(*cut))
    assert (answer.asks[0].arguments, answer.finish) == ('{"z":1,', "length")
    assert json.loads(answer.extra)[BLOCKS][1]["input"] == {}


def test_request_for_a_stream_is_marked() -> None:
    body = b'{"model":"m","stream":true,"messages":[' + messages.system("s") + b"]}"
    wire = FORMAT.encode(body, "m")
    assert isinstance(wire, Wire)
    assert wire.stream


def test_thoughts_that_another_model_writes_into_its_text_are_no_words_for_people() -> None:
    blocks = [{"type": "text", "text": "<think>Hm.</think>\nI look."}, USE]
    answer = parsed(body_of(*blocks))
    assert (answer.text, answer.thoughts) == ("I look.", "<think>Hm.</think>")
    said = messages.assistant(answer.text, answer.asks, answer.extra, MAKER)
    assert sent(said, messages.tool("toolu_1", "x"), messages.user("t"))["messages"][0]["content"] == blocks
    other = sent(said, messages.tool("toolu_1", "x"), messages.user("t"), by="m")["messages"][0]["content"]
    assert [block.get("text") for block in other] == ["I look.", None]
