"""The states of a run: no run of the engine breaks a rule, and each changed journal does."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal.approval_entries import Decision
from gofer.journal.codec import from_json
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.projections.states import States, project
from support.engine.memory_run import memory_run, says
from support.journal.generated_journals import journals
from support.simulation.schedule import Schedule
from support.stand_ins import mention

pytestmark = pytest.mark.anyio
FROZEN = Path(__file__).parents[2] / "frozen" / "data" / "journals"


def frozen_journals() -> dict[tuple[str, str], list[Recorded]]:
    """Return the journals of the frozen corpus by story and run."""
    found: dict[tuple[str, str], list[Recorded]] = {}
    for path in sorted(FROZEN.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            n, i = map(int, row["address"].split("."))
            entry = Recorded(n, i, row["at"], row["owner"], from_json(row["entry"]))
            found.setdefault((path.stem, row["run"]), []).append(entry)
    return found


def violations(journal: Sequence[Recorded]) -> list[str]:
    return [one.violation for one in project(journal).violations]


def states_of(journal: Sequence[Recorded]) -> list[str]:
    return [one.after for one in project(journal).transitions]


async def played() -> list[Recorded]:
    """Return the journal of a run with two calls at once, as its engine wrote it, with its claim and its end."""
    made = memory_run(says("", ("look", {"text": "a"}), ("look", {"text": "b"})), says("done"))
    made.tool("look", "read")
    await made.run()
    journal = list(await made.journal())
    last = journal[-1]
    concluded = replace(last, n=last.n + 1, i=0, entry=e.RunConcluded("done", "", "done"))
    finished = replace(last, n=last.n + 1, i=1, entry=e.RunFinished("done"))
    return [*journal, concluded, finished]


def index_of(journal: Sequence[Recorded], kind: type[e.Entry], nth: int = 0) -> int:
    return [at for at, recorded in enumerate(journal) if isinstance(recorded.entry, kind)][nth]


async def test_run_with_two_calls_at_once_thinks_acts_and_observes() -> None:
    journal = await played()
    assert violations(journal) == []
    expected = ["accepted", "admission", "observing", "thinking", "acting", "observing", "thinking", "observing"]
    assert states_of(journal) == [*expected, "delivering", "done"]
    assert not project(journal).is_script


@given(journal=journals())
def test_generated_journals_have_no_violation(journal: list[Recorded]) -> None:
    assert violations(journal) == []


@pytest.mark.parametrize("name", frozen_journals(), ids="-".join)
def test_journals_of_the_frozen_corpus_have_no_violation(name: tuple[str, str]) -> None:
    assert violations(frozen_journals()[name]) == []


def test_simulated_schedules_write_no_violation(everywhere: bool) -> None:
    for seed in range(40 if everywhere else 15):
        schedule = Schedule(seed)
        schedule.run()
        for run in sorted({run for found in schedule.accepted.values() for run in found}):
            journal = asyncio.run(_journal(schedule, run))
            assert violations(journal) == [], f"seed {seed}, run {run}"


async def _journal(schedule: Schedule, run: str) -> Sequence[Recorded]:
    return await read_journal(run, schedule.copy, schedule.blobs)


def test_frozen_corpus_reaches_every_kind_of_state_that_runs_reach() -> None:
    reached = {one.after for journal in frozen_journals().values() for one in project(journal).transitions}
    assert {"compacting", "running", "waiting_approval", "waiting_subagent", "handed_over"} <= reached


@pytest.mark.parametrize("reason", get_args(e.ParkReason))
def test_parked_run_waits_for_the_reason_of_its_entry(reason: e.ParkReason) -> None:
    entries = [e.RunAccepted(mention(), "w"), e.RunOwned(), e.RunParked(reason, 9_000)]
    assert states_of([Recorded(n, 0, n, "me", entry) for n, entry in enumerate(entries, 1)])[-1] == f"waiting_{reason}"


DROPPED = [
    (e.RunAccepted, "the run was not accepted"),
    (e.RunOwned, "no owner has taken the run over"),
    (e.RunStarted, "admission has not started the run"),
    (e.LlmRequest, "no request is open, so no model can have decided this"),
    (e.LlmResponse, "no model asked for call 1.0"),
    (e.ToolCall, "call 1.0 is not open"),
    (e.ToolResult, "call 1.0 has no outcome"),
    (e.RunConcluded, "the run has no conclusion"),
]


@pytest.mark.parametrize(("kind", "why"), DROPPED, ids=[kind.__name__ for kind, _ in DROPPED])
async def test_dropped_entry_is_a_violation_of_a_later_one(kind: type[e.Entry], why: str) -> None:
    journal = await played()
    del journal[index_of(journal, kind)]
    assert any(violation.endswith(f": {why}.") for violation in violations(journal))


DOUBLED = [
    (e.RunAccepted, "the run was accepted before"),
    (e.RunStarted, "the run was started before"),
    (e.LlmRequest, "a model has a request already"),
    (e.LlmResponse, "no request is open, so no model can have decided this"),
    (e.ToolCall, "call 1.0 is open already"),
    (e.ToolResult, "call 1.0 has an outcome"),
    (e.RunConcluded, "the run was concluded before"),
    (e.RunFinished, "only checks, grades, feedback and the review follow the end of a run"),
]


@pytest.mark.parametrize(("kind", "why"), DOUBLED, ids=[kind.__name__ for kind, _ in DOUBLED])
async def test_doubled_entry_is_a_violation(kind: type[e.Entry], why: str) -> None:
    journal = await played()
    at = index_of(journal, kind)
    journal.insert(at, journal[at])
    assert any(violation.endswith(f": {why}.") for violation in violations(journal))


MARKED_WHEN_DOUBLED = (
    e.ApprovalDecided,
    e.ApprovalRequested,
    e.ContextCompacted,
    e.LlmRequest,
    e.LlmResponse,
    e.RunAccepted,
    e.RunConcluded,
    e.RunFinished,
    e.RunParked,
    e.RunStarted,
    e.SubagentFinished,
    e.SubagentStarted,
    e.ToolCall,
    e.ToolResult,
    e.ToolUnknown,
    e.ValueRecorded,
)
MARKED_WHEN_DROPPED = (e.ApprovalDecided, e.LlmResponse, e.RunAccepted, e.RunStarted)


def test_doubled_entry_is_a_violation_at_every_place_of_the_frozen_corpus() -> None:
    for name, journal in frozen_journals().items():
        for at, recorded in enumerate(journal):
            if isinstance(recorded.entry, MARKED_WHEN_DOUBLED):
                assert violations([*journal[:at], recorded, *journal[at:]]), f"{name}, {recorded.address}"


def _is_needed(entry: e.Entry) -> bool:
    """Return whether a later entry needs this one. A call whose question could not be asked is refused in any case."""
    return not isinstance(entry, e.ApprovalDecided) or entry.decision == "approved"


def test_dropped_entry_is_a_violation_at_every_place_of_the_frozen_corpus() -> None:
    for name, journal in frozen_journals().items():
        for at, recorded in enumerate(journal):
            if isinstance(recorded.entry, MARKED_WHEN_DROPPED) and _is_needed(recorded.entry):
                assert violations([*journal[:at], *journal[at + 1 :]]), f"{name}, {recorded.address}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (e.LlmRequest, e.LlmResponse),
        (e.LlmResponse, e.ToolCall),
        (e.RunHandedOver, e.RunOwned),
        (e.RunAccepted, e.RunOwned),
    ],
)
def test_swapped_entries_are_a_violation_at_every_place_of_the_frozen_corpus(
    first: type[e.Entry], second: type[e.Entry]
) -> None:
    for name, journal in frozen_journals().items():
        for at in range(len(journal) - 1):
            one = journal[at]
            other = journal[at + 1]
            if isinstance(one.entry, first) and isinstance(other.entry, second):
                assert violations([*journal[:at], other, one, *journal[at + 2 :]]), f"{name}, {one.address}"


@pytest.mark.parametrize("decision", ["denied", "expired", None])
async def test_call_without_the_approval_that_was_requested_is_a_violation(decision: Decision | None) -> None:
    journal = await played()
    at = index_of(journal, e.ToolCall)
    asked: list[e.Entry] = [e.ApprovalRequested("1.0", "look", "ab", ("@leads",), 90_000)]
    if decision is not None:
        asked.append(e.ApprovalDecided("1.0", decision))
    between = [replace(journal[at], entry=entry) for entry in asked]
    assert violations([*journal[:at], *between, *journal[at:]])[0].endswith(": no person approved call 1.0.")


@pytest.mark.parametrize(
    "outcome",
    [
        e.ToolResult("1.0", "ok", "A new sentence.", details={"not_made": "done_before"}),
        e.ToolResult("1.0", "ok", "Not done again: an older journal has only this text."),
        e.ToolUnknown("1.0", "Not done again: an earlier run tried this."),
        e.ToolResult("1.0", "refused", "No."),
    ],
)
async def test_call_that_was_done_before_needs_no_intent(outcome: e.Entry) -> None:
    journal = await played()
    asked = index_of(journal, e.LlmResponse)
    at = journal[asked]
    without_intent = [*journal[: asked + 1], replace(at, n=at.n, i=at.i + 1, entry=outcome)]
    assert violations(without_intent) == []


async def test_result_without_an_intent_and_without_a_mark_is_a_violation() -> None:
    journal = await played()
    asked = index_of(journal, e.LlmResponse)
    at = journal[asked]
    result = replace(at, n=at.n, i=at.i + 1, entry=e.ToolResult("1.0", "ok", "Done."))
    assert len(violations([*journal[: asked + 1], result])) == 1


async def test_tool_result_before_its_call_is_a_violation() -> None:
    journal = await played()
    intent, result = index_of(journal, e.ToolCall), index_of(journal, e.ToolResult)
    journal[intent], journal[result] = journal[result], journal[intent]
    assert violations(journal)[0].endswith(": call 1.0 is not open.")


async def test_violation_names_both_states_and_the_entry() -> None:
    journal = await played()
    at = index_of(journal, e.LlmRequest)
    journal.insert(at, journal[at])
    address = journal[at].address
    expected = f"Entry {address} (llm.request) is not allowed from 'thinking' to 'thinking': a model has a request"
    assert violations(journal) == [f"{expected} already."]


async def test_entry_of_a_replaced_owner_is_a_violation() -> None:
    journal = await played()
    at = index_of(journal, e.LlmRequest, 1)
    taken_over = replace(journal[at], owner="next", entry=e.RunOwned())
    later = [replace(recorded, owner="next") for recorded in journal[at:]]
    assert violations([*journal[:at], taken_over, *later]) == []
    assert "its owner was replaced" in violations([*journal[:at], taken_over, journal[at], *later])[0]


@pytest.mark.parametrize("left", [e.RunParked("approval", 9), e.RunHandedOver()])
async def test_entry_after_its_owner_left_is_a_violation(left: e.Entry) -> None:
    journal = await played()
    at = index_of(journal, e.LlmRequest, 1)
    journal.insert(at, replace(journal[at], entry=left))
    assert "its owner had left the run" in violations(journal)[0]


AFTER_THE_CONCLUSION: Sequence[e.Entry] = [
    e.LlmRequest("1.0", "ab", {"model": "m"}, "]}"),
    e.ToolCall("3.0", "look", "read"),
    e.SubagentStarted("3.0", "a", "prompt", {}),
    e.ContextCompacted("what was", "history_1", 1, 1, (1, 1), "code"),
    e.ValueRecorded("0:now:1", 1.0),
]


@pytest.mark.parametrize("entry", AFTER_THE_CONCLUSION, ids=[type(one).__name__ for one in AFTER_THE_CONCLUSION])
async def test_work_after_the_conclusion_is_a_violation(entry: e.Entry) -> None:
    journal = await played()
    journal.insert(-1, replace(journal[-1], entry=entry))
    assert len(violations(journal)) == 1
    assert "concluding" in violations(journal)[0]


async def test_call_of_the_run_itself_after_the_conclusion_is_allowed() -> None:
    journal = await played()
    intent = replace(journal[-1], entry=e.ToolCall("answer/1", "slack_post", "lookup"))
    result = replace(journal[-1], entry=e.ToolResult("answer/1", "ok", "posted"))
    assert violations([*journal[:-1], intent, result, journal[-1]]) == []


async def test_only_checks_may_follow_the_end_of_a_run() -> None:
    journal = await played()
    checked = replace(journal[-1], entry=e.RunChecked(()))
    assert violations([*journal, checked]) == []
    assert "the run was checked before" in violations([*journal, checked, checked])[0]
    assert "the run has not finished" in violations([*journal[:-1], checked])[0]


async def test_feedback_and_one_review_may_follow_the_end_of_a_run() -> None:
    journal = await played()
    feedback = replace(journal[-1], owner="later", entry=e.FeedbackGiven("good", "U1"))
    review = replace(journal[-1], owner="later", entry=e.RunReviewed(True))
    assert violations([*journal, feedback, review, feedback]) == []
    assert "the run was reviewed before" in violations([*journal, review, review])[0]
    assert "the run has not finished" in violations([*journal[:-1], feedback])[0]


async def test_grades_of_another_owner_may_follow_the_end_of_a_run_once() -> None:
    journal = await played()
    grades = e.RunGraded("answers/basic", 1, "passed", "live", "b", ())
    graded = replace(journal[-1], owner="evals", entry=grades)
    assert violations([*journal, graded]) == []
    assert "the run was graded before" in violations([*journal, graded, graded])[0]
    assert "the run has not finished" in violations([*journal[:-1], graded])[0]


def test_turn_of_a_model_in_a_script_is_a_violation() -> None:
    script = frozen_script()
    at = index_of(script, e.RunConcluded)
    request = replace(script[at], entry=e.LlmRequest("1.0", "ab", {"model": "m"}, "]}"))
    assert "a script coordinates the run, and it has no turns" in violations([*script[:at], request, *script[at:]])[0]


def test_script_runs_between_its_calls_and_acts_with_several_branches_at_once() -> None:
    script = frozen_script()
    assert project(script).is_script
    assert {"running", "acting"} <= set(states_of(script))
    assert not {"thinking", "compacting"} & set(states_of(script))


def frozen_script() -> list[Recorded]:
    """Return the longest journal of a script in the frozen corpus."""
    scripts = [journal for journal in frozen_journals().values() if project(journal).is_script]
    return max(scripts, key=len)


def test_run_without_entries_has_no_state() -> None:
    assert project(()) == States()


@given(journal=journals(), at=st.integers(2, 200))
def test_entry_of_a_stranger_is_a_violation_at_any_place(journal: list[Recorded], at: int) -> None:
    at = min(at, len(journal) - 2)
    journal[at] = replace(journal[at], owner="stranger", entry=e.PermitRenewed())
    assert violations(journal)
