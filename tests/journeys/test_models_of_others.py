"""A mention is answered by a model behind an endpoint: by its words, by another model, later, or by a reason."""

import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from company import ask_about_the_decision, company
from gofer.journal.entries import (
    RunParked,
)
from gofer.local.server import serve
from gofer.projections import trace

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def provider(answer: Callable[[str, int], Response]) -> AsyncIterator[str]:
    """A model's provider that answers by the name of the model asked and the number of the request."""
    numbers = itertools.count(1)

    async def complete(request: Request) -> Response:
        return answer(json.loads(await request.body())["model"], next(numbers))

    async with serve(Starlette(routes=[Route("/{path:path}", complete, methods=["POST"])])) as url:
        yield url


def completion(text: str) -> Response:
    return JSONResponse({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": text}}]})


def thinking(messages: list[dict[str, Any]]) -> Response:
    """A provider that wants each call back with the thoughts before it, and with its signature, as they were."""
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


async def test_a_model_that_thinks_gets_its_thoughts_and_their_signatures_back(tmp_path: Path) -> None:
    async def complete(request: Request) -> Response:
        return thinking(json.loads(await request.body())["messages"])

    async with (
        serve(Starlette(routes=[Route("/{path:path}", complete, methods=["POST"])])) as url,
        company(tmp_path, OPENAI_BASE_URL=url) as made,
    ):
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
    assert (head.status, reply.text) == ("done", "Thought through.")


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        (Response("<html>nothing here</html>", 404), "The model's provider refused the request (HTTP 404)"),
        (Response("<html>Sign in</html>", 200), "The model's answer was not JSON; check OPENAI_BASE_URL"),
        (completion(""), "3 answers of the model in a row were of no use: the last one was empty"),
    ],
)
async def test_a_model_that_is_of_no_use_is_an_honest_answer(tmp_path: Path, failing: Response, told: str) -> None:
    async with provider(lambda model, number: failing) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (answer,) = made.answers(asked)
    assert (head.status, head.reason.startswith(told)) == ("failed", True)
    assert answer.text.startswith(f"I could not finish this: {told}")
    assert "html" not in answer.text


async def test_when_the_first_model_is_not_there_the_second_answers_and_the_trace_says_so(tmp_path: Path) -> None:
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


async def test_a_mention_during_an_outage_is_answered_once_when_it_is_over(tmp_path: Path) -> None:
    def answer(model: str, number: int) -> Response:
        return Response("<html>down</html>", 502) if number <= 9 else completion("Back again.")

    async with provider(answer) as url, company(tmp_path, OPENAI_BASE_URL=url) as made:
        asked = await made.ask("@Gofer hello", "general")
        (head,) = await made.ended()
        (reply,) = made.answers(asked)
        entries = await made.entries(head.run)
    assert (head.status, reply.text) == ("done", "Back again.")
    assert [entry.why for entry in entries if isinstance(entry, RunParked)] == ["model"]


async def test_with_an_endpoint_set_the_words_come_from_there_and_no_script_is_used(tmp_path: Path) -> None:
    seen: list[dict] = []

    async def answer(request: Request) -> Response:
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
    assert offered[: len(listed)] == listed
    assert [message["role"] for message in request["messages"]] == ["system", "user", "user"]
