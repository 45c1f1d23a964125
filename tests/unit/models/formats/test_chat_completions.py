import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.models.formats.chat_completions import ChatCompletions, parse_answer
from gofer.models.formats.completion_stream import is_stream
from gofer.models.formats.format import EXTRA_LIMIT, MOST_CALLS, TEXT_LIMIT, Wire
from gofer.models.language_model import Access, Answer, Unavailable, Unusable
from gofer.models.remote import RemoteEndpoint, remote_endpoint
from gofer.values import messages
from gofer.values.errors import RunStopped, TemporaryError
from gofer.values.messages import ToolAsk, Usage
from gofer.values.secret import Secret

pytestmark = pytest.mark.anyio

ANSWER = b"""{"id": "x", "model": "m-2026-01-01", "choices": [{"index": 0, "finish_reason": "tool_calls", "message":
{"role": "assistant", "content": null, "tool_calls": [{"id": "call_9", "type": "function",
"function": {"name": "look", "arguments": "{\\"text\\": 1}"}}]}}],
"usage": {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}}"""


@asynccontextmanager
async def model(reply: httpx2.Response | Exception) -> AsyncIterator[tuple[RemoteEndpoint, list[httpx2.Request]]]:
    seen: list[httpx2.Request] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        seen.append(request)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        yield remote_endpoint(http, "http://127.0.0.1/v1", Access(key=Secret("k"))), seen


async def test_model_request_is_sent_byte_for_byte_and_the_answer_is_parsed() -> None:
    body = b'{"model":"m","messages":[{"content":"\xc3\xa9","role":"user"}]}'
    async with model(httpx2.Response(200, content=ANSWER)) as (asked, seen):
        answer = await asked.ask(body, 5)
    assert seen[0].content == body
    assert seen[0].headers["content-type"] == "application/json"
    assert seen[0].headers["authorization"] == "Bearer k"
    assert seen[0].url.path == "/v1/chat/completions"
    assert answer.asks == (ToolAsk("call_9", "look", '{"text": 1}'),)
    assert (answer.text, answer.finish, answer.model) == ("", "tool_calls", "m-2026-01-01")
    assert answer.usage == Usage(10, 3, 4)


def test_answer_keeps_the_system_fingerprint_of_the_provider_up_to_a_limit() -> None:
    body = json.loads(ANSWER)
    assert (
        parse_answer(json.dumps({**body, "system_fingerprint": "fp_44709d6fcb"}).encode()).fingerprint
        == "fp_44709d6fcb"
    )
    assert len(parse_answer(json.dumps({**body, "system_fingerprint": "f" * 9_000}).encode()).fingerprint) == 200
    for absent in (None, 7, {}):
        assert parse_answer(json.dumps({**body, "system_fingerprint": absent}).encode()).fingerprint == ""


async def test_traceparent_is_a_header_beside_the_same_bytes_and_of_one_question_only() -> None:
    body = b'{"model":"m","messages":[{"content":"hello","role":"user"}]}'
    async with model(httpx2.Response(200, content=ANSWER)) as (asked, seen):
        await asked.within("00-ab-cd-01").ask(body, 5)
        await asked.ask(body, 5)
    assert [request.content for request in seen] == [body, body]
    assert [request.headers.get("traceparent") for request in seen] == ["00-ab-cd-01", None]
    assert seen[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (401, RunStopped, "OPENAI_API_KEY"),
        (400, RunStopped, "HTTP 400"),
        (404, RunStopped, "model's name"),
        (403, RunStopped, "OPENAI_API_KEY"),
        (429, TemporaryError, "HTTP 429"),
        (503, TemporaryError, "HTTP 503"),
    ],
)
async def test_provider_refusal_names_the_remedy_and_is_not_retried(status: int, error: type, hint: str) -> None:
    async with model(httpx2.Response(status, json={"error": {"message": "the model is secret"}})) as (asked, seen):
        with pytest.raises(error, match=hint) as raised:
            await asked.ask(b"{}", 5)
    assert "secret" not in str(raised.value)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (413, b"<html>413 Request Entity Too Large</html>"),
        (400, b'{"error": {"code": "context_length_exceeded", "message": "secret"}}'),
        (400, b'{"error": {"message": "This model\'s maximum context length is 8192 tokens, secret"}}'),
        (400, b'{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum, secret"}}'),
    ],
)
async def test_request_too_large_for_the_model_names_the_setting_that_helps(status: int, said: bytes) -> None:
    async with model(httpx2.Response(status, content=said)) as (asked, _):
        with pytest.raises(RunStopped, match=r"`window` of this model in agents/defaults\.yaml") as raised:
            await asked.ask(b"{}", 5)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("1.5", 1.5), ("", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 0.0), ("-1", 0.0)]
)
async def test_retry_after_of_a_429_is_passed_on(header: str, seconds: float) -> None:
    async with model(httpx2.Response(429, headers={"Retry-After": header})) as (asked, _):
        with pytest.raises(TemporaryError) as raised:
            await asked.ask(b"{}", 5)
    assert raised.value.retry_after == seconds


@pytest.mark.parametrize("failure", [httpx2.ConnectError("no"), httpx2.ReadTimeout("slow"), httpx2.ReadError("cut")])
async def test_unreachable_model_raises_temporary_error_after_a_single_request(failure: Exception) -> None:
    async with model(failure) as (asked, seen):
        with pytest.raises(TemporaryError, match="could not be reached"):
            await asked.ask(b"{}", 5)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": 4}', b'{"message": "Welcome"}']
)
def test_malformed_model_answer_raises_unusable(raw: bytes) -> None:
    with pytest.raises(Unusable):
        parse_answer(raw)


def json_values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("length")
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    )


def shapes(*levels: str | int) -> st.SearchStrategy[object]:
    """Return answers that are valid down to some level and any value below it."""
    if not levels:
        return json_values()
    level, deeper = levels[0], shapes(*levels[1:])
    if isinstance(level, int):
        return json_values() | st.lists(deeper, min_size=1, max_size=3)
    others = st.dictionaries(st.sampled_from(["content", "refusal", "finish_reason", "id", "usage"]), json_values())
    return json_values() | st.builds(lambda value, rest: {**rest, level: value}, deeper, others)


@given(shapes("choices", 0, "message", "tool_calls", 0, "function", "arguments"))
def test_any_json_is_a_model_answer_or_raises_unusable(body: object) -> None:
    raw = json.dumps(body).encode()
    try:
        answer = parse_answer(raw)
    except Unusable:
        return
    assert isinstance(answer, Answer)
    assert all(isinstance(ask.arguments, str) for ask in answer.asks)
    json.dumps([answer.text, answer.finish, answer.model], ensure_ascii=False).encode()


@example(b":")
@given(st.binary(max_size=50))
def test_random_bytes_are_unusable_or_a_stream_that_broke_off(raw: bytes) -> None:
    with pytest.raises(Unavailable if is_stream(raw) else Unusable):
        parse_answer(raw)


def test_parts_of_a_model_answer_are_cut_to_limits() -> None:
    call = {"id": "i" * 10**4, "function": {"name": "n" * 10**4, "arguments": "{}"}}
    message = {"content": "x" * (TEXT_LIMIT + 1), "tool_calls": [call] * (MOST_CALLS + 1)}
    choice = {"message": message, "finish_reason": "f" * 10**4}
    answer = parse_answer(json.dumps({"choices": [choice], "model": "m" * 10**4}).encode())
    assert (len(answer.text), len(answer.asks)) == (TEXT_LIMIT, MOST_CALLS)
    assert max(map(len, (answer.finish, answer.model, answer.asks[0].id, answer.asks[0].tool))) == 200


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"reasoning_content": "so\ud800", "reasoning": "twice"}, '{"reasoning_content":"so\ufffd"}'),
        ({"reasoning_details": [{"data": "x"}]}, '{"reasoning_details":[{"data":"x"}]}'),
        ({"reasoning_content": ""}, ""),
        ({"reasoning_content": "x" * EXTRA_LIMIT}, ""),
        ({"content": "hello"}, ""),
    ],
)
def test_thoughts_are_kept_for_resending_to_the_provider(said: dict[str, object], kept: str) -> None:
    assert parse_answer(json.dumps({"choices": [{"message": said}]}).encode()).extra == kept


def test_number_too_large_for_json_raises_unusable() -> None:
    with pytest.raises(Unusable):
        parse_answer(b'{"choices": [{"message": {"tool_calls": [{"function": {"arguments": {"n": 1e999}}}]}}]}')


def test_omitted_tool_arguments_are_empty_json_unless_the_answer_was_cut() -> None:
    def arguments(finish: str, **function: str) -> str:
        message = {"tool_calls": [{"function": {"name": "look", **function}}]}
        body = {"choices": [{"message": message, "finish_reason": finish}]}
        return parse_answer(json.dumps(body).encode()).asks[0].arguments

    assert arguments("tool_calls") == arguments("tool_calls", arguments="") == "{}"
    assert arguments("length") == arguments("length", arguments="") == ""


def test_missing_and_mistyped_parts_of_a_model_answer_get_defaults() -> None:
    answer = parse_answer(
        b'{"choices": [{"message": {"content": 5, "tool_calls": [{}, 7]}}], "usage": {"prompt_tokens": "9"}}'
    )
    assert answer.asks == (ToolAsk("", "", "{}"), ToolAsk("", "", "{}"))
    assert (answer.text, answer.finish, answer.usage) == ("", "stop", Usage())


def test_model_refusal_becomes_the_answer_text_and_the_finish_reason() -> None:
    answer = parse_answer(b'{"choices": [{"message": {"refusal": "I will not."}, "finish_reason": "stop"}]}')
    assert (answer.text, answer.finish) == ("I will not.", "refusal")
    kind = parse_answer(b'{"choices": [{"message": {"refusal": "", "content": "Sure."}, "finish_reason": "stop"}]}')
    assert (kind.text, kind.finish) == ("Sure.", "stop")


def test_implausible_token_counts_become_zero() -> None:
    def usage(**counts: object) -> Usage:
        body = {"choices": [{"message": {"content": "x"}}], "usage": counts}
        return parse_answer(json.dumps(body).encode()).usage

    assert usage(prompt_tokens=10**400, completion_tokens=True) == Usage()
    assert usage(prompt_tokens=-5, completion_tokens=2.5) == Usage()
    cached = usage(prompt_tokens=10, prompt_tokens_details={"cached_tokens": 1_000})
    assert cached == Usage(10, 0, 10)


def test_structured_arguments_and_texts_are_converted_to_strings() -> None:
    function = {"name": "look", "arguments": {"text": "é"}}
    message = {"content": [{"type": "text", "text": "a"}, {"text": "b"}], "tool_calls": [{"function": function}]}
    answer = parse_answer(json.dumps({"choices": [{"message": message}]}).encode())
    assert answer.text == "ab"
    assert answer.asks[0].arguments == '{"text":"é"}'
    for odd in ([1], 5, True):
        function["arguments"] = odd
        asked = parse_answer(json.dumps({"choices": [{"message": message}]}).encode())
        assert json.loads(asked.asks[0].arguments) == odd


async def test_model_timeout_covers_the_whole_exchange() -> None:
    class Drip(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0.02)
                yield b" "

    async with model(httpx2.Response(200, stream=Drip())) as (asked, _):
        with pytest.raises(TemporaryError, match="did not answer within"):
            await asked.ask(b"{}", 0.2)


async def test_no_shorter_timeout_of_the_client_ends_a_slow_exchange() -> None:
    async with model(httpx2.Response(200, content=ANSWER)) as (asked, seen):
        await asked.ask(b"{}", 300)
    assert set(seen[0].extensions["timeout"].values()) == {None}


async def test_concurrent_model_requests_are_both_sent() -> None:
    async with model(httpx2.Response(200, content=ANSWER)) as (asked, seen):
        await asyncio.gather(asked.ask(b"1", 5), asked.ask(b"2", 5))
    assert sorted(request.content for request in seen) == [b"1", b"2"]


MAKER = {"api": "chat_completions", "model": "ours/m"}
ANSWERED = messages.assistant("<think>why</think>It is db1.", (), '{"reasoning_content":"why"}', MAKER)
NEUTRAL = {"content", "role"}


@pytest.mark.parametrize(("by", "sent"), [("ours/m", {"reasoning_content", *NEUTRAL}), ("m", NEUTRAL)])
def test_thoughts_go_back_to_their_model_and_to_no_other(by: str, sent: set[str]) -> None:
    body = b'{"model":"m","messages":[' + messages.system("s") + b"," + ANSWERED + b"]}"
    (_, answered) = json.loads(ChatCompletions().encode(body, by).body)["messages"]
    assert set(answered) == sent
    assert ("<think>" in answered["content"]) is (by == "ours/m")


def test_request_without_marks_is_sent_unchanged() -> None:
    body = b'{"model":"m","stream":false,"messages":[' + messages.user('it says "by":{') + b"]}"
    assert ChatCompletions().encode(body, "m") == Wire(body)


def test_effort_and_stream_are_written_in_the_words_of_chat_completions() -> None:
    body = b'{"model":"m","reasoning":{"effort":"low"},"stream":true,"messages":[]}'
    wire = ChatCompletions().encode(body, "m")
    assert json.loads(wire.body) == {
        "model": "m",
        "stream": True,
        "reasoning_effort": "low",
        "stream_options": {"include_usage": True},
        "messages": [],
    }
    assert wire.stream
