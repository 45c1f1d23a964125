import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from gofer.app.http import http_client
from gofer.models.formats.format import Wire
from gofer.models.formats.responses import Responses
from gofer.models.language_model import DEPLOYED, Answer, Refused
from gofer.models.remote import remote_endpoint
from gofer.projections.conversation import presentable
from gofer.values import messages
from gofer.values.canonical_json import as_list, as_object, decode, encode
from gofer.values.proxies import DIRECT

pytestmark = pytest.mark.anyio

LINES = (Path(__file__).parent / "responses_bodies.jsonl").read_text().splitlines()
ANSWERS = [case for case in map(json.loads, LINES) if "failure" not in case["read"]]
BY = {"api": "responses", "model": "m"}
SENT: TypeAdapter[object] = TypeAdapter(ResponseCreateParamsNonStreaming)
BEYOND_THE_TYPES = {"unknown item"}


def refusal(sent: Mapping[str, object]) -> str:
    """Return why the vendor would refuse a request; empty if it would not."""
    items = [as_object(item) for item in as_list(sent["input"])]
    called = [item["call_id"] for item in items if item["type"] in ("function_call", "custom_tool_call")]
    answered = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    for item, after in zip(items, [*items[1:], {"role": "user"}], strict=True):
        if item["type"] == "reasoning" and (after.get("role") == "user" or after.get("type") == "function_call_output"):
            return f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
        if item["type"] == "reasoning" and not (item.get("encrypted_content") or item.get("content")):
            return f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false."
    if called != answered:
        return "No tool output found for function call."
    if sent["store"] is not False:
        return "`store` has to be false."
    return ""


def history(answers: Sequence[Answer], by: Mapping[str, str]) -> bytes:
    """Return the neutral request after these answers, each with results for its calls."""
    parts = [messages.system("You help."), messages.user("Look.")]
    taken: set[str] = set()
    for turn, answer in enumerate(answers):
        asks = tuple(presentable(ask, turn, index, taken) for index, ask in enumerate(answer.asks))
        taken |= {ask.id for ask in asks}
        if answer.text or asks:
            parts.append(messages.assistant(answer.text, asks, answer.extra, by))
        parts += [messages.tool(ask.id, "seen") for ask in asks] or [messages.user("Go on.")]
    return encode({"model": "m", "messages": [json.loads(part) for part in [*parts, messages.user("Step 2.")]]})


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["name"])
@pytest.mark.parametrize("by", [BY, {**BY, "model": "other"}], ids=["own", "of another model"])
def test_recorded_answer_in_the_history_is_no_reason_to_refuse(case: Mapping[str, str], by: Mapping[str, str]) -> None:
    answer = Responses().parse(case["body"].encode(), DEPLOYED)
    sent = as_object(decode(Responses().encode(history([answer], by), "m").body))
    assert not refusal(sent)
    if case["name"] not in BEYOND_THE_TYPES:
        SENT.validate_python(sent)
    thoughts = [item for item in as_list(sent["input"]) if as_object(item)["type"] == "reasoning"]
    assert not thoughts or by == BY


def test_history_only_grows_with_each_answer() -> None:
    answers = [Responses().parse(case["body"].encode(), DEPLOYED) for case in ANSWERS]
    before: list[object] = []
    for count in range(len(answers)):
        wire: Wire = Responses().encode(history(answers[:count], BY), "m")
        items = as_list(as_object(decode(wire.body))["input"])[:-1]
        assert items[: len(before)] == before
        before = items
    assert not refusal(as_object(decode(wire.body)))


async def test_server_that_demands_thoughts_gets_these_back() -> None:
    body = next(case["body"] for case in ANSWERS if case["name"] == "thoughts before call")
    items = json.loads(body)["output"]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split()[0])
        sent = as_object(decode(await reader.readexactly(length)))
        known = as_list(sent["input"])
        status, reply = 200, body.encode()
        if not head.startswith("post /v1/responses") or refusal(sent) or (len(known) > 2 and known[1:3] != items):
            status, reply = 400, b'{"error":{"message":"refused","type":"invalid_request_error"}}'
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(reply)) + reply)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, http_client(DIRECT) as http:
        port = server.sockets[0].getsockname()[1]
        model = remote_endpoint(http, f"http://127.0.0.1:{port}/v1", api="responses")
        first = await model.ask(history([], BY), 5)
        second = await model.ask(history([first], BY), 5)
        assert second.asks == first.asks
        moved = history([first], BY).replace(b'"encrypted_content":"gAAAAB"', b'"encrypted_content":"gAAAAC"')
        with pytest.raises(Refused):
            await model.ask(moved, 5)
