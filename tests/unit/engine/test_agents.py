"""What a subagent can do in its own run, what comes back of it, and what its run counts for it."""

import pytest

from agents_room import Asked, agents_room
from engine_room import says
from gofer.journal.entries import RunAccepted, RunFinished
from gofer.models.model import Answer
from gofer.projections import progress

pytestmark = pytest.mark.anyio


def hand_over(name: str, prompt: str, *files: str) -> tuple[str, dict[str, object] | str]:
    return ("subagent", {"agent_name": name, "prompt": prompt, "files": list(files)})


async def test_a_subagent_uses_a_tool_of_its_run_and_its_answer_comes_back() -> None:
    def think(asked: Asked) -> Answer:
        match asked.system, asked.turn:
            case "You are looker.", 0:
                assert asked.prompt == "what stands there?"
                return says("", ("look", {"text": "there"}))
            case "You are looker.", 1:
                assert asked.said[-1] == "look did there"
                return says("a tree stands there")
            case _, 0:
                return says("", hand_over("looker", "what stands there?"))
            case _:
                assert asked.said[-1] == "a tree stands there"
                return says("It is a tree.")

    made = agents_room(think)
    made.tool("look", "read")
    made.subagent("looker", tools=["look"])
    assert (await made.go_on()).answer == "It is a tree."
    assert made.acted == ["look:there"]
    (journal,) = (await made.below()).values()
    assert isinstance(journal[0].entry, RunAccepted)
    assert journal[0].entry.above == "run1"
    assert isinstance(journal[-1].entry, RunFinished)
    # Everything it used counts for its run: its two calls to the model, and its one call of a tool beside its own.
    done = progress.project(await made.journal())
    assert (done.llm_calls, done.tool_calls, done.asking) == (4, 2, {})
    assert done.usage.input_tokens == 40
