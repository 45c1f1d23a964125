"""Crashes at any frame of a run or its subagents: the answer is the same, and no effect is repeated."""

from collections.abc import Sequence
from typing import Any

import pytest

from gofer.engine.model_order import Parked
from gofer.journal.entries import LlmResponse
from gofer.models.language_model import Answer
from gofer.projections import progress
from support.engine.memory_run import says
from support.engine.mortal_store import Crashed, MortalStore
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio


def ask(name: str, prompt: str, *files: str) -> tuple[str, dict[str, object] | str]:
    return ("subagent", {"agent_name": name, "prompt": prompt, "files": list(files)})


def think(asked: Asked) -> Answer:
    """Ask two subagents at once, of which one asks a third. Each makes writes."""
    match asked.system, asked.turn:
        case "You are a test.", 0:
            return says("", ask("poster", "post it"), ask("leader", "have it filed"))
        case "You are a test.", _:
            return says(f"All done: {asked.said[-2]}, {asked.said[-1]}.")
        case "You are poster.", 0:
            return says("", ("look", {"text": "a"}), ("post", {"text": "one"}))
        case "You are poster.", 1:
            return says("", ("post", {"text": "two"}))
        case "You are poster.", _:
            return says("posted")
        case "You are leader.", 0:
            return says("", ask("filer", "file it"))
        case "You are leader.", _:
            return says(f"had it {asked.said[-1]}")
        case "You are filer.", 0:
            return says("", ("file", {"text": "three"}))
        case _:
            return says("filed")


SCRIPT = """
async def coordinate(run):
    one, two = await run.gather(run.subagent("poster", "post it"), run.subagent("leader", "have it filed"))
    return f"All done: {one}, {two}."
"""


def made_mortal(at: int, *, after: bool, script: str = "") -> RunWithSubagents:
    made = run_with_subagents(think)
    made.script = script
    made.store = MortalStore(at, after=after)
    made.tool("look", "read")
    made.tool("post", "keyed")
    made.tool("file", "lookup")
    made.subagent("poster", tools=["look", "post"])
    made.subagent("leader", tools=["file"], subagents=["filer"])
    made.subagent("filer", tools="inherit")
    made.listed = ("poster", "leader")
    made.limits = made.limits.model_copy(update={"llm_calls": 40, "tool_calls": 60, "minutes": 60.0})
    return made


async def to_its_end(made: RunWithSubagents) -> str:
    assert isinstance(made.store, MortalStore)
    for owner in range(10):
        try:
            return (await made.resume(f"owner{owner}")).answer
        except Crashed:
            made.store.dead = False
        except Parked as parked:
            made.clock.advance(max(1.0, parked.entry.until / 1000 - made.clock.now()))
    raise AssertionError("it never ended")


@pytest.mark.parametrize("script", ["", SCRIPT], ids=["model", "script"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_run_with_subagents_has_the_same_result_with_a_crash_at_any_frame(
    script: str, after: bool, everywhere: bool
) -> None:
    for at in range(2, 200) if everywhere else range(2 + after, 200, 2):
        made = made_mortal(at, after=after, script=script)
        assert await to_its_end(made) == "All done: posted, had it filed.", at
        assert isinstance(made.store, MortalStore)
        # Every effect has one key, and the lookup call happened once.
        assert sorted(result.text for result in made.marked.values()) == [
            "file did three",
            "look did a",
            "post did one",
            "post did two",
        ]
        assert made.acted.count("file:three") == 1
        done, below = progress.project(await made.journal()), await made.subagent_journals()
        # No subagent has a second journal, also when a later owner asks it again.
        assert (len(below), len(made.store._frames), done.asking) == (3, 4, {})
        answers = sum(isinstance(it.entry, LlmResponse) for journal in _all(below) for it in journal)
        own = sum(isinstance(it.entry, LlmResponse) for it in await made.journal())
        assert done.llm_calls == own + answers
        if not made.store.reached:
            assert at > 20
            return


def _all(below: dict[str, Sequence[Any]]) -> Sequence[Sequence[Any]]:
    return list(below.values())
