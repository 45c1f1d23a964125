"""Skills known to a subagent: those named in its file that the run has too."""

import pytest

from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.workflows.skill import Skill
from support.engine.memory_run import says
from support.engine.subagent_runs import AgentsRoom, Asked, agents_room

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


def a_room(**keys: object) -> AgentsRoom:
    room = agents_room(think)
    for name in ("tides", "moons"):
        room.skills[name] = Skill(name, f"about {name}", f"All of {name}.", {})
    room.tool("look", "read")
    room.subagent("clerk", tools="inherit", **keys)
    return room


def of_the_clerk(room: AgentsRoom) -> Asked:
    return next(one for one in room.many.asked if one.system.startswith("You are clerk."))


async def test_subagent_knows_the_skills_allowed_by_the_subagent_file() -> None:
    room = a_room(skills={"allowed": ["tides"]})
    assert "All of tides." in (await room.go_on()).answer
    asked = of_the_clerk(room)
    assert "load_skills" in asked.tools
    assert "- `tides`: about tides" in asked.system
    assert "moons" not in asked.system


@pytest.mark.parametrize("skills", [{}, {"allowed": ["moons"]}, {"allowed": ["stars"]}])
async def test_subagent_knows_no_skill_missing_from_the_file_or_the_run(
    skills: dict[str, list[str]],
) -> None:
    room = a_room(skills=skills)
    assert "All of tides." not in (await room.go_on()).answer
    assert ("load_skills" in of_the_clerk(room).tools) == (skills == {"allowed": ["moons"]})


async def test_skill_withdrawn_during_the_run_is_an_error_for_the_subagent() -> None:
    room = a_room(skills={"allowed": ["tides"]})
    room.withdrawn = frozenset({"tides"})
    assert "is not used any more" in (await room.go_on()).answer
    (below,) = (await room.below()).values()
    assert [one.entry.status for one in below if isinstance(one.entry, e.ToolResult)] == ["error"]


async def test_subagent_inherits_the_limit_of_listed_tools_and_gets_tool_search() -> None:
    room = a_room()
    room.more["search_above"] = 1
    room.tool("peer", "read")
    await room.go_on()
    asked = of_the_clerk(room)
    assert {"tool_search", "call_tool"} <= asked.tools
    assert not {"look", "peer"} & asked.tools
    assert "tool_search" in asked.system
