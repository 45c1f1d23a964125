import pytest

from gofer.journal.entries import (
    CallDeferred,
    Entry,
    LlmRequest,
    LlmResponse,
    MessageReceived,
    Recorded,
    RunAccepted,
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    RunStarted,
    Status,
    SubagentFinished,
    SubagentStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
)
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import about, outline
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import mention

CANARY = "what people said"
RUN: list[Entry] = [
    RunAccepted(mention(CANARY), "answer-here"),
    RunOwned(),
    RunStarted("bundle", False),
    MessageReceived(CANARY),
    LlmRequest("4.0", "ab", {"model": "m"}, CANARY),
    LlmResponse(CANARY, (ToolAsk("c", "look", CANARY),), "tool_calls", "m-1", Usage(100, 10, 50), 0.25, 700),
    ToolCall("1.0", "look", "read", {"text": CANARY}),
    ToolResult("1.0", "ok", CANARY, "looked", None, 300),
    ToolCall("answer/1", "post", "lookup"),
    ToolUnknown("answer/1", CANARY),
    RunConcluded("done", "", CANARY),
    RunFinished("needs_attention", "nobody can tell"),
]


def project(entries: list[Entry]) -> tuple[trace.Span, ...]:
    return trace.project(Recorded(n, 0, n * 1000, "me", entry) for n, entry in enumerate(entries, start=1))


def by_id(entries: list[Entry]) -> dict[str, trace.Span]:
    return {span.id: span for span in project(entries)}


def test_trace_of_a_run_is_a_tree_of_spans_with_genai_names() -> None:
    run, llm, tool, answer, error = project(RUN)
    assert [(span.id, span.parent, span.kind, span.status) for span in (run, llm, tool, answer, error)] == [
        ("run", None, "run", "needs_attention"),
        ("llm/1", "run", "llm", "ok"),
        ("1.0", "llm/1", "tool", "ok"),
        ("answer/1", "run", "tool", "unknown"),
        ("error/1", "run", "error", "error"),
    ]
    assert (run.start, run.end) == (1_000, 12_000)
    assert (tool.start, tool.end) == (7_000, 7_300)
    assert llm.attributes["gen_ai.usage.input_tokens"] == 100
    assert llm.attributes["gofer.cost_usd"] == 0.25
    assert tool.attributes["gen_ai.tool.name"] == "look"


def test_trace_spans_hold_no_content() -> None:
    assert CANARY not in str([span.to_json() for span in project(RUN)])


def test_trace_times_are_rfc_3339() -> None:
    assert project(RUN)[0].to_json()["start"] == "1970-01-01T00:00:01.000Z"


def test_open_span_has_no_end_and_a_call_without_an_answer_ends_as_an_error() -> None:
    assert [span.end for span in project(RUN[:5])] == [None, None]
    assert project([*RUN[:5], RunFinished("failed", "no model")])[1].status == "error"


def test_refused_tool_call_has_a_span() -> None:
    spans = project([*RUN[:6], ToolResult("1.0", "refused", "no")])
    assert (spans[2].id, spans[2].status, spans[2].parent) == ("1.0", "refused", "llm/1")


def test_every_cut_of_a_journal_has_a_trace_and_an_outline_without_content() -> None:
    for length in range(1, len(RUN) + 1):
        lines = outline("run1", project(RUN[:length]))
        assert CANARY not in "\n".join(lines)


def test_outline_shows_workflow_cost_and_duration() -> None:
    _, run, llm, tool, _, _ = outline("run1", project(RUN))
    assert "answer-here" in run
    assert "100 in, 10 out, 0.2500 USD" in llm
    assert "300 ms" in tool


def test_outline_shows_the_unavailable_model_and_the_reason() -> None:
    asked = [LlmRequest("4.0", "ab", {"model": name}, "") for name in ("small", "big")]
    _, _, small, big = outline("run1", project([*RUN[:4], asked[0], CallDeferred("model", "HTTP 503"), asked[1]]))
    assert small.split() == ["4.000", "s", "…", "chat", "small", "deferred", "1000", "ms", "HTTP", "503"]
    assert big.split()[2:] == ["…", "chat", "big", "open"]


AWAY = "Slack did not answer chat.postMessage properly (HTTP 503)."
CALL = ToolCall("answer/1", "slack_post_message", "lookup")


def waited(in_doubt: bool) -> list[Entry]:
    """A call that waits twice. If it is not in doubt, its intent is journaled again."""
    wait = CallDeferred(CALL.call, AWAY, 9_000, in_doubt, "outage", 90_000, "Slack")
    again = [] if in_doubt else [CALL]
    return [*RUN[:6], CALL, wait, RunParked("outage", 9_000), RunOwned(), *again, wait]


@pytest.mark.parametrize("in_doubt", [True, False])
def test_deferred_tool_call_span_ends_with_the_outcome(in_doubt: bool) -> None:
    journal = [*waited(in_doubt), *([] if in_doubt else [CALL]), ToolResult(CALL.call, "ok", "", "posted", None, 5)]
    call = by_id(journal)[CALL.call]
    assert (call.status, call.start, call.end) == ("ok", 7_000, len(journal) * 1_000)
    assert call.attributes["gofer.system"] == "Slack"
    lasted = len(journal) * 1_000 - 5 - 8_000
    assert call.attributes["gofer.waited_ms"] == lasted
    assert about(call) == f"posted; waited {lasted / 1000:.1f} s: {AWAY.rstrip('.')}"


@pytest.mark.parametrize("in_doubt", [True, False])
def test_deferred_tool_call_is_open_in_the_outline_with_the_reason(in_doubt: bool) -> None:
    lines = outline("run1", [by_id(waited(in_doubt))["run"], by_id(waited(in_doubt))[CALL.call]])
    assert lines[2].split()[2:] == ["…", "slack_post_message", "deferred"]
    assert " ".join(map(str.strip, lines[3:])) == f"waits: {AWAY.rstrip('.')}"


def test_deferred_tool_call_of_unknown_outcome_shows_the_waiting_time() -> None:
    call = by_id([*waited(True), ToolUnknown(CALL.call, "")])[CALL.call]
    assert (call.status, call.attributes["gofer.waited_ms"]) == ("unknown", 4_000)


@pytest.mark.parametrize(("end", "status"), [("failed", "error"), ("cancelled", "closed")])
def test_ended_run_has_no_waiting_span(end: Status, status: str) -> None:
    journal = [*waited(False), SubagentStarted("2.0", "reader", "", {"model": "m"})]
    journal += [CallDeferred("2.0", "HTTP 503"), RunFinished(end, "no model")]
    spans = by_id(journal)
    waiting = [spans[CALL.call], spans["2.0"], spans["2.0/llm/1"]]
    assert [span.status for span in waiting] == [status] * 3
    assert waiting[0].end == waiting[1].end == len(journal) * 1_000


def test_deferred_subagent_span_shows_the_waiting_time() -> None:
    asked = SubagentStarted("2.0", "reader", "", {"model": "m"})
    answer = SubagentFinished("2.0", "ok", "", "m-1", Usage(1, 1), 0.1, 10)
    spans = by_id([*RUN[:5], asked, CallDeferred("2.0", "HTTP 503", 9_000), asked, answer])
    assert about(spans["2.0"]) == "waited 2.0 s: HTTP 503"
    assert about(spans["2.0/llm/1"]) == "HTTP 503"
    assert about(spans["2.0/llm/2"]) == "1 in, 1 out, 0.1000 USD"
    assert [spans[f"2.0/llm/{n}"].status for n in (1, 2)] == ["deferred", "ok"]


def test_deferral_of_an_unknown_call_starts_no_span() -> None:
    wait = CallDeferred(CALL.call, AWAY, 9_000)
    assert project([*RUN[:6], wait, CALL])[-1].start == 8_000


def test_parked_run_has_a_span_for_each_wait_that_the_next_owner_ends() -> None:
    wait = CallDeferred(CALL.call, AWAY, 9_000, False, "outage", 90_000, "Slack")
    spans = by_id([*RUN[:6], CALL, wait, RunParked("outage", 9_000), RunOwned(), RunParked("model", 20_000)])
    first, second = spans["wait/1"], spans["wait/2"]
    assert (first.kind, first.name, first.parent) == ("wait", "wait for the end of an outage", "run")
    assert (first.start, first.end, first.status) == (9_000, 10_000, "over")
    assert first.attributes == {
        "gofer.wait.reason": "outage",
        "gofer.wait.until": "1970-01-01T00:00:09.000Z",
        "gofer.system": "Slack",
    }
    assert (second.end, second.status) == (None, "parked")
    assert "gofer.system" not in second.attributes


@pytest.mark.parametrize(
    ("left", "errors"),
    [
        ([], ["crashed owner"]),
        ([RunHandedOver("interrupted")], ["interrupted hand-over"]),
        ([RunHandedOver()], []),
        ([RunParked("model", 9_000)], []),
    ],
)
def test_owner_that_did_not_leave_in_good_order_is_an_error_of_the_run(left: list[Entry], errors: list[str]) -> None:
    spans = project([*RUN[:3], *left, RunOwned()])
    assert [(span.name, span.parent) for span in spans if span.kind == "error"] == [(name, "run") for name in errors]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (RunFinished("failed", "away", "outage", "Slack"), "outage"),
        (RunFinished("needs_attention", "a call"), "needs_attention"),
    ],
)
def test_failed_end_is_an_error_with_the_code_of_its_cause(end: RunFinished, code: str) -> None:
    error = project([*RUN[:3], end])[-1]
    assert (error.kind, error.name, error.attributes["error.type"]) == ("error", "failed end", code)
    assert error.start == error.end


@pytest.mark.parametrize("status", ["done", "limited", "cancelled", "ignored"])
def test_other_ends_are_no_errors(status: Status) -> None:
    assert [span.kind for span in project([*RUN[:3], RunFinished(status)])] == ["run"]


def test_outline_of_long_facts_continues_below_the_name_within_120_columns() -> None:
    lines = outline("run1", project([*RUN[:3], RunFinished("failed", "why " * 60)]))
    assert max(map(len, lines)) <= 120
    assert " ".join(" ".join(lines).split()).count("why") == 60


def test_span_of_an_answer_lasts_as_long_as_its_model_took() -> None:
    span = by_id(RUN)["llm/1"]
    assert span.end is not None
    assert span.end - span.start == 700
