"""Spans of refused calls, of calls that an earlier run made, and of files."""

import json
from collections.abc import Sequence

import pytest

from gofer.journal import entries as e
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import mention

BEGINNING: list[e.Entry] = [e.RunAccepted(mention(), "answer-here"), e.RunOwned(), e.RunStarted("b", False)]


def spans_of(*entries: e.Entry) -> dict[str, trace.Span]:
    numbered = enumerate([*BEGINNING, *entries], start=1)
    return {span.id: span for span in trace.project(e.Recorded(n, 0, n * 1_000, "me", one) for n, one in numbered)}


def asked(*tools: str, arguments: str = "{}") -> Sequence[e.Entry]:
    asks = tuple(ToolAsk("c", tool, arguments) for tool in tools)
    answer = e.LlmResponse("", asks, "tool_calls", "m", Usage(10, 1), 0.1, 5)
    return [e.LlmRequest("3.0", "ab", {"model": "m"}, ""), answer]


def test_refused_call_has_its_tool_and_the_code_of_the_reason_and_no_duration() -> None:
    refused = e.ToolResult("1.1", "refused", "There is no plan.", details={"code": "no_plan"})
    spans = spans_of(*asked("look", "slack_post_message"), refused)
    span = spans["1.1"]
    assert (span.kind, span.name, span.status, span.parent) == ("tool", "slack_post_message", "refused", "llm/1")
    assert span.attributes["error.type"] == "no_plan"
    line = outline("run1", list(spans.values()))[-1]
    assert line.split()[2:] == ["✗", "slack_post_message", "refused", "no_plan"]


def test_refused_call_tool_has_the_name_of_the_inner_tool() -> None:
    arguments = json.dumps({"name": "look", "arguments": {}})
    spans = spans_of(*asked("call_tool", arguments=arguments), e.ToolResult("1.0", "refused", "No."))
    assert spans["1.0"].name == "look"


@pytest.mark.parametrize(
    "outcome", [e.ToolResult("1.0", "ok", "It is OPS-1.", "was done already"), e.ToolUnknown("1.0", "")]
)
def test_call_that_an_earlier_run_made_has_its_tool(outcome: e.Entry) -> None:
    assert spans_of(*asked("jira_create_issue"), outcome)["1.0"].name == "jira_create_issue"


def test_refused_call_of_a_script_has_its_tool() -> None:
    refused = e.ToolResult("0:slack_post_message:ab12:1", "refused", "No.", details={"code": "locked"})
    span = spans_of(refused)["0:slack_post_message:ab12:1"]
    assert (span.name, span.parent) == ("slack_post_message", "run")


def test_tool_name_that_no_provider_accepts_is_in_no_span() -> None:
    refused = e.ToolResult("1.0", "refused", "No.", details={"code": "unknown_tool"})
    assert spans_of(*asked("the salary is 90,000"), refused)["1.0"].name == "(no tool name)"


def test_file_of_a_call_is_below_the_call_without_its_name() -> None:
    call = e.ToolCall("1.0", "slack_download", "read")
    file = e.FileAdded("file_1a2b", "salaries.csv", "text/csv; charset=utf-8", 12_345, "Slack", body="ab")
    spans = spans_of(*asked("slack_download"), call, file, e.ToolResult("1.0", "ok", ""))
    span = spans["file/1"]
    assert (span.kind, span.parent, span.status) == ("file", "1.0", "stored")
    assert span.name == "file file_1a2b (text/csv, 12,345 bytes)"
    assert "salaries" not in str(span.to_json())


def test_media_type_without_the_form_of_a_media_type_is_in_no_span() -> None:
    file = e.FileAdded("file_1a2b", "a", "the salary is 90,000", 1, "Slack")
    span = spans_of(file, e.MessageReceived("hello"))["file/1"]
    assert (span.name, span.parent, span.status) == ("file file_1a2b (unknown type, 1 bytes)", "run", "listed")


def test_part_of_a_file_that_the_model_read_is_below_the_call() -> None:
    call = e.ToolCall("1.0", "file_read", "read")
    read = e.FileRead("file_1a2b", "lines", 1, 80)
    span = spans_of(*asked("file_read"), call, read, e.ToolResult("1.0", "ok", ""))["file/1"]
    assert (span.name, span.parent, span.status) == ("file file_1a2b lines 1–80", "1.0", "read")


def test_files_of_calls_made_at_once_are_below_their_own_calls() -> None:
    calls = [e.ToolCall(f"1.{n}", "look", "read") for n in range(2)]
    outcomes: list[e.Entry] = []
    for n in (1, 0):
        outcomes += [e.FileAdded(f"file_{n}", "a", "text/plain", 1, "x"), e.ToolResult(f"1.{n}", "ok", "")]
    spans = spans_of(*asked("look", "look"), *calls, *outcomes)
    parents = {span.attributes["gofer.file.id"]: span.parent for span in spans.values() if span.kind == "file"}
    assert parents == {"file_1": "1.1", "file_0": "1.0"}
