"""The calls of a run: arguments, attempts and outcomes."""

import pytest

from gofer.journal.entries import CallDeferred, LlmResponse, Recorded, ToolCall, ToolResult, ToolUnknown
from gofer.projections.calls import Call, project
from gofer.values.messages import ToolAsk, Usage
from support.engine.memory_run import memory_run, no_answer, says

pytestmark = pytest.mark.anyio


def recorded(*entries: object) -> list[Recorded]:
    return [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate(entries, 1)]  # type: ignore[arg-type]


def asked(*asks: ToolAsk) -> LlmResponse:
    return LlmResponse("", asks, "tool_calls", "m", Usage(), 0.0, 5)


def calls_of(*entries: object) -> dict[str, Call]:
    return project(recorded(*entries)).calls


async def test_call_of_a_model_has_its_arguments_its_entries_and_its_outcome() -> None:
    made = memory_run(says("", ("look", {"text": "here"})), says("done"))
    made.tool("look", "read")
    await made.run()
    call = project(await made.journal()).calls["1.0"]
    assert (call.tool, call.arguments, call.turn) == ("look", {"text": "here"}, 1)
    assert (call.status, call.text, call.summary, call.attempts) == ("ok", "look did here", "look done", 1)
    assert call.asked_in
    assert call.began_in
    assert call.ended_in


def test_refused_call_keeps_its_tool_its_arguments_and_its_reason() -> None:
    refused = ToolResult("1.0", "refused", "Not now.", details={"code": "repeated"})
    call = calls_of(asked(ToolAsk("a", "look", '{"text": "x"}')), refused)["1.0"]
    assert (call.tool, call.arguments, call.status, call.text, call.code) == (
        "look",
        {"text": "x"},
        "refused",
        "Not now.",
        "repeated",
    )
    assert call.attempts == 0


def test_malformed_arguments_are_kept_unchanged() -> None:
    call = calls_of(asked(ToolAsk("a", "look", '{"text": ')))["1.0"]
    assert (call.asked_for, call.arguments, call.status) == ('{"text": ', None, "asked")


def test_deferred_call_counts_its_attempts_and_waits() -> None:
    deferred = CallDeferred("1.0", "Jira does not answer", 9_000)
    call = calls_of(
        asked(ToolAsk("a", "look", "{}")), ToolCall("1.0", "look", "read"), deferred, ToolCall("1.0", "look", "read")
    )["1.0"]
    assert (call.attempts, call.retries, call.waits, call.status) == (2, 1, [deferred], "open")


def test_unknown_outcome_of_a_write_is_a_status() -> None:
    call = calls_of(asked(ToolAsk("a", "w", "{}")), ToolCall("1.0", "w", "blind"), ToolUnknown("1.0", "?"))["1.0"]
    assert (call.status, call.text) == ("unknown", "?")


def test_refused_call_of_a_script_names_its_tool() -> None:
    call = calls_of(ToolResult("0:jira_search:ab12:1", "refused", "No."))["0:jira_search:ab12:1"]
    assert (call.tool, call.status) == ("jira_search", "refused")


async def test_call_without_an_answer_stays_open_until_its_outcome() -> None:
    made = memory_run(says("", ("look", {})), says("done"))
    made.tool("look", "read", no_answer)
    await made.run()
    assert project(await made.journal()).calls["1.0"].status == "error"
