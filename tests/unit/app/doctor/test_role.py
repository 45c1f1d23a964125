"""The questions to each model of a role, at servers that take them, refuse some of them, or are no model."""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.doctor.finding import Finding
from gofer.app.doctor.role import abilities, models_of_role
from gofer.app.doctor.served_window import ServedWindows
from gofer.app.embedded.server import serve
from gofer.app.http import SharedHttp
from gofer.app.model_endpoints import keys_of, models_of
from gofer.app.settings import read_settings
from gofer.models.abilities import Ability
from gofer.models.served_model import Endpoint, ServedModel
from gofer.values.errors import ConfigError
from gofer.workflows.model_roles import RoleModel, Roles
from support.http import loopback
from support.models import mistral_template

pytestmark = pytest.mark.anyio
Answers = Callable[[dict[str, Any]], Response]


def calls(body: dict[str, Any]) -> Response:
    """Answer a question with the call, and results with a word."""
    function = {"name": "report_status", "arguments": '{"status": "ok"}'}
    if body["messages"][-1]["role"] == "tool" or body["messages"][-1]["content"].startswith("Say"):
        return said("done")
    call = {"id": "c1", "type": "function", "function": function}
    message = {"content": None, "tool_calls": [call]}
    return JSONResponse({"model": "m", "choices": [{"finish_reason": "tool_calls", "message": message}]})


def said(text: str) -> Response:
    return JSONResponse({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": text}}]})


def strict(body: dict[str, Any]) -> Response:
    return calls(body) if mistral_template.alternates(body["messages"]) else mistral_template.refused()


def no_options(body: dict[str, Any]) -> Response:
    if "reasoning_effort" in body and "tools" in body:
        words = "Function tools with reasoning_effort are not supported for m; use /v1/responses"
        error = {"message": words, "type": "invalid_request_error", "param": "reasoning_effort"}
        return JSONResponse({"error": error}, 400)
    return calls(body)


async def found_at(
    answers: Answers, path: str = "/v1", told: Mapping[str, object] = MappingProxyType({}), **about: Any
) -> tuple[Sequence[Finding], list[dict[str, Any]]]:
    """Return the findings about a model that a server plays, and its requests. `told` are other answers by path."""
    seen: list[dict[str, Any]] = []

    async def answer(request: Request) -> Response:
        seen.append(json.loads(await request.body()))
        return answers(seen[-1])

    def tell(request: Request) -> Response:
        body = told.get(request.url.path)
        return JSONResponse({"detail": "Not Found"}, 404) if body is None else JSONResponse(body)

    routes = [Route("/v1/chat/completions", answer, methods=["POST"]), Route("/{path:path}", tell)]
    async with serve(Starlette(routes=routes)) as url:
        found = await examined(url + path, **about)
    return found, seen


async def examined(url: str, **about: Any) -> Sequence[Finding]:
    model = ServedModel("m", endpoint=Endpoint(name="ours", base_url=url, key=""), **about)
    async with loopback.client() as http:
        settings = read_settings({"MODEL_BASE_URLS": url, "MODEL_KEY_OURS": "k"})
        windows = ServedWindows(SharedHttp(http), keys_of(settings))
        return await abilities(models_of(settings, http), windows, [model])


def texts(found: Sequence[Finding]) -> list[tuple[str, str]]:
    assert {one.subject for one in found} == {"model ours/m"}
    return [(one.state, one.text) for one in found]


async def test_model_that_takes_everything_is_asked_four_times() -> None:
    found, seen = await found_at(calls, ability=Ability(8_192, vision=False, pdf=False))
    assert texts(found) == [
        ("works", "answers, and calls tools"),
        ("works", "takes two messages of one role in a row, and results of tools"),
        ("works", "takes `reasoning: {effort: low}`"),
        ("works", "takes `temperature` and `seed`"),
        ("works", "counts with a window of 8,192 tokens"),
    ]
    assert [len(body["messages"]) for body in seen] == [2, 6, 2, 2]


async def test_template_that_demands_alternating_roles_is_named_with_its_remedy() -> None:
    found, _ = await found_at(strict)
    state, text = texts(found)[1]
    assert (state, "write `alternate_roles: true` for this model" in text) == ("wrong", True)
    assert "The provider says: " in text
    assert "conversation roles must alternate" in text


async def test_alternating_roles_of_the_file_are_sent() -> None:
    found, seen = await found_at(strict, parameters={"alternate_roles": True})
    assert (
        texts(found)[1][1]
        == "takes two messages of one role in a row, and results of tools, which `alternate_roles` joins"
    )
    assert [message["role"] for message in seen[1]["messages"]] == ["system", "user", "assistant", "tool"]


async def test_refused_option_is_no_fault_and_the_provider_is_quoted() -> None:
    found, _ = await found_at(no_options)
    state, text = texts(found)[2]
    assert (state, text.startswith("refuses `reasoning: {effort: low}`: ")) == ("off", True)
    assert "use /v1/responses" in text
    assert [one.state for one in found] == ["works", "works", "off", "works", "off"]
    assert found[-1].text == "its window is not known, so 128,000 tokens count"


async def test_model_without_calls_is_wrong_and_is_asked_on_in_words() -> None:
    found, seen = await found_at(lambda body: said("The status is ok."))
    assert texts(found)[0][0] == "wrong"
    assert texts(found)[1] == ("works", "takes two messages of one role in a row")
    assert [message["role"] for message in seen[1]["messages"]] == ["system", "user", "user"]


VLLM = {"object": "list", "data": [{"id": "m", "max_model_len": 16_384}, {"id": "lora", "max_model_len": 1}]}
LLAMA = {"data": [{"id": "a.gguf", "meta": {"n_ctx": 4_096, "n_ctx_train": 131_072}}]}
OLLAMA = {"models": [{"name": "m:latest", "context_length": 4_096}]}


@pytest.mark.parametrize(
    ("window", "path", "told", "state", "words"),
    [
        (
            16_384,
            "/v1/models",
            VLLM,
            "works",
            "counts with a window of 16,384 tokens, and its server runs it with 16,384",
        ),
        (
            32_768,
            "/v1/models",
            VLLM,
            "wrong",
            "counts with a window of 32,768 tokens, and its server runs it with 16,384",
        ),
        (
            0,
            "/v1/models",
            VLLM,
            "wrong",
            "its window is not known, so 128,000 tokens count, and its server runs it with",
        ),
        (8_192, "/v1/models", LLAMA, "wrong", "its server runs it with a window of 4,096 tokens, and runs need 8,192"),
        (8_192, "/api/ps", OLLAMA, "wrong", "its server runs it with a window of 4,096 tokens, and runs need 8,192"),
        (8_192, "/v1/models", {"data": [{"id": "m"}]}, "works", "counts with a window of 8,192 tokens"),
        (8_192, "/v1/models", {"data": [{"id": "m", "max_model_len": -1}]}, "works", "counts with a window of 8,192"),
        (8_192, "/v1/models", {"data": 7}, "works", "counts with a window of 8,192 tokens"),
    ],
)
async def test_window_of_the_server_stands_beside_the_window_of_the_file(
    window: int, path: str, told: Mapping[str, object], state: str, words: str
) -> None:
    found, _ = await found_at(calls, told={path: told}, ability=Ability(window))
    assert (found[-1].state, found[-1].text[: len(words)]) == (state, words)


async def test_remedy_of_a_smaller_window_is_the_number_of_the_server() -> None:
    found, _ = await found_at(calls, told={"/v1/models": VLLM}, ability=Ability(32_768))
    assert found[-1].remedy.startswith("Write `window: 16384` for it in agents/defaults.yaml")
    found, _ = await found_at(calls, told={"/v1/models": LLAMA}, ability=Ability(32_768))
    assert found[-1].remedy == "Start its server with a larger window, as docs/own-model.md says."


async def test_model_with_a_timeout_is_asked_for_a_stream() -> None:
    _, seen = await found_at(calls, timeout=900.0)
    assert [body["stream"] for body in seen] == [True] * 4
    _, seen = await found_at(calls)
    assert [body["stream"] for body in seen] == [False] * 4


@pytest.mark.parametrize(
    ("answer", "path", "state", "words"),
    [
        (Response("<html>", 200), "/v1", "wrong", "was not JSON"),
        (said("x"), "/v2", "wrong", "no endpoint of a model"),
        (JSONResponse({"error": {"message": "bad key", "code": "invalid_api_key"}}, 401), "/v1", "wrong", "API key"),
        (JSONResponse({"error": {"message": "model 'm' not found"}}, 404), "/v1", "wrong", "model 'm' not found"),
        (JSONResponse({"error": {"message": "loading model"}}, 503), "/v1", "away", "loading model"),
    ],
)
async def test_server_that_gives_no_answer_is_asked_once_and_named(
    answer: Response, path: str, state: str, words: str
) -> None:
    (found,), seen = await found_at(lambda body: answer, path)
    assert (found.state, words in found.text) == (state, True), found
    assert found.text.startswith("asked at http://127.0.0.1:")
    assert len(seen) <= 1


async def test_address_without_a_server_is_named(free_tcp_port: int) -> None:
    (found,) = await examined(f"http://127.0.0.1:{free_tcp_port}/v1")
    assert found.state == "away"
    assert f"http://127.0.0.1:{free_tcp_port}/v1" in found.text


def test_unknown_role_is_refused_with_the_roles_of_the_file() -> None:
    with pytest.raises(ConfigError, match="no role 'smal'; write one of its roles: small, big"):
        models_of_role(Roles({"small": (RoleModel(name="m"),), "big": (RoleModel(name="n"),)}), "smal")
