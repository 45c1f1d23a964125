"""Mentions answered by a model provider: with its text, by a second model, after an outage, or with a reason."""

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.logs import JsonLines
from gofer.journal.entries import CallDeferred, LlmResponse, RunParked
from gofer.projections.tracing import trace
from support.app.company import ask_about_the_decision, company
from support.models.reviewing import is_review, review

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def provider(answer: Callable[[str, int], Response]) -> AsyncIterator[str]:
    """Serve a provider that answers by the model's name and the number of the request."""
    numbers = itertools.count(1)

    async def complete(request: Request) -> Response:
        body = await request.body()
        if is_review(body):
            return review()
        return answer(json.loads(body)["model"], next(numbers))

    async with serve(Starlette(routes=[Route("/{path:path}", complete, methods=["POST"])])) as url:
        yield url


def completion(text: str) -> Response:
    return JSONResponse({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": text}}]})


def thinking(messages: list[dict[str, Any]]) -> Response:
    """Answer as a provider that requires each earlier call with its thoughts and its signature unchanged."""
    calls = [message for message in messages if message.get("tool_calls")]
    for number, message in enumerate(calls, 1):
        (call,) = message["tool_calls"]
        if message.get("reasoning_content") != f"Thought {number}: ½" or call.get("extra_content") != signed(number):
            return JSONResponse({"error": {"message": "a thought_signature is missing"}}, 400)
    if len(calls) == 2:
        return completion("Thought through.")
    function, number = {"name": "todo_read", "arguments": json.dumps({})}, len(calls) + 1
    call = {"id": f"c{number}", "type": "function", "function": function, "extra_content": signed(number)}
    message = {"content": None, "reasoning_content": f"Thought {number}: ½", "tool_calls": [call]}
    return JSONResponse({"model": "m", "choices": [{"finish_reason": "tool_calls", "message": message}]})


def signed(number: int) -> dict[str, object]:
    return {"google": {"thought_signature": f"c2ln{number}=="}}


async def answered(folder: Path, complete: Callable[[Request], Awaitable[Response]]) -> tuple[str, str]:
    """Return the status of the run of a mention and its answer, with a model that `complete` plays."""
    async with (
        serve(Starlette(routes=[Route("/{path:path}", complete, methods=["POST"])])) as url,
        company(folder, OPENAI_BASE_URL=url) as made,
    ):
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    return head.status, reply.text


async def test_thinking_model_gets_earlier_thoughts_and_signatures_back(tmp_path: Path) -> None:
    async def complete(request: Request) -> Response:
        return thinking(json.loads(await request.body())["messages"])

    status, said = await answered(tmp_path, complete)
    assert (status, said) == ("done", "Thought through.")


def refusal(status: int, message: str, **error: object) -> Response:
    return JSONResponse({"error": {"message": message, **error}}, status)


EMPTY = "3 answers of the model in a row were useless: the last one was empty"


@pytest.mark.parametrize(
    ("failing", "reason", "told"),
    [
        (
            refusal(401, "Incorrect API key provided: sk-abc", code="invalid_api_key"),
            "The model's provider does not accept the API key (HTTP 401, code invalid_api_key); check OPENAI_API_KEY.",
            ". The language model does not accept my access. Please tell #dev-experience.",
        ),
        (
            refusal(429, "You exceeded your quota", type="insufficient_quota", code="insufficient_quota"),
            "The account at the model's provider has no credit or no quota left (HTTP 429, code insufficient_quota",
            ". The account for the language model has no credit or quota left. Please tell #dev-experience.",
        ),
        (
            refusal(400, "Unsupported value", code="unsupported_value", param="temperature"),
            "The model does not take a parameter of the request (HTTP 400, code unsupported_value, parameter temperat",
            ". The language model does not accept a setting of this workflow. Please tell #dev-experience.",
        ),
        (
            refusal(400, "Failed to call a function", code="tool_use_failed"),
            "The model's provider could not read the call that its model wrote (HTTP 400, code tool_use_failed)",
            ". The model wrote a call that cannot be read. Please ask again, and tell #dev-experience if that does not",
        ),
        (
            refusal(400, "filtered", code="content_filter"),
            "The content filter of the model's provider refused the request (HTTP 400, code content_filter)",
            ". The content filter of the model's provider stopped this. Please ask in other words.",
        ),
        (
            Response("<html>nothing here</html>", 404),
            "The server that answered is no endpoint of a model (HTTP 404); check OPENAI_BASE_URL, which",
            ". I cannot reach the language model. Please tell #dev-experience.",
        ),
        (
            Response("<html>Sign in</html>", 200),
            "The model's answer was not JSON; check OPENAI_BASE_URL",
            ". I cannot reach the language model. Please tell #dev-experience.",
        ),
        (
            completion(""),
            EMPTY,
            ". The language model gave no answer three times. Please ask again, and tell #dev-",
        ),
    ],
)
async def test_model_failure_is_explained_to_the_person_and_in_the_reason_of_the_run(
    tmp_path: Path, failing: Response, reason: str, told: str
) -> None:
    async with provider(lambda model, number: failing) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert (head.status, head.reason[: len(reason)]) == ("failed", reason)
    assert answer.text.startswith(f"I could not finish this{told}")
    assert not any(word in answer.text for word in ("html", "HTTP", "invalid_api_key", "sk-abc"))


async def test_provider_error_is_kept_in_the_journal_and_as_a_code_in_the_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failing = refusal(400, "No temperature for sk-abcdef. " + "x " * 500, code="unsupported_value", param="temperature")
    async with provider(lambda model, number: failing) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        entries = await made.journal(head.run)
    said = [
        item.entry.provider_error
        for item in entries
        if isinstance(item.entry, CallDeferred) and item.entry.provider_error
    ]
    assert {one.message[:33] for one in said} == {"No temperature for [redacted]. x x"[:33]}
    assert {len(one.message) for one in said} == {500}
    spans = [span for span in trace.project(entries) if span.kind == "llm"]
    assert [span.status for span in spans] == ["deferred", "error"]
    named = [span.attributes["gofer.provider.parameter"] for span in spans]
    assert (named, spans[0].attributes["error.type"]) == (["temperature"] * 2, "unknown_parameter")
    lines = [JsonLines("summary").format(record) for record in caplog.records if "gave no answer" in record.message]
    assert len(lines) == 2
    full = [JsonLines("full").format(record) for record in caplog.records if "gave no answer" in record.message]
    assert all("No temperature for [redacted]." in line for line in full)
    assert all('"parameter": "temperature"' in line and "No temperature" not in line for line in lines)


async def test_thoughts_and_calls_written_as_text_are_not_posted(tmp_path: Path) -> None:
    written = '<think>They say hello.</think>\n<tool_call>\n{"name": "todo_read", "arguments": {}}\n</tool_call>'
    said = [written, "<think>In words, then.</think>\n\nHello to you."]

    def answer(model: str, number: int) -> Response:
        return completion(said[number - 1])

    async with provider(answer) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
        entries = await made.entries(head.run)
    assert (head.status, reply.text) == ("done", "Hello to you.")
    answers = [entry for entry in entries if isinstance(entry, LlmResponse)]
    assert [one.thoughts for one in answers] == ["<think>They say hello.</think>", "<think>In words, then.</think>"]


async def test_model_is_asked_for_no_stream_and_a_streamed_answer_is_read(tmp_path: Path) -> None:
    asked_for: list[object] = []

    async def complete(request: Request) -> Response:
        body = await request.body()
        if is_review(body):
            return review()
        asked_for.append(json.loads(body).get("stream"))
        pieces = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in ("Hello", " to you.")]
        lines = [*map(json.dumps, pieces), "[DONE]"]
        return Response("".join(f"data: {line}\n\n" for line in lines), media_type="text/event-stream")

    status, said = await answered(tmp_path, complete)
    assert (status, said, asked_for) == ("done", "Hello to you.", [False])


async def test_second_model_answers_when_the_first_is_away_and_the_trace_shows_both(tmp_path: Path) -> None:
    def answer(model: str, number: int) -> Response:
        busy = Response("<html>busy</html>", 503, {"Retry-After": "3600"})
        return busy if model == "gpt-5.4-mini" else completion("Here I am.")

    async with provider(answer) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
        spans = [span for span in trace.project(await made.journal(head.run)) if span.kind == "llm"]
    assert reply.text == "Here I am."
    assert [(span.name, span.status) for span in spans] == [("chat gpt-5.4-mini", "deferred"), ("chat gpt-5.4", "ok")]
    assert "HTTP 503" in str(spans[0].attributes["gofer.deferred"])


async def test_mention_during_a_model_outage_is_answered_once_afterwards(tmp_path: Path) -> None:
    def answer(model: str, number: int) -> Response:
        return Response("<html>down</html>", 502) if number <= 9 else completion("Back again.")

    async with provider(answer) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
        entries = await made.entries(head.run)
    assert (head.status, reply.text) == ("done", "Back again.")
    assert [entry.reason for entry in entries if isinstance(entry, RunParked)] == ["model"]


async def test_configured_endpoint_answers_in_place_of_the_offline_model(tmp_path: Path) -> None:
    seen: list[dict] = []

    async def answer(request: Request) -> Response:
        if is_review(await request.body()):
            return review()
        seen.append(await request.json())
        message = {"role": "assistant", "content": "Words of another endpoint."}
        usage = {"prompt_tokens": 50, "completion_tokens": 5}
        return JSONResponse({"model": "other", "choices": [{"message": message}], "usage": usage})

    async with (
        serve(Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])) as url,
        company(tmp_path, OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="sk-test") as made,
    ):
        asked = await ask_about_the_decision(made)
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    assert (reply.text, head.status) == ("Words of another endpoint.", "done")
    (request,) = seen
    assert request["model"] == "gpt-5.4-mini"
    listed, offered = (
        ["slack_read_thread", "slack_add_reaction"],
        [tool["function"]["name"] for tool in request["tools"]],
    )
    assert offered[-len(listed) :] == listed
    assert [message["role"] for message in request["messages"]] == ["system", "user", "user"]
