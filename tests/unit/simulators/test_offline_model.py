"""The offline model: the Chat Completions format, with every answer labelled."""

import asyncio
import json

import httpx2
import pytest

from gofer.values.model_script import load_scripts
from gofer_simulators.offline_model import offline_model

SCRIPTS = """
- name: look
  when: {says: look}
  steps:
    - calls: [{read: {what: 'Grüße'}}, {list: }]
    - {text: Seen., calls: [{read: {}}]}
    - text: Done.
"""
USER: dict[str, object] = {"role": "user", "content": "look"}


def post(body: dict[str, object] | bytes) -> httpx2.Response:
    async def run() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=offline_model(load_scripts(SCRIPTS, "look.yaml")))
        async with httpx2.AsyncClient(transport=transport, base_url="http://model") as http:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return await http.post("/v1/chat/completions", content=content)

    return asyncio.run(run())


def assistant(*ids: str) -> dict[str, object]:
    calls = [{"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(call_id: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


def test_offline_model_plays_tool_calls_then_text_then_the_answer() -> None:
    first = post({"model": "m", "messages": [USER]}).json()
    assert (first["object"], first["model"]) == ("chat.completion", "offline-model")
    choice = first["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", None)
    calls = choice["message"]["tool_calls"]
    assert [call["id"] for call in calls] == ["call_1_1", "call_1_2"]
    assert calls[0]["function"]["name"] == "read"
    assert json.loads(calls[0]["function"]["arguments"]) == {"what": "Grüße"}
    history: list[dict[str, object]] = [USER, assistant("call_1_1"), tool("call_1_1")]
    second = post({"messages": history}).json()["choices"][0]
    assert (second["finish_reason"], second["message"]["content"]) == ("tool_calls", "[offline model] Seen.")
    third = post({"messages": [*history, assistant()]}).json()["choices"][0]
    assert (third["finish_reason"], third["message"]["content"]) == ("stop", "[offline model] Done.")
    assert "tool_calls" not in third["message"]


def test_offline_model_answers_the_same_bytes_with_the_same_answer() -> None:
    body = json.dumps({"messages": [USER]}).encode()
    assert post(body).content == post(body).content
    other = post(body + b" ").json()
    assert other["id"] != post(body).json()["id"]


def test_offline_model_estimates_usage_from_bytes() -> None:
    body = json.dumps({"messages": [USER]}).encode()
    usage = post(body).json()["usage"]
    assert usage["prompt_tokens"] == -(-len(body) // 4)
    assert usage["completion_tokens"] > 0
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_offline_model_refuses_a_conversation_that_no_step_fits() -> None:
    unknown = post({"messages": [{"role": "user", "content": "else"}]})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "no_script")
    assert unknown.json()["error"]["message"].startswith("No script matches this conversation")
    past: list[dict[str, object]] = [USER, assistant(), assistant(), assistant()]
    assert "has no step 4" in post({"messages": past}).json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        (b"{", None, None),
        (b"[]", None, None),
        (b"[" * 100_000, None, None),
        ({"model": "m"}, "messages", "missing_required_parameter"),
        ({"messages": []}, "messages", "missing_required_parameter"),
        ({"messages": [USER], "stream": True}, "stream", "unsupported_value"),
        ({"messages": [USER, assistant("a"), USER]}, "messages", None),
        ({"messages": [USER, assistant("a")]}, "messages", None),
        ({"messages": [USER, tool("a")]}, "messages", None),
    ],
)
def test_offline_model_refuses_bad_requests_in_the_form_of_the_vendor(
    body: dict[str, object] | bytes, param: str | None, code: str | None
) -> None:
    refused = post(body)
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert error["message"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)


def test_offline_model_is_listed_as_a_model() -> None:
    async def run() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=offline_model(()))
        async with httpx2.AsyncClient(transport=transport, base_url="http://model") as http:
            return await http.get("/v1/models")

    assert [model["id"] for model in asyncio.run(run()).json()["data"]] == ["offline-model"]
