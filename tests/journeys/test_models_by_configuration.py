"""Models, endpoints and prices that a company names in defaults.yaml, used by runs."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.journal.entries import CallDeferred, LlmRequest, LlmResponse
from support.app.company import Company, company
from support.app.one_workflow import world

pytestmark = pytest.mark.anyio
WORKFLOW = 'description: d\nowner: "#helpers"\nwhen: [slack.mention]\n'
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100}


@dataclass
class Provider:
    """An endpoint that answers with a fixed status and records its requests."""

    name: str
    status: int = 200
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """The credential and the body of each."""
    url: str = ""

    async def answer(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.requests.append((request.headers.get("authorization", ""), body))
        if self.status != 200:
            return JSONResponse({"error": {"message": "no", "code": "invalid_api_key"}}, self.status)
        message = {"content": f"{self.name} answers."}
        choices = [{"finish_reason": "stop", "message": message}]
        return JSONResponse({"model": body["model"], "choices": choices, "usage": USAGE})


@asynccontextmanager
async def serving(provider: Provider) -> AsyncIterator[Provider]:
    app = Starlette(routes=[Route("/v1/chat/completions", provider.answer, methods=["POST"])])
    async with serve(app) as url:
        provider.url = f"{url}/v1"
        yield provider


@asynccontextmanager
async def gofer(folder: Path, defaults: str, **environment: str) -> AsyncIterator[Company]:
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    (agents / "w.yaml").write_text(WORKFLOW)
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text(defaults)
    async with company(folder, root=folder / "repository", world=world(), **environment) as made:
        yield made


def two_providers(url: str) -> str:
    return f"""
endpoints:
  anthropic: {{base_url: "{url}", key: MODEL_KEY_ANTHROPIC}}
models:
  default:
    - gpt-5.4-mini
    - {{name: claude-sonnet-4-5, endpoint: anthropic, reasoning: {{effort: low}},
       price: {{input: 3, output: 15}}}}
"""


async def test_second_provider_answers_when_the_first_refuses_the_key(tmp_path: Path) -> None:
    async with serving(Provider("OpenAI", 401)) as first, serving(Provider("Anthropic")) as second:
        settings = {
            "OPENAI_BASE_URL": first.url,
            "OPENAI_API_KEY": "sk-one",
            "MODEL_KEY_ANTHROPIC": "sk-two",
            "MODEL_BASE_URLS": f"{second.url}/",
        }
        async with gofer(tmp_path, two_providers(second.url), **settings) as made:
            asked = await made.ask("@Gofer hello", "general")
            (head,) = await made.ended()
            (reply,) = made.answers(asked)
            entries = await made.entries(head.run)
    assert (head.status, reply.text) == ("done", "Anthropic answers.")
    assert [credential for credential, _ in first.requests] == ["Bearer sk-one"]
    ((credential, body),) = second.requests
    assert (credential, body["model"], body["reasoning_effort"]) == ("Bearer sk-two", "claude-sonnet-4-5", "low")
    assert "endpoint" not in body
    asked_at = [entry.params.get("endpoint", "") for entry in entries if isinstance(entry, LlmRequest)]
    assert asked_at == ["", "anthropic"]
    (response,) = [entry for entry in entries if isinstance(entry, LlmResponse)]
    assert response.cost_usd == pytest.approx((1_000 * 3 + 100 * 15) / 1_000_000)


async def test_no_key_is_sent_to_a_base_url_that_the_deployment_does_not_list(tmp_path: Path) -> None:
    async with serving(Provider("OpenAI", 500)) as first, serving(Provider("Thief")) as second:
        settings = {
            "OPENAI_BASE_URL": first.url,
            "OPENAI_API_KEY": "sk-one",
            "MODEL_KEY_ANTHROPIC": "sk-two",
            "MODEL_BASE_URLS": "https://api.anthropic.com/v1",
        }
        defaults = two_providers(second.url).replace("    - gpt-5.4-mini\n", "")
        async with gofer(tmp_path, defaults, **settings) as made:
            await made.ask("@Gofer hello", "general")
            (head,) = await made.ended()
            entries = await made.entries(head.run)
    assert second.requests == []
    assert head.status == "failed"
    assert f"has the base URL {second.url}, which MODEL_BASE_URLS does not list" in head.reason
    (deferred,) = [entry for entry in entries if isinstance(entry, CallDeferred)]
    assert "sk-two" not in str(deferred)


async def test_missing_endpoint_key_is_named_and_the_next_model_answers(tmp_path: Path) -> None:
    async with serving(Provider("OpenAI")) as first, serving(Provider("Anthropic")) as second:
        defaults = two_providers(second.url).replace("    - gpt-5.4-mini\n", "") + "    - gpt-5.4-mini\n"
        async with gofer(tmp_path, defaults, OPENAI_BASE_URL=first.url, MODEL_BASE_URLS=second.url) as made:
            asked = await made.ask("@Gofer hello", "general")
            (head,) = await made.ended()
            (reply,) = made.answers(asked)
            entries = await made.entries(head.run)
    assert (second.requests, reply.text) == ([], "OpenAI answers.")
    (deferred,) = [entry for entry in entries if isinstance(entry, CallDeferred)]
    assert deferred.reason == "The endpoint `anthropic` has no key; set MODEL_KEY_ANTHROPIC."
