"""The facts of a run for its head: counted calls, first sign and answer, and no invented name."""

from collections.abc import Sequence

from gofer.journal import entries as e
from gofer.journal.check_entries import RunChecked, Verdict
from gofer.journal.entries import Entry, Recorded
from gofer.journal.head_facts import NO_TOOL, HeadFacts, ToolCount
from gofer.journal.purposes import ANSWER, ANSWER_PART, COMPACTION, STATUS, SUBAGENT_QUESTION
from gofer.journal.workspace_entries import SkillLoaded
from gofer.projections import calls, progress, run_facts
from gofer.values.events import Actor, Event
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import TOKENS, mention


def recorded(*frames: Sequence[Entry]) -> list[Recorded]:
    """Return entries whose frames are a second apart."""
    return [
        Recorded(n, i, n * 1000, "owner", entry) for n, frame in enumerate(frames, 1) for i, entry in enumerate(frame)
    ]


def asked(*tools: str) -> Entry:
    asks = tuple(ToolAsk(str(n), tool, "{}") for n, tool in enumerate(tools))
    return e.LlmResponse("", asks, "tool_calls", "m", Usage(10, 2, 5, written_tokens=3), 0.5, 1)


def facts_of(journal: Sequence[Recorded], *known: str) -> HeadFacts:
    return run_facts.named_facts(
        run_facts.project(journal), calls.project(journal), progress.project(journal), known, TOKENS
    )


ACCEPTED = e.RunAccepted(mention(), "w")


def test_calls_count_by_tool_with_refused_and_unknown_ones_as_errors() -> None:
    journal = recorded(
        [ACCEPTED],
        [asked("read", "read", "post", "invented by a model")],
        [e.ToolCall("1.0", "read", "read"), e.ToolResult("1.0", "ok", "")],
        [e.ToolResult("1.1", "refused", "done before"), e.ToolResult("1.3", "refused", "no such tool")],
        [e.ToolCall("1.2", "post", "blind"), e.ToolUnknown("1.2", "")],
    )
    assert facts_of(journal, "read").tools == {
        "read": ToolCount(2, 1),
        NO_TOOL: ToolCount(1, 1),
        "post": ToolCount(1, 1),
    }
    # A made call has the name of an existing tool, also if a later version of the tools lacks it.
    assert "post" in facts_of(journal).tools


def test_sign_and_answer_are_timed_from_the_event_by_their_first_success() -> None:
    journal = recorded(
        [ACCEPTED],
        [e.ToolResult(STATUS, "error", "")],
        [e.ToolResult(STATUS, "ok", "")],
        [e.ToolResult(ANSWER, "ok", "")],
        [e.ToolResult(ANSWER_PART.format(2), "ok", "")],
    )
    facts = facts_of(journal)
    assert (facts.sign_ms, facts.answer_ms) == (2000, 3000)
    assert (facts_of(journal[:2]).sign_ms, facts_of(journal[:2]).answer_ms) == (None, None)


def test_facts_hold_use_skills_checks_cause_and_tokens() -> None:
    verdicts = (Verdict("no-tool-loops", passed=False), Verdict("llm-call-budget", passed=True))
    journal = recorded(
        [ACCEPTED, asked()],
        [SkillLoaded("find-owners"), SkillLoaded("find-owners", "file.md")],
        [e.RunFinished("failed", "reason", "outage", "Slack"), RunChecked(verdicts)],
    )
    assert facts_of(journal) == HeadFacts(
        person=TOKENS.person("slack", "U0NEWCO0"),
        channel=TOKENS.channel("slack", "C0DEPLOY0"),
        llm_calls=1,
        skills=("find-owners",),
        input_tokens=10,
        output_tokens=2,
        cached_tokens=5,
        written_tokens=3,
        usd=0.5,
        checks=("no-tool-loops",),
        cause="outage",
        system="Slack",
    )


def test_calls_about_the_plan_and_equal_calls_count_with_refused_ones() -> None:
    journal = recorded(
        [ACCEPTED],
        [asked("read", "read", "post", "todo_write")],
        [e.ToolResult("1.1", "refused", "done before")],
        [asked("read", "todo_read")],
    )
    facts = facts_of(journal, "read", "post")
    assert (facts.plan_calls, facts.equal_calls) == (2, 3)


def test_questions_of_the_run_itself_are_no_subagents() -> None:
    calls = ("1.0", SUBAGENT_QUESTION.format("1.1"), f"{COMPACTION}/1", "search/1.2")
    journal = recorded([ACCEPTED], [e.SubagentStarted(call, "name", "prompt", {}, "m") for call in calls])
    assert facts_of(journal).subagents == 2


def test_run_without_a_person_has_no_token_of_one() -> None:
    event = Event("schedule", "schedule.time", ("1",), "schedule:w", Actor("schedule", "bot"), "", {})
    facts = facts_of(recorded([e.RunAccepted(event, "w")]))
    assert (facts.person, facts.channel) == ("", "")
