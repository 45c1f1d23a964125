import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

import pytest
from openai.types.responses import Response, ResponseError, ResponseOutputItem, ResponseStatus, ResponseStreamEvent
from openai.types.responses.response import IncompleteDetails
from pydantic import BaseModel, TypeAdapter

from gofer.models.failures import provider_error_of
from gofer.models.formats.format import EXTRA_LIMIT
from gofer.models.formats.responses_answer import CODES, ENDS, ITEMS, REASONS, UNFINISHED, read_answer
from gofer.models.language_model import DEPLOYED, Answer, Unavailable, Unusable
from gofer.values.errors import RunStopped, TemporaryError

LINES = (Path(__file__).parent / "responses_bodies.jsonl").read_text().splitlines()
CASES = [json.loads(line.replace("@200kB@", "A" * 200_000)) for line in LINES]
ANSWERS = [pytest.param(case["body"], case["read"], id=case["name"]) for case in CASES if "failure" not in case["read"]]
FAILURES = [pytest.param(case["body"], case["read"], id=case["name"]) for case in CASES if "failure" in case["read"]]
BEYOND_THE_TYPES = {"unknown item", "cut for an unknown reason"}
PROGRESS = (
    *("created", "queued", "in_progress", "compaction", "output_item", "content_part"),
    *("output_text", "refusal", "audio", "reasoning_text", "reasoning_summary_part", "reasoning_summary_text"),
    *("function_call_arguments", "custom_tool_call_input", "mcp_call", "mcp_call_arguments", "mcp_list_tools"),
    *("shell_call_command", "shell_call_output_content", "code_interpreter_call", "code_interpreter_call_code"),
    *("file_search_call", "web_search_call", "image_generation_call"),
)
"""What other events of a stream are about; all that matters of it is in the last one."""


def read(body: str) -> Answer:
    return read_answer(body.encode(), DEPLOYED)


@pytest.mark.parametrize(("body", "facts"), ANSWERS)
def test_answer_is_read_from_a_body(body: str, facts: Mapping[str, object]) -> None:
    answer = read(body)
    calls = [f"{ask.id} {ask.tool} {ask.arguments}" for ask in answer.asks]
    assert (answer.text, answer.finish) == (facts.get("text", ""), facts.get("finish", "stop"))
    assert calls == facts.get("calls", [])
    assert len(json.loads(answer.extra or '{"items":[]}')["items"]) == facts.get("kept", 0)
    assert (answer.thoughts, answer.ignored, answer.cache_miss) == tuple(
        facts.get(name, "") for name in ("thoughts", "ignored", "cache_miss")
    )
    if "usage" in facts:
        assert list(dataclasses.astuple(answer.usage)) == facts["usage"]


@pytest.mark.parametrize(("body", "facts"), FAILURES)
def test_failure_in_a_body_has_its_class_and_the_words_of_the_provider(body: str, facts: Mapping[str, object]) -> None:
    with pytest.raises((TemporaryError, RunStopped)) as raised:
        read(body)
    error = provider_error_of(raised.value)
    assert error
    assert (error.failure, error.message) == (facts["failure"], facts["message"])


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b"null", b'{"choices":[]}', b'{"status":"completed"}'])
def test_body_without_output_is_unusable(body: bytes) -> None:
    with pytest.raises(Unusable):
        read_answer(body, DEPLOYED)


def test_items_of_the_answer_are_kept_unchanged() -> None:
    body = next(case["body"] for case in CASES if case["name"] == "unknown item")
    assert json.loads(read(body).extra)["items"] == json.loads(body)["output"]


def test_items_beyond_the_limit_are_left_out_as_a_whole() -> None:
    body = json.loads(next(case["body"] for case in CASES if case["name"] == "thoughts before call"))
    body["output"][0]["encrypted_content"] = "A" * EXTRA_LIMIT
    answer = read(json.dumps(body))
    assert (answer.extra, len(answer.asks)) == ("", 1)


def test_stream_that_breaks_off_anywhere_is_no_answer() -> None:
    body = next(case["body"] for case in CASES if case["name"] == "stream")
    for end in range(7, len(body) - 3, 41):
        with pytest.raises(Unavailable):
            read(body[:end])


def test_sdk_reads_each_body() -> None:
    for case in CASES:
        if case["body"].startswith("{") and case["name"] not in BEYOND_THE_TYPES:
            TypeAdapter(Response).validate_python(json.loads(case["body"]))


def test_forty_bodies_are_read() -> None:
    assert len(CASES) >= 40


def test_each_item_status_reason_and_code_of_the_sdk_has_a_treatment() -> None:
    assert set(ITEMS) >= kinds(ResponseOutputItem)
    assert {*UNFINISHED, "completed", "incomplete", "failed"} == set(get_args(ResponseStatus))
    assert set(REASONS) == literals(IncompleteDetails, "reason")
    assert set(CODES) >= literals(ResponseError, "code")


def test_each_event_of_the_sdk_is_read_or_reports_progress() -> None:
    others = kinds(ResponseStreamEvent) - {"response.output_item.done", "error", *ENDS}
    assert {event.removeprefix("response.").split(".")[0] for event in others} == set(PROGRESS)


def kinds(union: object) -> set[str]:
    members = cast(list[type[BaseModel]], get_args(get_args(union)[0]))
    return {kind for member in members for kind in literals(member, "type")}


def literals(model: type[BaseModel], field: str) -> set[str]:
    schema = model.model_json_schema()["properties"][field]
    options = [schema, *schema.get("anyOf", [])]
    return {word for option in options for word in option.get("enum", [option.get("const")]) if word}
