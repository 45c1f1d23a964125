"""The turns of a journal as plain values."""

import pytest

from gofer.evals.judging.turn_facts import CallFacts, first_message, turns_of
from gofer.journal.entries import Recorded, RunConcluded
from support.engine.memory_run import memory_run, says

pytestmark = pytest.mark.anyio


async def test_run_of_a_model_has_its_calls_by_turn_and_its_answer_last() -> None:
    made = memory_run(says("Let me look.", ("look", {"text": "a"}), ("look", {"text": "b"})), says("done"))
    made.tool("look", "read")
    await made.run()
    journal = await made.journal()
    first, last = turns_of(journal)
    assert first.calls == [
        CallFacts("look", {"text": "a"}, "ok", "look did a", "read", "1.0"),
        CallFacts("look", {"text": "b"}, "ok", "look did b", "read", "1.1"),
    ]
    assert (last.text, last.calls) == ("done", [])
    assert first_message(journal)


async def test_changes_of_the_plan_are_no_turn() -> None:
    plan = {"todos": [{"id": "1", "description": "Look", "status": "pending"}]}
    made = memory_run(says("I plan.", ("todo_write", plan)), says("done"))
    await made.run()
    assert [turn.text for turn in turns_of(await made.journal())] == ["done"]


async def test_calls_of_a_script_are_one_turn_before_its_answer() -> None:
    made = memory_run()
    made.script = """
from gofer.coordinator import Run

async def coordinate(run: Run):
    await run.call("look", text="a")
    return "done"
"""
    made.tool("look", "read")
    await made.run_script()
    ended = Recorded(99, 0, 0, "me", RunConcluded("done", "", "All is well."))
    first, last = turns_of([*await made.journal(), ended])
    assert [(call.tool, call.arguments) for call in first.calls] == [("look", {"text": "a"})]
    assert last.text == "All is well."
