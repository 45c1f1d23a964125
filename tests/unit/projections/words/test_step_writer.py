"""The steps of a run hold everything that its journal holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import pytest
from hypothesis import given

from gofer.journal import entries as e
from gofer.journal import purposes
from gofer.journal.check_entries import Verdict
from gofer.journal.codec import to_json
from gofer.journal.entries import Entry, Recorded
from gofer.journal.grade_entries import Grade
from gofer.projections.words.step_headlines import headline
from gofer.projections.words.step_texts import shown_steps
from gofer.projections.words.step_writer import steps
from gofer.projections.words.steps import AgentSetup, ReadJournal, Step
from gofer.values.canonical_json import encode_text
from gofer.values.messages import Media, ToolAsk, Usage
from support.engine.memory_run import memory_run, says
from support.journal.generated_journals import journals
from support.stand_ins import mention

pytestmark = pytest.mark.anyio
SETUP = AgentSetup("w", "agents/w.md", "You are a test.", [{"type": "function", "function": {"name": "look"}}], ["m"])
NOT_SHOWN = ("kind", "data")
"""The kind of an entry, and the bytes of an image."""


def recorded(*entries: Entry, run: str = "run1") -> ReadJournal:
    """Return a journal with one entry in each frame, one second after the other."""
    found = [Recorded(n, 0, 1_000 * n, "me", entry) for n, entry in enumerate(entries, start=1)]
    return ReadJournal(run, found, SETUP)


def texts(value: object) -> Iterator[str]:
    """Yield every text in JSON, without the bytes of images."""
    match value:
        case str():
            yield value
        case dict():
            fields = cast(Mapping[str, object], value)
            for name, field in fields.items():
                if name not in NOT_SHOWN:
                    yield from texts(field)
        case list() | tuple():
            for item in cast(Sequence[object], value):
                yield from texts(item)
        case _:
            pass


def shown(found: Sequence[Step]) -> str:
    """Return all that full steps show as one text."""
    return "\n".join(
        part
        for step in found
        for part in (step.kind, step.tool, step.call, step.status, step.input, step.output, encode_text(step.details))
    )


@given(journals())
def test_steps_hold_every_text_of_every_entry(journal: list[Recorded]) -> None:
    written = shown(steps(ReadJournal("run1", journal, SETUP), {}))
    for one in journal:
        for text in texts(to_json(one.entry)):
            if isinstance(one.entry, e.LlmRequest) and text == one.entry.tail:
                continue
            assert text in written or encode_text(text)[1:-1] in written, (one.address, text)


@given(journals())
def test_steps_are_numbered_and_in_the_order_of_their_entries(journal: list[Recorded]) -> None:
    found = steps(ReadJournal("run1", journal, SETUP), {})
    assert [step.step for step in found] == list(range(1, len(found) + 1))
    addresses = [tuple(map(int, step.entry.split("."))) for step in found]
    assert addresses == sorted(addresses)


def response(*asks: ToolAsk, text: str = "", extra: str = "", thoughts: str = "") -> e.LlmResponse:
    return e.LlmResponse(text, asks, "tool_calls", "m", Usage(10, 2, 0), 0.01, 5, extra, thoughts)


def test_refused_call_shows_its_tool_its_arguments_and_its_reason() -> None:
    refusal = e.ToolResult("1.0", "refused", "You may not look there.", details={"code": "no_access"})
    journal = recorded(e.RunAccepted(mention(), "w"), response(ToolAsk("c1", "look", '{"at": "C1"}')), refusal)
    call, result = [step for step in steps(journal, {}) if step.kind in ("tool.call", "tool.result")]
    assert (call.tool, call.input, call.status, call.details) == ("look", '{"at": "C1"}', "refused", {"made": False})
    assert (result.tool, result.input, result.output) == ("look", '{"at": "C1"}', "You may not look there.")
    assert result.details["details"] == {"code": "no_access"}


def test_call_that_was_deferred_counts_its_attempts() -> None:
    made = e.ToolCall("1.0", "look", "read")
    journal = recorded(
        response(ToolAsk("c1", "look", "{}")),
        made,
        e.CallDeferred("1.0", "busy", 9_000),
        made,
        e.ToolResult("1.0", "ok", "x"),
    )
    found = [(step.kind, step.retries) for step in steps(journal, {}) if step.call == "1.0"]
    assert found == [("tool.call", 0), ("call.deferred", 0), ("tool.call", 1), ("tool.result", 1)]


@pytest.mark.parametrize(
    "answered", [response(thoughts="Let me see."), response(extra='{"reasoning_content": "Let me see."}')]
)
def test_thoughts_are_a_step_before_the_answer(answered: e.LlmResponse) -> None:
    found = [(step.kind, step.output) for step in steps(recorded(answered), {}) if step.kind != "state.transition"]
    assert found == [("thought", "Let me see."), ("llm.response", "")]


def test_steps_of_a_subagent_run_follow_its_start_once() -> None:
    started = e.SubagentStarted("1.0", "reader", "Read it.", {}, "run1.a")
    finished = e.SubagentFinished("1.0", "ok", "read", "m", Usage(), None, 5, run="run1.a")
    below = recorded(e.RunAccepted(mention(), "w", parent="run1", depth=1), e.MessageReceived("Read it."), run="run1.a")
    found = [
        step
        for step in steps(recorded(started, started, finished), {"run1.a": below})
        if step.kind != "state.transition"
    ]
    assert [(step.kind, step.run, step.depth) for step in found] == [
        ("subagent.started", "run1", 0),
        ("run.accepted", "run1.a", 1),
        ("message.received", "run1.a", 1),
        ("subagent.started", "run1", 0),
        ("subagent.finished", "run1", 0),
    ]


def test_one_shot_subagent_shows_its_system_prompt() -> None:
    setup = AgentSetup("w", "agents/w.md", "s", (), subagents={"judge": "You judge."})
    asked = Recorded(1, 0, 1, "me", e.SubagentStarted("subagent/1.0", "judge", "Is it good?", {"model": "m"}))
    step = steps(ReadJournal("run1", [asked], setup), {})[0]
    assert (step.input, step.details["system"]) == ("Is it good?", "You judge.")


def test_last_step_of_a_run_has_its_verdicts_and_its_usage() -> None:
    verdict = Verdict("no-tool-loops", passed=False, summary="look was called 3 times", detail="with {}")
    journal = recorded(e.RunAccepted(mention(), "w"), response(), e.RunFinished("done"), e.RunChecked((verdict,)))
    (end,) = [step for step in steps(journal, {}) if step.kind == "agent.end"]
    (check,) = cast(list[dict[str, object]], end.details["checks"])
    assert (end.status, end.duration_ms, check["check"], check["passed"]) == ("done", 2_000, "no-tool-loops", False)
    assert cast(dict[str, object], end.details["usage"])["input_tokens"] == 10


def test_grades_of_a_run_are_a_step_with_all_verdicts_and_change_no_duration() -> None:
    missing = Grade("tools.required", passed=False, expected="look is called", happened="not called", step="1.0")
    passed = Grade("status", passed=True, score=1.0)
    graded = e.RunGraded("answers/basic", 2, "failed", "recorded", "b" * 64, (passed, missing))
    journal = recorded(e.RunAccepted(mention(), "w"), response(), e.RunFinished("done"), e.RunChecked(()), graded)
    end, step = [step for step in steps(journal, {}) if step.kind in ("agent.end", "run.graded")]
    assert (end.duration_ms, step.status, step.details["case"], step.details["number"]) == (
        2_000,
        "failed",
        "answers/basic",
        2,
    )
    assert step.details["agent_version"] == "b" * 64
    first, second = cast(list[dict[str, object]], step.details["grades"])
    assert (first["dimension"], first["passed"], first["score"], first["blocks"]) == ("status", True, 1.0, True)
    assert (second["expected"], second["happened"], second["step"]) == ("look is called", "not called", "1.0")
    assert headline(step) == (
        "case answers/basic, run 2, recorded answers; 1 of 2 grades passed; failed: tools.required"
    )
    (shown,) = shown_steps([step])
    assert [(text.label, text.text) for text in shown.texts] == [
        ("tools.required at 1.0", "expected: look is called\nhappened: not called")
    ]


def test_damage_is_the_last_step() -> None:
    journal = ReadJournal("run1", recorded(e.RunAccepted(mention(), "w")).entries, SETUP, "Frame 2 is damaged.")
    last = steps(journal, {})[-1]
    assert (last.kind, last.output, last.status, last.entry) == ("damage", "Frame 2 is damaged.", "error", "")


def test_images_are_named_without_their_bytes() -> None:
    media = (Media("file_1", "image/png", "QUJD"),)
    (step,) = [
        one for one in steps(recorded(e.MessageReceived("see", media=media)), {}) if one.kind == "message.received"
    ]
    assert step.details["media"] == [{"file": "file_1", "media_type": "image/png", "pages": 0}]


async def test_request_shows_only_its_messages_that_are_new_since_the_request_before() -> None:
    made = memory_run(says("", ("look", {"text": "a"})), says("done"))
    made.tool("look", "read")
    await made.run()
    bundle = made.bundle()
    setup = AgentSetup("answer-here", "agents/answer-here.md", bundle.loaded.system, bundle.tools)
    first, second = [
        step for step in steps(ReadJournal("run1", await made.journal(), setup), {}) if step.kind == "llm.request"
    ]
    assert [first.sent and first.sent.body, second.sent and second.sent.body] == made.model.requests
    assert (first.since, second.since) == (0, 1)
    assert "please" in first.input
    assert "please" not in second.input
    assert "look did a" in second.input
    # The system prompt, the first message, the answer, the result and the tail.
    assert (second.details["messages"], second.details["new_messages"]) == (5, 3)


def test_signed_buttons_of_a_question_are_left_out() -> None:
    arguments = {"tool": "post", "approve": "c2lnbmVk.0a1b", "deny": "c2lnbmVk.9f8e", "by": ["U1"]}
    asked = e.ToolCall("question/call/1.0/1", "slack_ask_approval", "lookup", arguments)
    found = steps(recorded(e.RunAccepted(mention(), "w"), e.RunOwned(), asked), {})
    assert "c2lnbmVk" not in shown(found)
    assert shown(found).count("(signed button)") == 2


def test_call_has_the_status_of_its_outcome_and_is_open_without_one() -> None:
    done = [e.ToolCall("1.0", "look", "read"), e.ToolResult("1.0", "error", "Not found.")]
    left = e.ToolCall("1.1", "look", "read")
    found = steps(recorded(e.RunAccepted(mention(), "w"), e.RunOwned(), *done, left), {})
    calls = [step for step in found if step.kind == "tool.call"]
    assert [(step.status, step.own_status) for step in calls] == [("error", ""), ("open", "open")]


@pytest.mark.parametrize(
    ("call", "words"),
    [("2.0", "look 2.0"), ("tickets#1", "look tickets#1"), ("look", "look look"), (purposes.CONTEXT, "look")],
)
def test_headline_of_a_call_has_its_id_unless_the_run_itself_called(call: str, words: str) -> None:
    step, *_ = steps(recorded(e.ToolCall(call, "look", "read")), {})
    assert headline(step) == words


def test_approval_request_has_the_status_of_its_decision() -> None:
    asked = e.ApprovalRequested("1.0", "post", "ab", ("U1",), 9_000)
    decided = e.ApprovalDecided("1.0", "denied", "U1")
    found = steps(recorded(e.RunAccepted(mention(), "w"), e.RunOwned(), asked, decided), {})
    assert [step.status for step in found if step.kind == "approval.requested"] == ["denied"]


def test_steps_of_one_answer_with_thousands_of_refused_calls_are_complete() -> None:
    asks = tuple(ToolAsk(f"c{n}", f"invented_{n}", f'{{"n": {n}}}') for n in range(4_000))
    refused = [e.ToolResult(f"1.{n}", "refused", "There is no such tool.") for n in range(len(asks))]
    found = steps(recorded(response(*asks), *refused), {})
    assert [step.tool for step in found if step.kind == "tool.call"] == [ask.tool for ask in asks]
