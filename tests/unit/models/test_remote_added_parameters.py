"""Parameters that follow from a run and are added to its requests at the addresses of vendors."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from gofer.models.language_model import Refused
from gofer.models.remote import RemoteEndpoint, remote_endpoint
from gofer.models.served_model import OPENAI
from gofer.values import messages
from gofer.values.canonical_json import as_object, encode

pytestmark = pytest.mark.anyio

CLAUDE = "https://api.anthropic.com/v1"
CLOSED = {
    "type": "object",
    "properties": {"size": {"type": "number", "minimum": 0}},
    "required": ["size"],
    "additionalProperties": False,
}
UNBOUNDED = {**CLOSED, "properties": {"size": {"type": "number"}}}
OPEN = {"type": "object", "properties": {"size": {"type": "number"}}}
BODY = b'{"model":"m","messages":[%b,%b]}' % (messages.system("Measure it."), messages.user("this"))
ANSWERS: Mapping[str, Mapping[str, object]] = {
    "/v1/responses": {"status": "completed", "output": []},
    "/v1/chat/completions": {"choices": [{"message": {"content": "{}"}}]},
    "/v1/messages": {"type": "message", "content": []},
}


@asynccontextmanager
async def endpoint(
    base_url: str, api: str = "", refusal: Mapping[str, object] | None = None
) -> AsyncIterator[tuple[RemoteEndpoint, list[Mapping[str, object]]]]:
    """Yield an endpoint with the bodies of its requests; the first one is refused with `refusal`."""
    seen: list[Mapping[str, object]] = []

    async def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(as_object(json.loads(await request.aread())))
        if refusal is not None and len(seen) == 1:
            return httpx2.Response(400, json={"error": refusal})
        return httpx2.Response(200, json=ANSWERS[request.url.path])

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        yield remote_endpoint(http, base_url, api=api), seen


async def sent(base_url: str, api: str, schema: Mapping[str, object]) -> Mapping[str, object]:
    async with endpoint(base_url, api) as (asked, seen):
        await asked.adding({"output_schema": schema}).ask(BODY, 5)
    return seen[0]


@pytest.mark.parametrize(("schema", "strict"), [(CLOSED, True), (OPEN, False)])
async def test_openai_gets_the_schema_of_the_answer_in_both_formats(schema: Mapping[str, object], strict: bool) -> None:
    form = {"name": "answer", "schema": schema, "strict": strict}
    native = await sent(OPENAI, "", schema)
    assert native["text"] == {"format": {"type": "json_schema", **form}}
    chat = await sent(OPENAI, "chat_completions", schema)
    assert chat["response_format"] == {"type": "json_schema", "json_schema": form}
    assert "output_schema" not in native | chat


async def test_anthropic_gets_a_closed_schema_without_bounds() -> None:
    assert (await sent(CLAUDE, "", CLOSED))["output_config"] == {"format": {"type": "json_schema", "schema": UNBOUNDED}}
    assert "output_config" not in await sent(CLAUDE, "", OPEN)


@pytest.mark.parametrize(
    ("base_url", "api"),
    [
        ("http://127.0.0.1/v1", "chat_completions"),
        ("https://models.example.com/v1", "responses"),
        ("https://models.example.com/v1", "messages"),
        (CLAUDE, "chat_completions"),
    ],
)
async def test_other_servers_get_the_same_request_as_without_a_schema(base_url: str, api: str) -> None:
    async with endpoint(base_url, api) as (asked, seen):
        await asked.adding({"output_schema": CLOSED, "previous_response": "resp_1"}).ask(BODY, 5)
        await asked.ask(BODY, 5)
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "refusal",
    [
        {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."},
        {"message": "Not supported with this model.", "param": "text.format"},
        {"message": "diagnostics.previous_message_id: Extra inputs are not permitted"},
        {"message": "output_config.format: This model does not support structured outputs"},
    ],
)
async def test_model_without_schemas_is_asked_again_without_one(refusal: Mapping[str, object]) -> None:
    async with endpoint(OPENAI, refusal=refusal) as (asked, seen):
        await asked.adding({"output_schema": CLOSED}).ask(BODY, 5)
        await asked.ask(BODY, 5)
    refused, again, without = seen
    assert "text" in refused
    assert again == without


@pytest.mark.parametrize(("before", "named"), [("", None), ("msg_1", "msg_1")])
async def test_anthropic_is_asked_why_its_cache_was_not_read(before: str, named: str | None) -> None:
    async with endpoint(CLAUDE) as (asked, seen):
        await asked.adding({"previous_response": before}).ask(BODY, 5)
    assert seen[0]["diagnostics"] == {"previous_message_id": named}
    assert "previous_response" not in seen[0]


@pytest.mark.parametrize(
    ("model", "api", "before", "named"),
    [
        ("gpt-5.6-sol", "responses", "resp_1", True),
        ("gpt-6", "responses", "resp_1", True),
        ("gpt-5.6-sol", "responses", "", False),
        ("gpt-5.4", "responses", "resp_1", False),
        ("o3", "responses", "resp_1", False),
        ("gpt-5.6-sol", "chat_completions", "resp_1", False),
    ],
)
async def test_openai_is_asked_about_its_cache_if_the_model_has_cache_options(
    model: str, api: str, before: str, *, named: bool
) -> None:
    body = BODY.replace(b'"m"', encode(model))
    async with endpoint(OPENAI, api) as (asked, seen):
        await asked.adding({"previous_response": before}).ask(body, 5)
        await asked.ask(body, 5)
    options = {"prompt_cache_options": {"comparison_response_id": before}} if named else {}
    assert seen[0] == {**seen[1], **options}


async def test_options_of_an_author_stay_beside_the_question_about_the_cache() -> None:
    body = BODY.replace(b'"m"', b'"gpt-5.6","prompt_cache_options":{"ttl":"12h"}')
    async with endpoint(OPENAI) as (asked, seen):
        await asked.adding({"previous_response": "resp_1"}).ask(body, 5)
    assert seen[0]["prompt_cache_options"] == {"ttl": "12h", "comparison_response_id": "resp_1"}


@pytest.mark.parametrize(
    ("base_url", "api", "form"),
    [
        (OPENAI, "responses", ResponseCreateParamsNonStreaming),
        (OPENAI, "chat_completions", CompletionCreateParamsNonStreaming),
        (CLAUDE, "messages", MessageCreateParamsNonStreaming),
    ],
)
async def test_sdk_takes_added_parameters(base_url: str, api: str, form: type[object]) -> None:
    body = BODY.replace(b'"m"', b'"gpt-5.6"')
    async with endpoint(base_url, api) as (asked, seen):
        await asked.adding({"output_schema": CLOSED, "previous_response": "id_1"}).ask(body, 5)
    adapter: TypeAdapter[Mapping[str, object]] = TypeAdapter(form)
    # The adapter leaves out what the type does not know.
    assert set(adapter.validate_python(seen[0])) == set(seen[0])


async def test_another_refusal_is_no_reason_to_ask_again() -> None:
    async with endpoint(OPENAI, refusal={"message": "Unsupported parameter: 'seed'", "param": "seed"}) as (asked, seen):
        with pytest.raises(Refused):
            await asked.adding({"output_schema": CLOSED}).ask(BODY, 5)
    assert len(seen) == 1


async def test_schema_leaves_the_other_fields_of_a_request_unchanged() -> None:
    async with endpoint(OPENAI) as (asked, seen):
        await asked.adding({"output_schema": CLOSED}).ask(BODY, 5)
        await asked.ask(BODY, 5)
    assert encode({name: value for name, value in seen[0].items() if name != "text"}) == encode(seen[1])
