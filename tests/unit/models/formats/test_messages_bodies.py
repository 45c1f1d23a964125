"""The recorded answers of the format Messages, and the types of the SDK as an oracle of both directions."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from anthropic.types import (
    ContentBlock,
    ContentBlockParam,
    Message,
    RawContentBlockDelta,
    RawMessageStreamEvent,
    StopReason,
)
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.shared import ErrorType
from pydantic import BaseModel, TypeAdapter

from gofer.models.failures import provider_error_of
from gofer.models.formats.messages import BLOCKS, Messages
from gofer.models.language_model import DEPLOYED, Answer, Unavailable
from gofer.values import messages
from gofer.values.canonical_json import encode
from gofer.values.errors import RunStopped, TemporaryError

LINES = (Path(__file__).parent / "messages_bodies.jsonl").read_text().splitlines()
CASES = [json.loads(line.replace("@200kB@", "A" * 200_000)) for line in LINES]
ANSWERS = [pytest.param(case["body"], case["read"], id=case["name"]) for case in CASES if "failure" not in case["read"]]
FAILURES = [pytest.param(case["body"], case["read"], id=case["name"]) for case in CASES if "failure" in case["read"]]
BEYOND_THE_TYPES = {"unknown block", "unknown reason", "arguments that are no object", "no usage"}
OF_MEMORY = {"memory_precondition_failed_error", "memory_path_conflict_error", "conflict_error"}
"""Types of errors of other resources of the vendor."""
OF_SERVERS = (
    *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
    "container_upload",
)
"""Blocks of tools that the vendor runs, which Gofer never offers. They are kept as they are."""
THINKING = {case["name"] for case in CASES if '"thinking"' in case["body"]} - {"cut thoughts"}
MAKER = {"api": "messages", "model": "m"}


def read(body: str) -> Answer:
    return Messages().parse(body.encode(), DEPLOYED)


@pytest.mark.parametrize(("body", "facts"), ANSWERS)
def test_answer_is_read_from_a_body(body: str, facts: Mapping[str, object]) -> None:
    answer = read(body)
    calls = [f"{ask.id} {ask.tool} {ask.arguments}" for ask in answer.asks]
    assert (answer.text, answer.finish) == (facts.get("text", ""), facts.get("finish", "stop"))
    assert calls == facts.get("calls", [])
    assert len(json.loads(answer.extra or '{"blocks":[]}')[BLOCKS]) == facts.get("kept", 0)
    assert (answer.thoughts, answer.cache_miss) == (facts.get("thoughts", ""), facts.get("cache_miss", ""))
    if "usage" in facts:
        assert list(dataclasses.astuple(answer.usage)) == facts["usage"]


@pytest.mark.parametrize(("body", "facts"), FAILURES)
def test_failure_in_a_body_has_its_class_and_the_words_of_the_provider(body: str, facts: Mapping[str, object]) -> None:
    with pytest.raises((TemporaryError, RunStopped)) as raised:
        read(body)
    error = provider_error_of(raised.value)
    assert error
    assert (error.failure, error.message) == (facts["failure"], facts["message"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if "failure" not in case["read"]], ids=lambda case: case["name"]
)
@pytest.mark.parametrize("by", ["m", "other"])
def test_sdk_takes_each_answer_as_a_part_of_a_history(case: Mapping[str, Any], by: str) -> None:
    name, answer = case["name"], read(case["body"])
    said = messages.assistant(answer.text, answer.asks, answer.extra, MAKER)
    results = [messages.tool(ask.id, "seen") for ask in answer.asks]
    parts = [messages.system("You help."), messages.user("x"), said, *results, messages.user("y")]
    sent = json.loads(Messages().encode(encode({"model": "m", "messages": list(map(json.loads, parts))}), by).body)
    assert [turn["role"] for turn in sent["messages"]] in (["user", "assistant", "user"], ["user"])
    assert marks(sent) <= 4
    TypeAdapter(MessageCreateParamsNonStreaming).validate_python(sent)
    blocks = [block for turn in sent["messages"] for block in turn["content"]]
    for block in blocks:
        # The SDK's types know no block of tomorrow.
        if block["type"] != "crystal_ball":
            TypeAdapter(ContentBlockParam).validate_python(block)
    if answer.extra and by == "m" and "cut" not in name and "no object" not in name:
        assert sent["messages"][1]["content"] == json.loads(answer.extra)[BLOCKS]
    assert ("thinking" in {block["type"] for block in blocks}) is (by == "m" and name in THINKING)


def test_stream_that_breaks_off_anywhere_is_no_answer() -> None:
    body = next(case["body"] for case in CASES if case["name"] == "stream with thoughts")
    for end in range(22, len(body) - 3, 41):
        with pytest.raises(Unavailable):
            read(body[:end])


def test_sdk_reads_each_body() -> None:
    for case in CASES:
        body = case["body"]
        if body.startswith("{") and '"error"' not in body and case["name"] not in BEYOND_THE_TYPES:
            TypeAdapter(Message).validate_python(json.loads(body))


def test_forty_bodies_are_read() -> None:
    assert len(CASES) >= 40


def test_each_block_reason_and_error_of_the_sdk_has_a_body() -> None:
    names = {case["name"] for case in CASES}
    bodies = " ".join(case["body"] for case in CASES)
    assert kinds(ContentBlock) == {"text", "thinking", "redacted_thinking", "tool_use", *OF_SERVERS}
    assert all(f'"{reason}"' in bodies for reason in get_args(StopReason))
    assert set(get_args(ErrorType)) - OF_MEMORY <= names


def test_each_event_and_piece_of_the_sdk_is_in_a_stream() -> None:
    bodies = " ".join(case["body"] for case in CASES if not case["body"].startswith("{"))
    assert all(f'"{kind}"' in bodies for kind in kinds(RawMessageStreamEvent) | kinds(RawContentBlockDelta))


def kinds(union: object) -> set[str]:
    members = cast(list[type[BaseModel]], get_args(get_args(union)[0]))
    return {member.model_json_schema()["properties"]["type"]["const"] for member in members}


def marks(sent: object) -> int:
    return json.dumps(sent).count('"cache_control"')
