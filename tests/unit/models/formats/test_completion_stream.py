"""Streams of a provider that streams unasked: they are parsed into an answer or an error."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.models.formats.chat_completions import parse_answer
from gofer.models.language_model import Answer, Refused, Unavailable, Unusable
from gofer.values.messages import ToolAsk, Usage


def event(delta: dict[str, object], finish: str | None = None, **more: object) -> str:
    return json.dumps({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


def stream(*events: str, end: str = "\n\n") -> bytes:
    return "".join(f"data: {one}{end}" for one in events).encode()


def test_streamed_text_is_joined_into_an_answer_with_usage() -> None:
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})
    raw = stream(
        event({"role": "assistant", "content": "Hel"}), event({"content": "lo."}), event({}, "stop"), usage, "[DONE]"
    )
    answer = parse_answer(b": OPENROUTER PROCESSING\n\n" + raw)
    assert (answer.text, answer.finish, answer.model, answer.usage) == ("Hello.", "stop", "m", Usage(9, 2, 0))


def test_streamed_answer_keeps_the_system_fingerprint_of_its_last_chunk_with_one() -> None:
    raw = stream(
        event({"content": "Yes"}, system_fingerprint="fp_1"),
        event({}, "stop", system_fingerprint="fp_2"),
        event({}, system_fingerprint=None),
        "[DONE]",
    )
    assert parse_answer(raw).fingerprint == "fp_2"


def test_streamed_tool_calls_are_joined_by_index() -> None:
    def piece(index: int, arguments: str, **more: object) -> dict[str, object]:
        name = {"name": more.pop("name")} if "name" in more else {}
        return {"tool_calls": [{"index": index, **more, "function": {**name, "arguments": arguments}}]}

    raw = stream(
        event(piece(0, "", id="a", name="look")),
        event(piece(1, "", id="b", name="post", extra_content={"s": 1})),
        event(piece(0, '{"text":')),
        event(piece(1, "{}")),
        event(piece(0, ' "1"}')),
        event({}, "tool_calls"),
    )
    answer = parse_answer(raw)
    assert answer.asks == (
        ToolAsk("a", "look", '{"text": "1"}'),
        ToolAsk("b", "post", "{}", '{"extra_content":{"s":1}}'),
    )
    assert answer.finish == "tool_calls"


def test_streamed_tool_calls_of_equal_index_are_distinguished_by_id() -> None:
    def whole(call: str) -> str:
        return event({"tool_calls": [{"index": 0, "id": call, "function": {"name": call, "arguments": "{}"}}]})

    assert [ask.tool for ask in parse_answer(stream(whole("a"), whole("b"), "[DONE]")).asks] == ["a", "b"]


def test_streamed_thoughts_are_separated_from_the_text() -> None:
    answer = parse_answer(
        stream(event({"reasoning": "Hm"}), event({"reasoning": "m."}), event({"content": "Yes."}, "stop"))
    )
    assert (answer.text, answer.thoughts) == ("Yes.", "Hmm.")
    answer = parse_answer(stream(event({"content": "<thi"}), event({"content": "nk>Hm</think>Yes."}, "stop")))
    assert (answer.text, answer.thoughts) == ("Yes.", "<think>Hm</think>")


@pytest.mark.parametrize(
    "raw",
    [
        stream(event({"content": "Half of"})),
        stream(event({"content": "Half of"}))[:-20],
        stream(event({"content": "Half of"})) + b'data: {"choices": [{"del',
        b"data:",
        b": ping\n\n: ping\n\n",
    ],
)
def test_broken_stream_raises_unavailable(raw: bytes) -> None:
    with pytest.raises(Unavailable, match="could not be reached"):
        parse_answer(raw)


def test_error_in_a_stream_is_classified() -> None:
    error = {"message": "Failed", "type": "invalid_request_error", "code": "tool_use_failed", "status_code": 400}
    with pytest.raises(Unusable) as bad_sample:
        parse_answer(b"event: error\n" + stream(json.dumps({"error": error})))
    assert bad_sample.value.provider_error.failure == "bad_sample"
    with pytest.raises(Unavailable) as busy:
        parse_answer(stream(event({"content": "Half"}), json.dumps({"error": {"code": 502, "message": "upstream"}})))
    assert busy.value.provider_error.status == 502


def test_error_in_a_successful_response_is_classified() -> None:
    with pytest.raises(Refused) as raised:
        parse_answer(b'{"error": {"message": "Insufficient credits", "code": 402}}')
    assert raised.value.provider_error.failure == "no_credit"
    choice = {"finish_reason": "error", "message": {"content": ""}, "error": {"code": 503, "message": "down"}}
    with pytest.raises(Unavailable):
        parse_answer(json.dumps({"choices": [choice]}).encode())


@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=6), st.sampled_from(["\n\n", "\r\n\r\n", "\r\r"]))
def test_streamed_text_is_independent_of_event_boundaries(text: str, cuts: list[int], end: str) -> None:
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[begin:stop] for begin, stop in itertools.pairwise(places)]
    whole = json.dumps({"choices": [{"message": {"content": "".join(pieces)}}]}).encode()
    assert (
        parse_answer(stream(*(event({"content": piece}) for piece in pieces), "[DONE]", end=end)).text
        == parse_answer(whole).text
    )


def json_values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    names = st.sampled_from(["index", "id", "function", "name", "arguments", "content", "tool_calls", "function_call"])
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4))


@given(
    st.lists(st.dictionaries(st.sampled_from(["tool_calls", "function_call", "content"]), json_values()), max_size=4)
)
def test_any_streamed_deltas_are_an_answer(deltas: list[dict[str, object]]) -> None:
    assert isinstance(parse_answer(stream(*map(event, deltas), "[DONE]")), Answer)


@given(st.binary(max_size=80))
def test_random_stream_bytes_raise_unavailable_or_unusable(raw: bytes) -> None:
    with pytest.raises((Unavailable, Unusable)):
        parse_answer(b"data: " + raw)


def test_streamed_content_parts_are_split_into_text_and_thoughts() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    said = [{"type": "text", "text": "Hello"}]
    answer = parse_answer(stream(event({"content": thinking}), event({"content": said}), "[DONE]"))
    assert (answer.text, answer.thoughts) == ("Hello", "Hm.")
