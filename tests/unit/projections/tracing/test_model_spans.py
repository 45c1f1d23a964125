"""Spans of the attempts of a model, of one-shot subagents and of compactions."""

from dataclasses import replace

from gofer.journal import entries as e
from gofer.journal.workspace_entries import Weights
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import about, outline
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import mention

BEGINNING: list[e.Entry] = [e.RunAccepted(mention(), "answer-here"), e.RunOwned(), e.RunStarted("b", False)]
SUMMARY = e.SubagentFinished("compaction/1", "ok", "Before: much.", "m", Usage(40_000, 400), 0.1, 900)


def spans_of(*entries: e.Entry) -> dict[str, trace.Span]:
    numbered = enumerate([*BEGINNING, *entries], start=1)
    return {span.id: span for span in trace.project(e.Recorded(n, 0, n * 1_000, "me", one) for n, one in numbered)}


def request(expected: int = 0, window: int = 48_000) -> e.LlmRequest:
    return e.LlmRequest("3.0", "ab", {"model": "m"}, "", Weights({"system": expected}, {}, window, expected))


def answer(tokens: int) -> e.LlmResponse:
    return e.LlmResponse("", (), "stop", "m", Usage(tokens, 310), 0.0021, 5)


def test_one_shot_subagent_is_an_agent_with_an_attempt_of_a_model_below() -> None:
    asked = e.SubagentStarted("0:subagent.s:ab:1", "classify", "What is it?", {"model": "m"})
    spans = spans_of(asked, e.SubagentFinished(asked.call, "ok", "a bug", "m", Usage(5, 2), 0.5, 90))
    agent, llm = spans[asked.call], spans[f"{asked.call}/llm/1"]
    assert (agent.kind, agent.name, agent.parent, agent.status) == ("agent", "subagent classify", "run", "ok")
    assert (llm.kind, llm.name, llm.parent, llm.status) == ("llm", "chat m", agent.id, "ok")
    assert "gen_ai.usage.input_tokens" not in agent.attributes


def test_attempts_of_models_name_the_system_fingerprint_if_the_provider_sent_one() -> None:
    name = "openai.response.system_fingerprint"
    asked = e.SubagentStarted("0:subagent.s:ab:1", "classify", "What is it?", {"model": "m"})
    finished = e.SubagentFinished(asked.call, "ok", "a bug", "m", Usage(5, 2), 0.5, 90, fingerprint="fp_2")
    spans = spans_of(request(), replace(answer(9), fingerprint="fp_1"), request(), answer(9), asked, finished)
    found = [spans[span].attributes.get(name) for span in ("llm/1", "llm/2", f"{asked.call}/llm/1")]
    assert found == ["fp_1", None, "fp_2"]


def test_request_to_another_model_says_that_the_thoughts_of_the_first_are_left_out() -> None:
    thinking = replace(answer(9), api="responses", extra='{"items":[]}', cache_miss="model_changed")
    other = replace(request(), params={"model": "n"})
    spans = spans_of(request(), thinking, request(), thinking, other, answer(9))
    assert [spans[f"llm/{n}"].attributes.get("gofer.thoughts.left_out") for n in (1, 2, 3)] == [None, None, 2]
    assert (spans["llm/1"].attributes["gofer.api"], spans["llm/1"].attributes["gofer.cache.miss"]) == (
        "responses",
        "model_changed",
    )


def test_question_of_a_tool_call_is_below_the_call() -> None:
    call = e.ToolCall("1.0", "tool_search", "read")
    asked = e.SubagentStarted("tool_search/1.0", "tool_search", "deploys", {"model": "small"})
    entries = [request(), e.LlmResponse("", (ToolAsk("c", "tool_search", "{}"),), "tool_calls", "m", Usage(), 0, 1)]
    assert spans_of(*entries, call, asked)["tool_search/1.0"].parent == "1.0"


def test_answer_that_was_lost_with_a_crashed_owner_ends_its_attempt() -> None:
    spans = spans_of(request(), e.RunOwned(), request(), answer(100), e.RunFinished("done"))
    assert [spans[f"llm/{n}"].status for n in (1, 2)] == ["error", "ok"]
    lost = spans["llm/1"]
    assert (lost.end, lost.attributes["error.type"], about(lost)) == (5_000, "lost", "lost")


def test_compaction_has_its_summary_below_its_turns_its_author_and_the_tokens_before_and_after() -> None:
    asked = e.SubagentStarted("compaction/1", "compaction", "Sum up.", {"model": "m"})
    file = e.FileAdded("history_1a", "turns-1-to-6.txt", "text/plain", 900, "this conversation", body="ab")
    compacted = e.ContextCompacted("Before: much.", "history_1a", 1, 12, (1, 6), "model")
    spans = spans_of(request(), answer(41_000), asked, SUMMARY, file, compacted, request(12_300))
    span = spans["compaction/1"]
    assert (span.kind, span.parent, span.status, span.end) == ("compaction", "run", "ok", 9_000)
    assert spans["compaction/1/llm/1"].parent == spans["file/1"].parent == "compaction/1"
    assert about(span) == "turns 1–6, summary by model, 41,310 → 12,300 tokens"


def test_compaction_by_code_has_a_span_without_a_model_call() -> None:
    spans = spans_of(e.ContextCompacted("Before: much.", "history_1a", 1, 12, (1, 6), "code"))
    assert (spans["compaction/1"].status, about(spans["compaction/1"])) == ("ok", "turns 1–6, summary by code")
    assert "compaction/1/llm/1" not in spans


def test_refused_summary_ends_its_attempt_as_an_error_and_the_compaction_goes_on() -> None:
    asked = e.SubagentStarted("compaction/1", "compaction", "Sum up.", {"model": "m"})
    refused = e.SubagentFinished("compaction/1", "error", "No.", "m", Usage(), 0.0, 0, "refused")
    entries = [asked, e.CallDeferred("compaction/1", "refused"), refused]
    spans = spans_of(*entries, e.ContextCompacted("", "history_1a", 1, 12, (1, 6), "code"))
    assert spans["compaction/1/llm/1"].status == "error"
    assert spans["compaction/1"].status == "ok"


def test_outline_shows_the_share_of_the_window_in_force_and_marks_an_almost_full_one() -> None:
    spans = spans_of(request(), answer(12_400), request(), answer(43_200), request(30_000))
    lines = outline("run1", list(spans.values()))[2:]
    assert lines[0].endswith("12,400 in (26 % of 48,000), 310 out, 0.0021 USD")
    assert "✓ chat m" in lines[0]
    assert lines[1].endswith("43,200 in (90 % of 48,000), 310 out, 0.0021 USD")
    assert "! chat m" in lines[1]
    assert lines[2].endswith("about 30,000 in (62 % of 48,000)")
    assert max(map(len, lines)) <= 120
