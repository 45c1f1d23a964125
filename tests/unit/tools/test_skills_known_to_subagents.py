"""Skills known to a subagent: those named in its file that the run has too."""

import pytest

from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.workflows.skill import Skill
from support.engine.memory_run import says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio


def think(asked: Asked) -> Answer:
    match asked.system.partition("\n")[0], asked.turn:
        case "You are clerk.", 0:
            return says("", ("load_skills", {"names": ["tides"]}))
        case "You are clerk.", _:
            return says(f"clerk: {asked.said[-1]}")
        case _, 0:
            return says("", ("subagent", {"agent_name": "clerk", "prompt": "when?"}))
        case _:
            return says(asked.said[-1])


def a_room(**keys: object) -> RunWithSubagents:
    memory_run = run_with_subagents(think)
    for name in ("tides", "moons"):
        memory_run.skills[name] = Skill(name, f"about {name}", f"All of {name}.", {})
    memory_run.tool("look", "read")
    memory_run.subagent("clerk", tools="inherit", **keys)
    return memory_run


def of_the_clerk(memory_run: RunWithSubagents) -> Asked:
    return next(one for one in memory_run.many.asked if one.system.startswith("You are clerk."))


async def test_subagent_knows_the_skills_allowed_by_the_subagent_file() -> None:
    memory_run = a_room(skills={"allowed": ["tides"]})
    assert "All of tides." in (await memory_run.resume()).answer
    asked = of_the_clerk(memory_run)
    assert "load_skills" in asked.tools
    assert "- `tides`: about tides" in asked.system
    assert "moons" not in asked.system


@pytest.mark.parametrize("skills", [{}, {"allowed": ["moons"]}, {"allowed": ["stars"]}])
async def test_subagent_knows_no_skill_missing_from_the_file_or_the_run(
    skills: dict[str, list[str]],
) -> None:
    memory_run = a_room(skills=skills)
    assert "All of tides." not in (await memory_run.resume()).answer
    assert ("load_skills" in of_the_clerk(memory_run).tools) == (skills == {"allowed": ["moons"]})


async def test_skill_withdrawn_during_the_run_is_an_error_for_the_subagent() -> None:
    memory_run = a_room(skills={"allowed": ["tides"]})
    memory_run.withdrawn = frozenset({"tides"})
    assert "has been withdrawn" in (await memory_run.resume()).answer
    (below,) = (await memory_run.subagent_journals()).values()
    assert [one.entry.status for one in below if isinstance(one.entry, e.ToolResult)] == ["error"]


async def test_subagent_inherits_the_limit_of_listed_tools_and_gets_tool_search() -> None:
    memory_run = a_room()
    memory_run.more["search_above"] = 1
    memory_run.tool("peer", "read")
    await memory_run.resume()
    asked = of_the_clerk(memory_run)
    assert {"tool_search", "call_tool"} <= asked.tools
    assert not {"look", "peer"} & asked.tools
    assert "tool_search" in asked.system
