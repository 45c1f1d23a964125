"""The loopback vendor of models: it answers the requests that Gofer makes, and refuses one bad request of each kind."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import pytest

from gofer.models.language_model import DEPLOYED, Answer, Refused
from gofer.models.remote import FORMATS, remote_endpoint
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.values.messages import APIS, Api, ToolAsk, Usage
from support.models.answer_bodies import body_of, stream_of
from support.models.refusing_vendor import Issued, refusals, refusing_vendor
from support.models.request_types import read_by_the_sdk

pytestmark = pytest.mark.anyio

Body = dict[str, Any]
HEADERS = {"anthropic-version": "2026-10-21"}
TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
CALLS = (ToolAsk("call_1", "look", '{"a":1}'), ToolAsk("call_2", "look", "{}"))
THOUGHT = Answer("I look.", CALLS, "tool_calls", "m", Usage(90, 9, 20, 30, 0, 5), thoughts="Hm. ½")
ANSWERS = (
    THOUGHT,
    Answer("Done.", (), "stop", "m", Usage(9, 9)),
    Answer("", CALLS, "tool_calls", "m", Usage(9, 9)),
    Answer("I will not.", (), "refusal", "m", Usage(9, 9)),
    Answer("half", (), "length", "m", Usage(9, 9)),
    Answer("", (), "content_filter", "m", Usage(9, 9)),
)


def history(api: Api, model: str = "m", **params: object) -> tuple[Body, Issued]:
    """Return a request with the answer of the vendor in its history, as Gofer sends it."""
    said = body_of(THOUGHT, api, 1)
    if api == "chat_completions":
        del said["choices"][0]["message"]["reasoning_content"]
    issued = Issued()
    issued.note(said, api)
    answer = FORMATS[api].parse(json.dumps(said).encode(), DEPLOYED)
    parts = [
        messages.system("You help."),
        messages.user("Look."),
        messages.assistant(answer.text, answer.asks, answer.extra, {"api": api, "model": model}),
        *(messages.tool(ask.id, "seen") for ask in answer.asks),
        messages.user("Used so far: 1 call."),
    ]
    neutral = {"model": model, "tools": [{"type": "function", "function": TOOL}], **params}
    body = encode({**neutral, "messages": list(map(json.loads, parts))})
    return json.loads(FORMATS[api].encode(body, model).body), issued


def refused(request: Body, api: Api, issued: Issued | None = None, headers: Mapping[str, str] = HEADERS) -> list[str]:
    return refusals(json.dumps(request).encode(), api, headers, issued or Issued())


@pytest.mark.parametrize("api", APIS)
def test_request_with_a_whole_history_is_answered(api: Api) -> None:
    request, issued = history(api)
    assert refused(request, api, issued) == []


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.finish)
def test_answer_survives_each_format_and_its_stream(answer: Answer, api: Api) -> None:
    body = body_of(answer, api, 1)
    read_by_the_sdk(body, api)
    read = FORMATS[api].parse(json.dumps(body).encode(), DEPLOYED)
    finish = "refusal" if api == "messages" and answer.finish == "content_filter" else answer.finish
    assert (read.text, read.asks, read.finish, read.model) == (answer.text, answer.asks, finish, "m")
    tokens = (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens)
    assert (read.usage.input_tokens, read.usage.output_tokens, read.usage.cached_tokens) == tokens
    streamed = FORMATS[api].parse(stream_of(body, api), DEPLOYED)
    assert (streamed.text, streamed.asks, streamed.finish, streamed.extra) == (read.text, read.asks, finish, read.extra)


@pytest.mark.parametrize(
    ("model", "params", "words"),
    [
        ("gpt-5.4-mini", {"reasoning": {"effort": "low"}}, ["Function tools with reasoning_effort"]),
        ("gpt-5.5", {}, ["Function tools with reasoning_effort"]),
        ("gpt-6", {"reasoning": {"effort": "high"}}, ["Function tools with reasoning_effort"]),
        ("gpt-5.4-mini", {}, []),
        ("gpt-5.5", {"reasoning": {"effort": "none"}}, []),
        ("gpt-5.2", {"reasoning": {"effort": "low"}}, []),
    ],
)
def test_tools_with_thoughts_are_refused_on_chat_completions(
    model: str, params: Mapping[str, object], words: list[str]
) -> None:
    request, issued = history("chat_completions", model, **params)
    assert [one[:36] for one in refused(request, "chat_completions", issued)] == words
    del request["tools"]
    assert refused(request, "chat_completions", issued) == []


def without_answer(request: Body) -> None:
    del request["messages"][3]


def unknown_field(request: Body) -> None:
    request["messages"][1]["mood"] = "good"


def unstored(request: Body) -> None:
    del request["store"]


def stored(request: Body) -> None:
    request["store"] = True


def thought_alone(request: Body) -> None:
    request["input"] = request["input"][:2]


def thought_before_people(request: Body) -> None:
    del request["input"][2:7]
    request["input"].append({"type": "message", "role": "user", "content": "Go on."})


def thought_moved(request: Body) -> None:
    request["input"].insert(4, request["input"].pop(1))


def thought_changed(request: Body) -> None:
    request["input"][1]["encrypted_content"] += "x"


def thought_of_another(request: Body) -> None:
    request["input"][1]["id"] = "rs_9"


def no_output(request: Body) -> None:
    del request["input"][5]


def output_of_no_call(request: Body) -> None:
    del request["input"][3]


def seed(request: Body) -> None:
    request["seed"] = 1


def unknown_field_of_an_item(request: Body) -> None:
    request["input"][0]["mood"] = "good"


def sampling(request: Body) -> None:
    request["temperature"] = 1.0


def fifth_mark(request: Body) -> None:
    for block in [*request["messages"][0]["content"], *request["messages"][2]["content"]]:
        block["cache_control"] = {"type": "ephemeral"}


def two_turns_of_people(request: Body) -> None:
    request["messages"].insert(0, {"role": "user", "content": "Hello."})


def prefilled(request: Body) -> None:
    request["messages"].append({"role": "assistant", "content": "I"})


def signature_changed(request: Body) -> None:
    request["messages"][1]["content"][0]["signature"] = "x"


def thinking_changed(request: Body) -> None:
    request["messages"][1]["content"][0]["thinking"] += "x"


def thinking_moved(request: Body) -> None:
    blocks = request["messages"][1]["content"]
    blocks.insert(1, blocks.pop(0))


def thinking_left_out(request: Body) -> None:
    del request["messages"][1]["content"][0]


def other_model(request: Body) -> None:
    request["model"] = "gpt-4.1"


def no_result(request: Body) -> None:
    del request["messages"][2]["content"][0]


def result_after_words(request: Body) -> None:
    request["messages"][2]["content"].insert(0, {"type": "text", "text": "Well."})


def id_of_another_model(request: Body) -> None:
    request["messages"][1]["content"][2]["id"] = "functions.look:0"
    request["messages"][2]["content"][0]["tool_use_id"] = "functions.look:0"


def no_most(request: Body) -> None:
    del request["max_tokens"]


def empty_words(request: Body) -> None:
    request["messages"][0]["content"][0]["text"] = " "


def unknown_field_of_a_tool(request: Body) -> None:
    request["tools"][0]["mood"] = "good"


BAD: list[tuple[Api, Callable[[Body], None], str]] = [
    ("chat_completions", without_answer, "a call without an outcome: call_1"),
    ("chat_completions", unknown_field, "no message: "),
    ("responses", unstored, "This organisation stores nothing"),
    ("responses", stored, "This organisation stores nothing"),
    ("responses", thought_alone, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ("responses", thought_before_people, "Item 'rs_1' of type 'reasoning' was provided without its required"),
    ("responses", thought_moved, "Item 'rs_1' of type 'reasoning' was provided before another item"),
    ("responses", thought_changed, "The encrypted content for item rs_1 could not be verified."),
    ("responses", thought_of_another, "Item 'rs_9' of type 'reasoning' was not found."),
    ("responses", no_output, "No tool output found for function call call_1."),
    ("responses", output_of_no_call, "No tool call found for function call output with call_id call_1."),
    ("responses", seed, "seed: Extra inputs are not permitted"),
    ("responses", unknown_field_of_an_item, "mood: Extra inputs are not permitted"),
    ("messages", sampling, "temperature: not supported at this version"),
    ("messages", fifth_mark, "A maximum of 4 blocks with cache_control may be provided."),
    ("messages", two_turns_of_people, "messages: roles must alternate"),
    ("messages", prefilled, "messages: roles must alternate between user and assistant and end with user"),
    ("messages", signature_changed, "messages: Invalid `signature` in `thinking` block"),
    ("messages", thinking_changed, "messages: Invalid `signature` in `thinking` block"),
    ("messages", thinking_moved, "messages: `thinking` blocks in the latest assistant message cannot be modified"),
    ("messages", thinking_left_out, "messages: Expected `thinking` before `tool_use`"),
    ("messages", other_model, "messages: Invalid `signature` in `thinking` block"),
    ("responses", other_model, "The encrypted content for item rs_1 could not be verified."),
    ("messages", no_result, "tool_use ids were found without tool_result blocks immediately after: call_1, call_2"),
    ("messages", result_after_words, "tool_use ids were found without tool_result blocks immediately after"),
    ("messages", id_of_another_model, "messages: tool_use.id: String should match pattern"),
    ("messages", no_most, "max_tokens: Field required"),
    ("messages", empty_words, "messages: text content blocks must be non-empty"),
    ("messages", unknown_field_of_a_tool, "mood: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("api", "spoil", "words"), BAD, ids=[spoil.__name__ for _, spoil, _ in BAD])
def test_bad_request_is_refused(api: Api, spoil: Callable[[Body], None], words: str) -> None:
    request, issued = history(api)
    spoil(request)
    assert any(words in one for one in refused(request, api, issued))


def test_missing_version_is_refused() -> None:
    request, issued = history("messages")
    assert refused(request, "messages", issued, {})[0].startswith("anthropic-version: ")


@pytest.mark.parametrize("api", APIS)
async def test_refusal_over_http_is_read_with_the_words_of_the_vendor(api: Api) -> None:
    said = [json.loads(part) for part in (messages.system("You help."), messages.user("Hello."))]
    neutral = encode({"model": "gpt-4.1", "mood": "good", "messages": said})
    async with refusing_vendor() as (vendor, url), httpx2.AsyncClient() as http:
        with pytest.raises(Refused) as raised:
            await remote_endpoint(http, url, api=api).ask(neutral, 30)
    assert raised.value.provider_error.message == "mood: Extra inputs are not permitted"
    assert vendor.refused == ["mood: Extra inputs are not permitted"]
