"""The verdicts of the checks of a run: each planted fault is found, and verdicts depend on the entries alone."""

import json
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import Entry, LlmResponse, MessageReceived, Recorded, ToolCall, ToolResult
from gofer.journal.workspace_entries import ContextCompacted, Weights
from gofer.projections.checks import run_checks
from gofer.projections.checks.check_settings import Settings
from gofer.values.messages import ToolAsk, Usage
from support.journal.generated_journals import journals
from support.stand_ins import mention

ResultStatus = Literal["ok", "error", "refused"]
BEGUN: Sequence[Entry] = (
    e.RunAccepted(mention(), "answer-here"),
    e.RunOwned(),
    e.RunStarted("b", private=False),
    MessageReceived("Please look at #deploys."),
)
ENDED: Sequence[Entry] = (e.RunConcluded("done", "", "All is well."), e.RunFinished("done"))


def failed(*entries: Entry, settings: Settings | None = None, at: int = 1) -> dict[str, Verdict]:
    """Return the failed checks of a run with these entries between its beginning and its end, by name."""
    recorded = [Recorded(n, 0, n * at, "me", entry) for n, entry in enumerate([*BEGUN, *entries, *ENDED], 1)]
    verdicts = run_checks.verdicts(run_checks.project(recorded), settings or Settings())
    return {verdict.check: verdict for verdict in verdicts if not verdict.passed}


def answer(*asks: ToolAsk, input_tokens: int = 10) -> LlmResponse:
    return LlmResponse("", asks, "tool_calls" if asks else "stop", "m", Usage(input_tokens, 1, 0), 0.0, 5)


def turn(n: int, tool: str, arguments: dict[str, object], outcome: ToolResult | None = None) -> list[Entry]:
    """Return a turn with one reading call."""
    result = outcome or ToolResult(f"{n}.0", "ok", f"row {n}", "found 1 row")
    ask = ToolAsk(f"c{n}", tool, json.dumps(arguments))
    return [request(), answer(ask), ToolCall(f"{n}.0", tool, "read"), result]


def request(expected: int = 1_000, window: int = 48_000) -> e.LlmRequest:
    weights = Weights({"system": 100, "tools": 100, "history": 100}, {"prose": expected}, window, expected)
    return e.LlmRequest("4.0", "hash", {"model": "m"}, "", weights)


def test_healthy_run_fails_no_check() -> None:
    assert failed(*turn(1, "look", {"text": "a"}), *turn(2, "look", {"text": "b"}), request(), answer()) == {}


def test_failed_and_refused_calls_count_as_a_loop() -> None:
    error = ToolResult("2.0", "error", "It did not answer.")
    refused = [request(), answer(ToolAsk("c3", "look", '{ "text" : "a" }')), ToolResult("3.0", "refused", "No.")]
    found = failed(*turn(1, "look", {"text": "a"}), *turn(2, "look", {"text": "a"}, error), *refused)
    assert found["no-tool-loops"].summary == "Tools were called with the same arguments: look 3 times."
    assert found["no-tool-loops"].entries == ("6.0", "10.0", "14.0")
    assert found["no-tool-loops"].detail == 'The arguments of look are “{"text": "a"}”.'


def test_polling_tool_is_no_loop() -> None:
    calls = [entry for n in range(1, 7) for entry in turn(n, "build_status", {"build": "b"})]
    assert "no-tool-loops" in failed(*calls)
    assert failed(*calls, settings=Settings(polls=frozenset({"build_status"}))) == {}


def test_workflow_sets_how_many_equal_calls_are_a_loop() -> None:
    calls = [entry for n in range(1, 4) for entry in turn(n, "look", {"text": "a"})]
    assert failed(*calls, settings=Settings(limits={"no-tool-loops": 4})) == {}


def test_switched_off_check_has_no_verdict() -> None:
    state = run_checks.project([])
    off = frozenset({"no-tool-loops", "no-empty-evidence"})
    names = {verdict.check for verdict in run_checks.verdicts(state, Settings(off=off))}
    assert names.isdisjoint(off)
    assert len(names) == len(run_checks.verdicts(state, Settings())) - 2


def test_call_without_an_outcome_is_an_orphan() -> None:
    found = failed(request(), answer(ToolAsk("c", "look", "{}")), ToolCall("1.0", "look", "read"))
    assert found["no-orphaned-tools"].summary == "Calls without an outcome: 1 (look)."
    assert found["no-orphaned-tools"].entries == ("7.0",)


def test_summary_of_a_loop_does_not_quote_a_tool_that_a_model_invented() -> None:
    asks = [answer(ToolAsk(f"c{n}", "tell_ada_the_password", "{}")) for n in range(3)]
    refused = [ToolResult(f"{n + 1}.0", "refused", "No.", details={"code": "unknown_tool"}) for n in range(3)]
    found = failed(*(entry for pair in zip(asks, refused, strict=True) for entry in (request(), *pair)))
    assert found["no-tool-loops"].summary == "Tools were called with the same arguments: an unknown tool 3 times."
    assert "tell_ada_the_password" in found["no-tool-loops"].detail


def test_outcome_without_a_call_is_an_orphan() -> None:
    found = failed(ToolResult("1.0", "ok", "a result"))
    assert found["no-orphaned-tools"].summary == "Outcomes without a call: 1 (an unknown tool)."


@pytest.mark.parametrize(("effect", "orphans"), [("read", False), ("keyed", True)])
def test_reading_call_that_a_cancelled_run_did_not_repeat_is_no_orphan(effect: e.Effect, orphans: bool) -> None:
    entries: list[Entry] = [*BEGUN, request(), answer(ToolAsk("c", "look", "{}")), ToolCall("1.0", "look", effect)]
    entries += [e.RunCancelled("Ada"), e.RunConcluded("cancelled", "", ""), e.RunFinished("cancelled")]
    recorded = [Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)]
    verdicts = run_checks.verdicts(run_checks.project(recorded), Settings())
    assert [one.passed for one in verdicts if one.check == "no-orphaned-tools"] == [not orphans]


def test_full_window_is_an_error_and_names_its_share() -> None:
    found = failed(request(44_000), answer(input_tokens=44_000))
    assert found["context-window-headroom"].severity == "error"
    assert (
        found["context-window-headroom"].summary
        == "A request filled 92% of the window; the check allows less than 90%."
    )
    assert failed(request(42_000), answer(input_tokens=42_000)) == {}


def test_pinned_text_that_left_the_window_implies_drift() -> None:
    found = failed(*turn(1, "look", {}), ContextCompacted("what was", "history_1", 0, 3, (1, 1), "model"))
    assert found["context-window-headroom"].implies == "context_drift"
    assert found["context-window-headroom"].detail == "These left the window: “first message”."


def test_lost_tool_schema_in_the_fixed_beginning_is_an_error() -> None:
    weights = Weights({"system": 100, "tools": 40, "history": 100}, {"prose": 900}, 48_000, 900)
    less = e.LlmRequest("4.0", "hash", {"model": "m"}, "", weights)
    assert failed(*turn(1, "look", {}), less, answer())["context-window-headroom"].implies == "context_drift"


def test_transition_that_no_run_may_make_is_an_error() -> None:
    found = failed(ToolCall("9.0", "look", "read"), ToolResult("9.0", "ok", "a result"))
    assert found["no-state-violations"].severity == "error"
    assert found["no-state-violations"].entries


def test_eleventh_model_call_is_a_warning() -> None:
    calls = [entry for n in range(1, 12) for entry in turn(n, "look", {"text": f"a{n}"})]
    found = failed(*calls)
    assert found.keys() == {"llm-call-budget"}
    assert found["llm-call-budget"].summary == "The run made 11 model calls; the check allows 10."
    assert found["llm-call-budget"].severity == "warning"


def test_twenty_seven_plan_calls_in_one_run_are_a_warning() -> None:
    asks = [ToolAsk(f"c{n}", "todo_update", json.dumps({"id": "1", "description": f"d{n}"})) for n in range(27)]
    made: list[Entry] = [request(), answer(*asks)]
    for n in range(27):
        made += [ToolCall(f"1.{n}", "todo_update", "read"), ToolResult(f"1.{n}", "ok", f"[ ] 1 d{n}")]
    found = failed(*made)
    assert found.keys() == {"plan-call-budget"}
    assert found["plan-call-budget"].summary == "Calls about the plan: 27; the check allows 10."


def test_run_that_workers_own_for_longer_than_the_limit_is_a_warning() -> None:
    assert failed(at=9_000).keys() == {"execution-time"}
    assert failed(at=9_000, settings=Settings(limits={"execution-time": 60})) == {}


def test_invented_channel_is_a_warning_that_names_the_nearest_seen() -> None:
    found = failed(*turn(1, "slack_read_channel", {"channel": "#deplois"}))
    assert found.keys() == {"no-invented-names"}
    assert (
        found["no-invented-names"].summary == "Names in arguments that stood in no earlier message, file or result: 1."
    )
    assert found["no-invented-names"].detail == (
        "“#deplois” in “channel” of slack_read_channel: the nearest seen is “deploys”."
    )
    assert found["no-invented-names"].implies == "invented_parameters"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("No issue was found.", "found 0 issues"),
        ("[]", "read the table"),
        ("0 rows.", "read 0 rows"),
        ("There is no row.", "zero rows"),
        ("No page matches.", "no pages"),
        ("", ""),
        ("", "read the page"),
    ],
)
def test_answer_that_rests_on_empty_results_only_is_a_warning(text: str, summary: str) -> None:
    empty = ToolResult("1.0", "ok", text, summary)
    found = failed(*turn(1, "look", {"text": "a"}, empty), request(), answer())
    assert found.keys() == {"no-empty-evidence"}
    assert found["no-empty-evidence"].implies == "silent_degradation"
    assert failed(*turn(1, "look", {"text": "a"}, empty), *turn(2, "look", {"text": "b"})) == {}


def test_created_object_is_evidence_although_the_search_before_found_none() -> None:
    empty = ToolResult("1.0", "ok", "No issue was found.", "found 0 issues")
    made = [ToolCall("2.0", "create", "keyed"), ToolResult("2.0", "ok", "Created.", "created it")]
    assert failed(*turn(1, "look", {"text": "a"}, empty), request(), answer(ToolAsk("c", "create", "{}")), *made) == {}


def test_check_that_a_subagent_run_failed_fails_in_the_run_that_asked() -> None:
    usage = Usage(1, 1, 0)
    call = ToolCall("1.0", "subagent", "read")
    asked = e.SubagentStarted("1.0", "clerk", "file it", {}, run="child")
    done = e.SubagentFinished("1.0", "ok", "filed", "m", usage, 0.0, 5, run="child", failed_checks=("no-tool-loops",))
    asking = answer(ToolAsk("c", "subagent", "{}"))
    found = failed(request(), asking, call, asked, done, ToolResult("1.0", "ok", "filed"))
    assert found.keys() == {"no-tool-loops"}
    assert found["no-tool-loops"].summary == "Subagent runs that failed this check: 1."
    assert found["no-tool-loops"].entries == ("9.0",)


@pytest.mark.parametrize("name", ["x" * 200, "a tool; see https://evil.example", "\u202etool", ""])
def test_summary_quotes_no_invented_tool_name(name: str) -> None:
    refused = [ToolResult(f"{n}.0", "refused", "There is no such tool.") for n in range(1, 4)]
    calls = [entry for one in refused for entry in (request(), answer(ToolAsk("c", name, "{}")), one)]
    summary = failed(*calls)["no-tool-loops"].summary
    assert len(summary) < 200
    assert "evil" not in summary


@given(journal=journals(), cut=st.integers(0, 40))
def test_verdicts_depend_on_the_entries_alone(journal: list[Recorded], cut: int) -> None:
    whole = run_checks.verdicts(run_checks.project(journal), Settings())
    state = run_checks.project(journal[:cut])
    run_checks.verdicts(state, Settings())
    for recorded in journal[cut:]:
        run_checks.fold(state, recorded)
    assert run_checks.verdicts(state, Settings()) == whole


def test_verdicts_are_short_for_a_model_that_writes_megabytes() -> None:
    arguments: dict[str, object] = {"channel": "C0INVENTED9", f"{'a' * 10_000}_id": "OPS-4711", "b_id": "OPS-4712"}
    huge = "t" * 1_000_000
    found = failed(*(entry for n in (1, 2, 3) for entry in turn(n, huge, arguments)))
    assert {"no-invented-names", "no-tool-loops"} <= found.keys()
    assert all(len(one.summary) <= 501 and len(one.detail) <= 3_001 for one in found.values())


def of_script(*calls: tuple[str, ResultStatus]) -> list[Entry]:
    """Return calls of a script by their ids, with the status of each result."""
    made: list[Entry] = []
    for call, status in calls:
        made += [ToolCall(call, "look", "read", {"text": "a"}), ToolResult(call, status, "a result")]
    return made


@pytest.mark.parametrize(
    "calls",
    [
        [("0:look:abc:1", "ok"), ("0:look:abc:2", "ok"), ("0:look:abc:3", "ok")],
        [("0.1-0:look:abc:1", "ok"), ("0.1-1:look:abc:1", "ok"), ("0.1-2:look:abc:1", "ok")],
        [("0.1-0:look:abc:1", "error"), ("0.1-1:look:abc:1", "error"), ("0.1-2:look:abc:1", "error")],
        [("0:look:abc:1", "error"), ("0:look:abc:2", "ok"), ("0:look:abc:3", "error"), ("0:look:abc:4", "error")],
        [("0:look:abc:1", "error"), ("0:look:other:1", "error"), ("0:look:abc:2", "error")],
    ],
    ids=["in a row", "in branches", "errors in branches", "an error in between", "another call in between"],
)
def test_healthy_reads_that_a_script_repeats_are_no_loop(calls: list[tuple[str, ResultStatus]]) -> None:
    assert "no-tool-loops" not in failed(*of_script(*calls))


@pytest.mark.parametrize("status", ["error", "refused"])
def test_script_that_repeats_a_failed_call_in_one_branch_is_a_loop(status: ResultStatus) -> None:
    found = failed(*of_script(*[(f"0.1-2:look:abc:{n}", status) for n in (1, 2, 3)]))["no-tool-loops"]
    assert (found.summary, found.implies) == ("Tools were called with the same arguments: look 3 times.", "")
    assert found.detail == 'The arguments of look are “{"text":"a"}”.'


@pytest.mark.parametrize(
    "summary",
    [
        "no failures in the last 24 hours",
        "0 open incidents",
        "None of 14 services is down",
        "0.4 % error rate",
        "0 failed of 14 checks",
        "no alert fires",
        "found 0 rows that differ",
    ],
)
def test_good_news_is_no_empty_result(summary: str) -> None:
    healthy = ToolResult("1.0", "ok", "All of the 14 services answer within their limits. " * 10, summary)
    assert failed(*turn(1, "look", {"text": "a"}, healthy), request(), answer()) == {}


@pytest.mark.parametrize(
    ("call", "orphan"), [("approver/click-1", False), ("objection/click-1", False), ("answer/1", True)]
)
def test_own_call_without_an_outcome_is_an_orphan_only_as_the_answer(call: str, orphan: bool) -> None:
    assert ("no-orphaned-tools" in failed(ToolCall(call, "tell", "blind", {}))) == orphan
