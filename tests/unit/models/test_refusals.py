"""What vendors refuse, by format, host and model."""

from collections.abc import Mapping

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from gofer.models.refusals import refusals
from gofer.models.served_model import DEFAULT, OPENAI, Endpoint

OPENAI_CHAT = Endpoint(base_url=OPENAI, api="chat_completions")
NATIVE = Endpoint(base_url=OPENAI)
ANTHROPIC = Endpoint(name="anthropic", base_url="https://api.anthropic.com/v1")
GATEWAY = Endpoint(name="gateway", base_url="https://models.example.com/v1")
LOW = {"reasoning": {"effort": "low"}}
NONE = {"reasoning": {"effort": "none"}}
SUMMARY = {"reasoning": {"summary": "auto"}}
SAMPLED = {"temperature": 0, "top_p": 0.9, "top_k": 5, "seed": 1}


def refused(model: str, at: Endpoint, params: Mapping[str, object], *, has_tools: bool = True) -> list[str]:
    return [one.parameter for one in refusals(model, at, params, has_tools=has_tools)]


@pytest.mark.parametrize(
    ("model", "params", "expected"),
    [
        ("gpt-5.4", LOW, ["reasoning"]),
        ("gpt-5.4-mini", LOW, ["reasoning"]),
        ("gpt-5.4-mini", {}, []),
        ("gpt-5.4-mini", SUMMARY, []),
        ("gpt-5.2", LOW, []),
        ("gpt-5.5", {}, [""]),
        ("gpt-5.5", SUMMARY, [""]),
        ("gpt-5.6-sol", LOW, ["reasoning"]),
        ("gpt-6", {}, [""]),
        ("gpt-5.10", {}, [""]),
        ("gpt-5.5", NONE, []),
        ("gpt-4o", {}, []),
        ("o3", LOW, []),
        ("my-gpt-5.5", LOW, []),
    ],
)
def test_tools_with_thoughts_are_refused_on_chat_completions_of_openai(
    model: str, params: Mapping[str, object], expected: list[str]
) -> None:
    assert refused(model, OPENAI_CHAT, params) == expected
    assert refused(model, OPENAI_CHAT, params, has_tools=False) == []
    assert refused(model, NATIVE, params) == []
    assert refused(model, GATEWAY, params) == []


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (ANTHROPIC, ["seed", "temperature", "top_k", "top_p"]),
        (NATIVE, ["seed", "top_k"]),
        (GATEWAY, []),
        (OPENAI_CHAT, ["top_k"]),
    ],
)
def test_parameters_that_a_format_does_not_have_are_refused(at: Endpoint, expected: list[str]) -> None:
    assert refused("some-model", at, SAMPLED) == expected


@pytest.mark.parametrize(
    ("at", "form"),
    [
        (NATIVE, ResponseCreateParamsNonStreaming),
        (OPENAI_CHAT, CompletionCreateParamsNonStreaming),
        (ANTHROPIC, MessageCreateParamsNonStreaming),
    ],
)
def test_parameters_outside_the_types_of_a_vendor_are_refused_at_its_address(at: Endpoint, form: type[object]) -> None:
    # The format Messages writes `stop` as `stop_sequences`.
    every = ("seed", "temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty")
    every += ("repetition_penalty", "logit_bias", "n", "top_logprobs")
    adapter: TypeAdapter[Mapping[str, object]] = TypeAdapter(form)
    properties = adapter.json_schema()["properties"]
    lacking = sorted({*every} - {*properties})
    assert refused("some-model", at, dict.fromkeys(every, 1)) == lacking


def test_sampling_is_refused_of_a_model_that_thinks() -> None:
    sampled = {"temperature": 0, "top_p": 0.9}
    assert refused("gpt-5.4", NATIVE, {**sampled, **LOW}) == ["temperature", "top_p"]
    assert refused("gpt-5.5", NATIVE, sampled) == ["temperature", "top_p"]
    assert refused("gpt-5.4", NATIVE, sampled) == []
    assert refused("gpt-5.5", NATIVE, {**sampled, **NONE}) == []


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5-mini", "gpt-5-pro"])
def test_sampling_is_refused_of_a_model_that_always_thinks(model: str) -> None:
    found = list(refusals(model, NATIVE, {"temperature": 0}, has_tools=False))
    assert [(one.parameter, one.remedy) for one in found] == [("temperature", "Remove it.")]


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("gpt-4.1", ""),
        ("gpt-4o-mini-2024-07-18", ""),
        ("o3", "low medium high"),
        ("gpt-5-nano", "minimal low medium high"),
        ("gpt-5-pro", "high"),
        ("gpt-5.1", "none low medium high"),
        ("gpt-5.4-mini", "none low medium high xhigh"),
        ("gpt-5.4-pro", "medium high xhigh"),
        ("gpt-5.6-sol", "none minimal low medium high xhigh max"),
        ("gpt-4o-of-ours", "none minimal low medium high xhigh max"),
    ],
)
def test_efforts_are_refused_that_a_model_of_openai_is_known_not_to_take(model: str, taken: str) -> None:
    every = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    asked = {effort: {"reasoning": {"effort": effort}} for effort in every}
    assert [effort for effort in every if not refused(model, NATIVE, asked[effort])] == taken.split()
    assert not any(refused(model, GATEWAY, params) for params in asked.values())


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-4-5", ["reasoning"]),
        ("claude-haiku-4-5-20251001", ["reasoning"]),
        ("claude-opus-4-20250514", ["reasoning"]),
        ("claude-3-7-sonnet-20250219", ["reasoning"]),
        ("claude-sonnet-4-6", []),
        ("claude-haiku-5-5", []),
        ("claude-sonnet-5", []),
        ("claude-mythos-preview", []),
    ],
)
def test_thoughts_are_refused_of_a_claude_that_wants_a_number_of_tokens(model: str, expected: list[str]) -> None:
    assert refused(model, ANTHROPIC, LOW) == refused(model, ANTHROPIC, SUMMARY) == expected
    assert refused(model, ANTHROPIC, NONE) == refused(model, ANTHROPIC, {}) == []


def test_format_that_a_file_names_counts_more_than_the_host() -> None:
    translating = Endpoint(name="gateway", base_url=GATEWAY.base_url, api="messages")
    assert refused("claude-sonnet-4-5", translating, {"temperature": 0}) == ["temperature"]


@pytest.mark.parametrize(
    ("name", "said"),
    [(DEFAULT, "Write OPENAI_API_FORMAT=responses, or"), ("own", "Write `api: responses` for the endpoint `own` in")],
)
def test_remedy_names_the_place_of_the_format(name: str, said: str) -> None:
    at = Endpoint(name=name, base_url=OPENAI, api="chat_completions")
    (found,) = refusals("gpt-5.5", at, {}, has_tools=True)
    assert found.remedy.startswith(said)
