"""Exported spans of a run: names and attributes follow the conventions, and no content is exported by default."""

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal.entries import Entry, Recorded
from gofer.journal.grade_entries import Grade
from gofer.projections.tracing.span_ids import session_id
from gofer.runtime.telemetry.exported_span import Exported, without_names
from gofer.runtime.telemetry.otlp import requests, to_json
from gofer.runtime.telemetry.spans import exported
from gofer.values.events import Event
from gofer.values.messages import ToolAsk, Usage
from support.http.otlp_collector import values
from support.journal.generated_journals import journals
from support.stand_ins import TOKENS, mention

CANARY = "what people said"
CONVERSATION = TOKENS.conversation(mention().conversation)
ASK = ToolAsk("c", "look", '{"text": "' + CANARY + '"}')
PARAMS = {"model": "m", "temperature": 0.2, "seed": 7, "max_completion_tokens": 900}
RUN: list[Entry] = [
    e.RunAccepted(mention(CANARY), "answer-here"),
    e.RunOwned(),
    e.ToolCall("context/1", "slack_read_thread", "read"),
    e.ToolResult("context/1", "ok", CANARY, CANARY, {"private": False}, 40),
    e.RunStarted("b" * 64, False, continues="earlier"),
    e.MessageReceived(CANARY),
    e.LlmRequest("6.0", "ab", PARAMS, CANARY),
    e.CallDeferred("model", CANARY),
    e.LlmRequest("6.0", "ab", {"model": "m-2"}, CANARY),
    e.LlmResponse(
        CANARY,
        (ToolAsk("c", "look", '{"text": "' + CANARY + '"}'),),
        "tool_calls",
        "m-2a",
        Usage(100, 10, 50),
        0.25,
        700,
    ),
    e.ToolCall("1.0", "look", "read"),
    e.ToolResult("1.0", "error", CANARY, "", {"code": "not_found"}, 300),
    e.SubagentStarted("0:subagent.s:ab:1", "summary", CANARY, {"model": "m"}),
    e.SubagentFinished("0:subagent.s:ab:1", "ok", CANARY, "m-1", Usage(5, 2, 0), 0.5, 90),
    e.ApprovalRequested("1.1", "post", "ab", ("@leads",), 90_000),
    e.RunParked("approval", 90_000),
    e.RunOwned(),
    e.ApprovalDecided("1.1", "denied", CANARY),
    e.ToolResult("1.1", "refused", CANARY),
    e.ToolCall("1.2", "post", "blind"),
    e.ToolUnknown("1.2", CANARY, CANARY),
    e.RunConcluded("needs_attention", CANARY, CANARY),
    e.RunFinished("needs_attention", CANARY),
]


@pytest.mark.parametrize(("header", "linked"), [("00-" + "a" * 32 + "-" + "b" * 16 + "-01", 1), ("00-nonsense-01", 0)])
def test_run_of_a_webhook_links_to_the_span_of_its_caller(header: str, linked: int) -> None:
    event = replace(mention(), place={"hook": "orders", "traceparent": header})
    journal = [
        Recorded(1, 0, 1, "o", e.RunAccepted(event, "answer-here")),
        Recorded(2, 0, 2, "o", e.RunFinished("done")),
    ]
    (root,) = exported("run1", journal)
    assert list(root.linked) == [(b"\xaa" * 16, b"\xbb" * 8)] * linked


def record(entries: Sequence[Entry]) -> list[Recorded]:
    return [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate(entries, start=1)]


def spans_of(**how: Any) -> dict[str, Exported]:
    """Return the spans by name. Of spans with the same name, the last one wins."""
    return {span.name: span for span in exported("run1", record(RUN), **how)}


def test_exported_run_is_a_workflow_span_with_chats_tools_and_agents_below() -> None:
    spans = exported("run1", record(RUN))
    names = {span.id: span.name for span in spans}
    assert [(span.name, names.get(span.parent), span.client) for span in spans] == [
        ("invoke_workflow answer-here", None, False),
        ("execute_tool slack_read_thread", "invoke_workflow answer-here", False),
        ("chat m", "invoke_workflow answer-here", True),
        ("chat m-2", "invoke_workflow answer-here", True),
        ("execute_tool look", "invoke_workflow answer-here", False),
        ("invoke_agent summary", "invoke_workflow answer-here", False),
        ("chat m", "invoke_agent summary", True),
        ("approval of post", "invoke_workflow answer-here", False),
        ("wait for an approval", "invoke_workflow answer-here", False),
        ("execute_tool (refused)", "invoke_workflow answer-here", False),
        ("execute_tool post", "invoke_workflow answer-here", False),
        ("failed end", "invoke_workflow answer-here", False),
    ]
    assert len({span.id for span in spans}) == len(spans)
    assert {span.trace for span in spans} == {spans[0].trace}


def test_exported_attributes_follow_the_conventions() -> None:
    session = session_id(CONVERSATION)
    everywhere = {"gofer.run.id": "run1", "gen_ai.conversation.id": session, "session.id": session}
    spans = spans_of(base_url="https://gofer.example", conversation=CONVERSATION)
    assert spans["invoke_workflow answer-here"].attributes == everywhere | {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "answer-here",
        "gen_ai.agent.name": "answer-here",
        "error.type": "needs_attention",
        "gofer.bundle": "b" * 64,
        "gofer.cost_usd": 0.75,
        "gofer.entry": "1.0",
        "gofer.event.kind": "slack.mention",
        "gofer.llm_calls": 3,
        "gofer.outcome.entry": "23.0",
        "gofer.run.url": "https://gofer.example/runs/run1",
        "gofer.status": "needs_attention",
        "gofer.tool_calls": 3,
        "gofer.usage.input_tokens": 105,
        "gofer.usage.output_tokens": 12,
    }
    assert spans["chat m-2"].attributes == everywhere | {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "answer-here",
        "gen_ai.request.model": "m-2",
        "gen_ai.response.model": "m-2a",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 50,
        "gen_ai.usage.cost": 0.25,
        "gofer.cost_usd": 0.25,
        "gofer.entry": "9.0",
        "gofer.outcome.entry": "10.0",
        "gofer.prompt.through": "6.0",
        "gofer.status": "ok",
    }
    assert spans["execute_tool look"].attributes == everywhere | {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.agent.name": "answer-here",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "1.0",
        "error.type": "not_found",
        "gofer.effect": "read",
        "gofer.entry": "11.0",
        "gofer.outcome.entry": "12.0",
        "gofer.status": "error",
    }
    assert spans["invoke_agent summary"].attributes == everywhere | {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "summary",
        "gofer.entry": "13.0",
        "gofer.outcome.entry": "14.0",
        "gofer.status": "ok",
    }


def test_exported_request_parameters_are_attributes() -> None:
    (first, *_) = [span for span in exported("run1", record(RUN)) if span.name == "chat m"]
    asked = {name: value for name, value in first.attributes.items() if name.startswith("gen_ai.request.")}
    assert asked == {
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.seed": 7,
        "gen_ai.request.max_tokens": 900,
    }
    assert first.attributes["error.type"] == "unavailable"


def test_exported_errors_have_a_type_and_successes_have_no_status() -> None:
    errors = {span.name: span.error for span in exported("run1", record(RUN))}
    assert errors["invoke_workflow answer-here"] == "needs_attention"
    assert errors["execute_tool look"] == "not_found"
    assert errors["execute_tool (refused)"] == "refused"
    assert errors["execute_tool post"] == "unknown_outcome"
    assert (errors["chat m-2"], errors["approval of post"]) == ("", "")
    (request,) = requests(exported("run1", record(RUN)), {})
    coded = {span.name: span.status.code for span in request.resource_spans[0].scope_spans[0].spans}
    assert (coded["chat m-2"], coded["execute_tool look"]) == (0, 2)


def test_exported_call_that_waited_has_the_waiting_time() -> None:
    call, wait = e.ToolCall("1.0", "look", "read"), e.CallDeferred("1.0", "Slack did not answer.", 9_000)
    entries = [e.RunAccepted(mention(), "w"), call, wait, call, e.ToolResult("1.0", "ok", ""), e.RunFinished("done")]
    span = exported("run1", [Recorded(n, 0, n * 1_000, "me", one) for n, one in enumerate(entries)])[1]
    assert (span.start, span.end, span.attributes["gofer.waited_ms"]) == (1_000, 4_000, 2_000)


def test_vendor_sentence_is_not_exported_as_an_error_type() -> None:
    changed = [*RUN[:11], replace(RUN[11], details={"code": CANARY}), *RUN[12:]]  # type: ignore[type-var]
    spans = {span.name: span for span in exported("run1", record(changed))}
    assert spans["execute_tool look"].error == "_OTHER"


def test_exported_run_that_continues_another_run_links_to_the_root_span_there() -> None:
    root = spans_of()["invoke_workflow answer-here"]
    earlier = exported("earlier", record(RUN))[0]
    assert root.linked == ((earlier.trace, earlier.id),)


def test_repeated_export_has_equal_bytes_and_another_run_has_other_span_ids() -> None:
    def raw(run: str) -> list[bytes]:
        made = requests(exported(run, record(RUN)), {"service.name": "gofer"})
        return [request.SerializeToString(deterministic=True) for request in made]

    assert raw("run1") == raw("run1")
    ids = [{span.id for span in exported(run, record(RUN))} for run in ("run1", "run2")]
    assert ids[0].isdisjoint(ids[1])


def test_exported_json_has_hexadecimal_ids() -> None:
    (request,) = requests(exported("run1", record(RUN)), {"service.name": "gofer"})
    value: Any = json.loads(json.dumps(to_json(request)))
    written = value["resourceSpans"][0]["scopeSpans"][0]["spans"]
    real = request.resource_spans[0].scope_spans[0].spans
    assert [(it["traceId"], it["spanId"]) for it in written] == [(it.trace_id.hex(), it.span_id.hex()) for it in real]
    assert (len(written[0]["traceId"]), len(written[0]["spanId"])) == (32, 16)
    assert written[1]["parentSpanId"] == written[0]["spanId"]
    assert "parentSpanId" not in written[0]
    assert written[0]["kind"] == 1
    assert written[0]["links"][0]["traceId"] == exported("earlier", record(RUN))[0].trace.hex()


def test_full_export_contains_messages_in_the_form_of_the_conventions() -> None:
    spans = spans_of(full=True)
    asked = json.loads(str(spans["chat m-2"].attributes["gen_ai.output.messages"]))
    call = {"type": "tool_call", "id": "1.0", "name": "look", "arguments": {"text": CANARY}}
    said = {"type": "text", "content": CANARY}
    assert asked == [{"role": "assistant", "parts": [said, call], "finish_reason": "tool_call"}]
    first = next(span for span in exported("run1", record(RUN), full=True) if span.name == "chat m")
    assert json.loads(str(first.attributes["gen_ai.input.messages"])) == [{"role": "user", "parts": [said]}]
    look = spans["execute_tool look"].attributes
    assert look["gen_ai.tool.call.arguments"] == '{"text": "' + CANARY + '"}'
    assert look["gen_ai.tool.call.result"] == CANARY
    root = spans["invoke_workflow answer-here"].attributes
    assert CANARY in str(root["gen_ai.input.messages"])
    assert CANARY in str(root["gen_ai.output.messages"])
    assert root["gofer.reason"] == CANARY
    assert CANARY in str(spans["invoke_agent summary"].attributes["gen_ai.input.messages"])


def test_exported_request_holds_only_messages_since_the_previous_request() -> None:
    more = [e.LlmRequest("12.0", "ab", {"model": "m-3"}, ""), e.LlmResponse("ok", (), "stop", "m-3", Usage(), None, 1)]
    spans = exported("run1", record([*RUN[:12], *more, *RUN[21:]]), full=True)
    last = next(span for span in spans if span.name == "chat m-3")
    roles = [message["role"] for message in json.loads(str(last.attributes["gen_ai.input.messages"]))]
    assert roles == ["assistant", "tool"]


def test_exported_long_texts_lose_the_end_and_long_requests_the_beginning() -> None:
    texts = [e.MessageReceived(f"{n} " + "x" * 20_000) for n in range(20)]
    spans = exported("run1", record([*RUN[:5], *texts, *RUN[6:]]), full=True)
    (first, *_) = [span for span in spans if span.name == "chat m"]
    raw = str(first.attributes["gen_ai.input.messages"])
    kept = [message["parts"][0]["content"] for message in json.loads(raw)]
    assert len(raw) < 65_000
    assert (kept[-1][:3], kept[-1][-5:]) == ("19 ", "[cut]")
    assert kept[0][:2] != "0 "


def graded() -> list[e.Entry]:
    missing = Grade("tools.required", passed=False, expected="look is called", happened="not called", step="1.0")
    judged = Grade("judge.faithful", passed=True, score=0.75, blocks=False)
    return [*RUN, e.RunGraded("answers/basic", 2, "failed", "live", "b" * 64, (missing, judged))]


def test_grades_are_evaluation_events_on_the_span_of_the_run_at_its_end() -> None:
    root, *others = exported("run1", record(graded()))
    ungraded = exported("run1", record(RUN))
    assert root.end == ungraded[0].end
    assert [span.end for span in others] == [span.end for span in ungraded[1:]]
    assert not any(span.events for span in others)
    assert {name: root.attributes[name] for name in root.attributes if name.startswith("gofer.eval.")} == {
        "gofer.eval.case": "answers/basic",
        "gofer.eval.number": 2,
        "gofer.eval.outcome": "failed",
        "gofer.eval.evidence": "live",
    }
    assert [(event.name, event.at) for event in root.events] == [("gen_ai.evaluation.result", root.end)] * 2
    assert [event.attributes for event in root.events] == [
        {
            "gen_ai.evaluation.name": "tools.required",
            "gen_ai.evaluation.score.value": 0.0,
            "gen_ai.evaluation.score.label": "fail",
            "gofer.evaluation.blocks": True,
        },
        {
            "gen_ai.evaluation.name": "judge.faithful",
            "gen_ai.evaluation.score.value": 0.75,
            "gen_ai.evaluation.score.label": "pass",
            "gofer.evaluation.blocks": False,
        },
    ]


def test_grade_without_a_verdict_is_an_event_with_an_error_and_no_score() -> None:
    silent = Grade("judge.faithful", passed=False, missing="infrastructure")
    entries = [*RUN, e.RunGraded("answers/basic", 1, "infrastructure", "live", "b", (silent,))]
    (event,) = exported("run1", record(entries))[0].events
    assert event.attributes == {
        "gen_ai.evaluation.name": "judge.faithful",
        "gofer.evaluation.blocks": True,
        "error.type": "infrastructure",
    }


def test_explanation_of_a_grade_is_exported_only_with_texts() -> None:
    explained = exported("run1", record(graded()), full=True)[0].events
    assert [event.attributes.get("gen_ai.evaluation.explanation") for event in explained] == [
        "Expected: look is called; Happened: not called",
        None,
    ]


def test_evaluation_events_are_sent_with_their_span() -> None:
    (sent,) = requests(exported("run1", record(graded())), {})
    root = sent.resource_spans[0].scope_spans[0].spans[0]
    assert [event.name for event in root.events] == ["gen_ai.evaluation.result"] * 2
    assert {event.time_unix_nano for event in root.events} == {root.end_time_unix_nano}
    assert values(root.events[1])["gen_ai.evaluation.score.value"] == 0.75


def test_spans_are_exported_in_batches_in_order() -> None:
    many = [
        step for n in range(600) for step in (e.ToolCall(f"1.{n}", "look", "read"), e.ToolResult(f"1.{n}", "ok", ""))
    ]
    spans = exported("run1", record([*RUN[:6], *many, RUN[-1]]))
    sent = list(requests(spans, {"service.name": "gofer"}))
    batches = [request.resource_spans[0].scope_spans[0].spans for request in sent]
    assert [len(batch) for batch in batches] == [256, 256, 91]
    assert [span.span_id for batch in batches for span in batch] == [span.id for span in spans]
    assert {values(request.resource_spans[0].resource)["service.name"] for request in sent} == {"gofer"}


def test_large_spans_are_exported_in_separate_batches() -> None:
    texts = [e.ToolResult(f"x/{n}", "ok", "y" * 8_000) for n in range(200)]
    sent = list(requests(exported("run1", record([*RUN[:6], *texts, RUN[-1]]), full=True), {}))
    assert len(sent) > 1
    assert max(request.ByteSize() for request in sent) < 1_100_000


KEPT = {"call", "tool", "name", "model", "effect", "status", "bundle", "workflow", "continues", "owner"}
KEPT |= {
    "decision",
    "file",
    "unit",
    "about",
    "source",
    "kind",
    "through",
    "prefix_sha256",
    "item",
    "arguments_sha256",
    "fingerprint",
    "case",
    "dimension",
    "outcome",
    "missing",
    "evidence",
    "agent_version",
    "run",
}
"""Fields of entries that hold names, ids and kinds."""


def speaking(value: object, word: str) -> object:
    """Return an entry with a word in every field that may hold content."""
    match value:
        case Event():
            place = dict.fromkeys(value.place, word)
            return replace(value, text=word, place=place, conversation=word, facts={word: word}, digest=word)
        case e.CallDeferred():
            return replace(value, reason=word)
        case e.RunParked() | e.RunHandedOver():
            return value
        case e.ContextCompacted():
            return replace(value, summary=word)
        case ToolAsk():
            return ToolAsk(word, word, word)
        case tuple():
            return tuple(speaking(item, word) for item in value)
        case str():
            return word
        case dict() | None:
            return {word: word, "code": word} if value is None or "private" not in value else {**value, word: word}
        case _ if hasattr(value, "__dataclass_fields__"):
            changed = {
                field.name: speaking(getattr(value, field.name), word)
                for field in fields(value)  # type: ignore[arg-type]
                if field.name not in KEPT and field.name not in ("params", "usd_left_of", "weights", "turns")
            }
            return replace(value, **changed)  # type: ignore[type-var]
        case _:
            return value


WORDS = st.text(min_size=1, max_size=20).map(lambda text: f"{text} canary 5b1d {text}")


@given(journals(), WORDS)
def test_export_below_full_contains_no_content(journal: list[Recorded], word: str) -> None:
    spoken: Any = [replace(recorded, entry=speaking(recorded.entry, word)) for recorded in journal]
    sent = list(requests(exported("run1", spoken), {"service.name": "gofer"}))
    assert b"canary 5b1d" not in b"".join(request.SerializeToString() for request in sent)
    assert b"canary 5b1d" in b"".join(
        request.SerializeToString() for request in requests(exported("run1", spoken, full=True), {})
    )


@given(journals())
def test_exported_run_is_one_tree_of_spans_with_valid_times(journal: list[Recorded]) -> None:
    spans = exported("run1", journal)
    seen = {b""}
    for span in spans:
        assert span.parent in seen
        assert span.start <= span.end
        seen.add(span.id)
    assert [span.parent for span in spans].count(b"") == 1
    assert len(seen) == len(spans) + 1


def refused(code: str, tool: str = "slack_post_message") -> list[Recorded]:
    asks = (ToolAsk("c", tool, '{"text": "' + CANARY + '"}'),)
    answer = e.LlmResponse("", asks, "tool_calls", "m", Usage(1, 1), 0.1, 5)
    result = e.ToolResult("1.0", "refused", CANARY, details={"code": code})
    return record([*RUN[:6], e.LlmRequest("6.0", "ab", PARAMS, ""), answer, result, e.RunFinished("done")])


def test_exported_refused_call_has_its_tool_and_the_code_of_the_reason() -> None:
    span = exported("run1", refused("elsewhere"))[-1]
    assert (span.name, span.error) == ("execute_tool slack_post_message", "elsewhere")
    assert span.attributes["gen_ai.tool.name"] == "slack_post_message"


@pytest.mark.parametrize("code", ["unknown_tool", "cut_call", "deprecated", "too_many_calls", "no_plan", ""])
def test_tool_name_that_a_model_may_have_made_up_is_not_exported(code: str) -> None:
    span = exported("run1", refused(code, "ada_earns_90000"))[-1]
    assert (span.name, span.attributes["gen_ai.tool.name"]) == ("execute_tool (refused)", "(refused)")


def test_full_export_contains_the_arguments_and_the_reason_of_a_refused_call() -> None:
    attributes = exported("run1", refused("elsewhere"), full=True)[-1].attributes
    assert attributes["gen_ai.tool.call.arguments"] == '{"text": "' + CANARY + '"}'
    assert attributes["gen_ai.tool.call.result"] == CANARY


def test_exported_file_has_its_id_type_and_size_and_its_name_only_in_full_mode() -> None:
    file = e.FileAdded("file_1a2b", "salaries.csv", "text/csv", 12_345, "Slack", body="ab")
    entries = record([*RUN[:3], file, e.ToolResult("context/1", "ok", ""), e.RunFinished("done")])
    call, span = exported("run1", entries)[1:]
    assert (span.name, span.parent) == ("file file_1a2b (text/csv, 12,345 bytes)", call.id)
    kept = {name: span.attributes[f"gofer.file.{name}"] for name in ("id", "type", "size")}
    assert kept == {"id": "file_1a2b", "type": "text/csv", "size": 12_345}
    assert "salaries" not in repr(span)
    assert exported("run1", entries, full=True)[-1].attributes["gofer.file.name"] == "salaries.csv"


def test_exported_wait_and_error_have_codes_and_times_and_no_operation_of_the_conventions() -> None:
    entries = record([*RUN[:2], e.RunParked("outage", 9_000), e.RunOwned(), e.RunOwned(), e.RunFinished("done")])
    wait, error = exported("run1", entries)[1:]
    assert (wait.name, wait.start, wait.end, wait.error) == ("wait for the end of an outage", 3_000, 4_000, "")
    assert wait.attributes["gofer.wait.reason"] == "outage"
    assert (error.name, error.error) == ("crashed owner", "crashed_owner")
    assert "gen_ai.operation.name" not in {**wait.attributes, **error.attributes}


def test_exported_compaction_has_the_model_call_of_its_summary_below() -> None:
    asked = e.SubagentStarted("compaction/1", "compaction", CANARY, {"model": "m"})
    answered = e.SubagentFinished("compaction/1", "ok", CANARY, "m", Usage(5, 2, 0), 0.5, 90)
    compacted = e.ContextCompacted(CANARY, "history_1a", 1, 12, (1, 6), "model")
    root, compaction, chat = exported("run1", record([*RUN[:2], asked, answered, compacted, e.RunFinished("done")]))
    assert (compaction.name, compaction.parent, compaction.attributes["gofer.compacted.by"]) == (
        "compaction",
        root.id,
        "model",
    )
    assert (chat.name, chat.parent, chat.client) == ("chat m", compaction.id, True)
    assert (root.attributes["gofer.llm_calls"], root.attributes["gofer.usage.input_tokens"]) == (1, 5)


def test_spans_at_minimal_level_name_no_workflow_and_no_tool() -> None:
    journal = [Recorded(n, 0, n, "o", entry) for n, entry in enumerate(RUN, 1)]
    summary = exported("run1", journal)
    minimal = [without_names(span) for span in summary]
    words = json.dumps([[span.name, dict(span.attributes)] for span in minimal])
    assert not any(name in words for name in ("answer-here", "look", "post", "slack.mention"))
    assert "execute_tool" in words
    assert [(span.id, span.parent, span.start, span.end, span.error) for span in minimal] == [
        (span.id, span.parent, span.start, span.end, span.error) for span in summary
    ]
    assert minimal[0].attributes["gofer.usage.input_tokens"] == summary[0].attributes["gofer.usage.input_tokens"]
