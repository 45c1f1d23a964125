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
    RunOwned,
    RunStarted,
    ToolCall,
    ToolResult,
    ToolUnknown,
)
from gofer.messages import ToolAsk, Usage
from gofer.projections import trace
from gofer.projections.outline import outline
from stand_ins import mention

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


def test_a_run_is_a_tree_of_spans_with_genai_names() -> None:
    run, llm, tool, answer = project(RUN)
    assert [(span.id, span.parent, span.kind, span.status) for span in (run, llm, tool, answer)] == [
        ("run", None, "run", "needs_attention"),
        ("llm/1", "run", "llm", "ok"),
        ("1.0", "llm/1", "tool", "ok"),
        ("answer/1", "run", "tool", "unknown"),
    ]
    assert (run.start, run.end) == (1_000, 12_000)
    assert (tool.start, tool.end) == (7_000, 7_300)
    assert llm.attributes["gen_ai.usage.input_tokens"] == 100
    assert llm.attributes["gofer.cost_usd"] == 0.25
    assert tool.attributes["gen_ai.tool.name"] == "look"


def test_no_span_holds_contents() -> None:
    assert CANARY not in str([span.to_json() for span in project(RUN)])


def test_times_are_rfc_3339() -> None:
    assert project(RUN)[0].to_json()["start"] == "1970-01-01T00:00:01.000Z"


def test_what_is_under_way_has_no_end_and_what_never_came_is_an_error() -> None:
    assert [span.end for span in project(RUN[:5])] == [None, None]
    assert project([*RUN[:5], RunFinished("failed", "no model")])[1].status == "error"


def test_a_refused_call_is_a_span_of_its_own() -> None:
    spans = project([*RUN[:6], ToolResult("1.0", "refused", "no")])
    assert (spans[2].id, spans[2].status, spans[2].parent) == ("1.0", "refused", "llm/1")


def test_every_cut_of_a_journal_has_a_trace_and_an_outline() -> None:
    for length in range(1, len(RUN) + 1):
        spans = project(RUN[:length])
        lines = outline("run1", spans)
        assert len(lines) == 1 + len(spans)
        assert CANARY not in "\n".join(lines)


def test_an_outline_tells_time_status_and_cost() -> None:
    _, run, llm, tool, _ = outline("run1", project(RUN))
    assert "answer-here" in run
    assert "m-1: 100 in, 10 out, 0.2500 USD" in llm
    assert "300 ms" in tool


def test_an_outline_tells_which_model_was_not_there_and_why() -> None:
    asked = [LlmRequest("4.0", "ab", {"model": name}, "") for name in ("small", "big")]
    _, _, small, big = outline("run1", project([*RUN[:4], asked[0], CallDeferred("model", "HTTP 503"), asked[1]]))
    assert small.split() == ["4.000", "s", "✗", "chat", "small", "deferred", "1000", "ms", "HTTP", "503"]
    assert big.split()[2:] == ["…", "chat", "big", "open"]
