"""Skills and tool search of subagents, limited by their own file and by the run."""

import pytest

from gofer.journal.entries import ToolResult
from gofer.models.language_model import Answer
from gofer.workflows.skill import Skill
from support.engine.memory_run import says
from support.engine.subagent_runs import Asked, RunWithSubagents, run_with_subagents

pytestmark = pytest.mark.anyio
TABLES = Skill("tables", "How tables look.", "Three columns at most.")
ROUTING = Skill("routing", "Where things go.", "Payments go to PAY.")
LOAD = ("load_skills", {"names": ["tables"]})


def with_skills(*below: Answer, tools: int = 0, **more: object) -> RunWithSubagents:
    """Return a run with two skills whose model asks the subagent `helper`, which gives the answers `below`."""

    def think(asked: Asked) -> Answer:
        if asked.system.startswith("You are a test."):
            return (
                says(asked.said[-1]) if asked.turn else says("", ("subagent", {"agent_name": "helper", "prompt": "?"}))
            )
        return below[min(asked.turn, len(below) - 1)]

    made = run_with_subagents(think)
    made.skills, made.more = {"routing": ROUTING, "tables": TABLES}, more
    for number in range(tools):
        made.tool(f"look_{number}", "read")
    return made


def asked(made: RunWithSubagents) -> list[Asked]:
    return [one for one in made.many.asked if one.system.startswith("You are helper.")]


async def results(made: RunWithSubagents) -> list[str]:
    (journal,) = (await made.subagent_journals()).values()
    return [recorded.entry.text for recorded in journal if isinstance(recorded.entry, ToolResult)]


async def test_subagent_loads_a_skill_allowed_by_the_subagent_file() -> None:
    made = with_skills(says("", LOAD), says("done"), skills={"allowed": []})
    made.subagent("helper", tools=[], skills={"allowed": ["tables"]})
    assert (await made.resume()).answer == "done"
    first, second = asked(made)
    assert {"load_skills", "load_subskill"} <= first.tools
    assert "- `tables`: How tables look." in first.system
    assert "routing" not in first.system
    assert second.said[-1].startswith("# Skill: tables\n\nThree columns at most.")


async def test_subagent_without_skills_in_the_file_inherits_none_from_the_run() -> None:
    made = with_skills(says("", LOAD), says("done"))
    made.subagent("helper", tools=[])
    assert (await made.resume()).answer == "done"
    assert "load_skills" not in asked(made)[0].tools
    assert "Three columns" not in "".join(await results(made))


async def test_subagent_cannot_load_a_skill_that_the_workflow_prohibits() -> None:
    made = with_skills(says("", LOAD), says("done"), skills={"prohibited": ["tables"]})
    made.subagent("helper", tools=[], skills={"required": ["routing"], "allowed": ["tables"]})
    assert (await made.resume()).answer == "done"
    assert "tables" not in asked(made)[0].system
    assert await results(made) == ["There is no skill 'tables' here. The skills of this workflow: routing."]


async def test_subagent_is_refused_a_skill_withdrawn_during_the_run() -> None:
    made = with_skills(says("", LOAD), says("done"))
    made.subagent("helper", tools=[], skills={"allowed": ["tables"]})
    made.withdrawn = frozenset({"tables"})
    await made.resume()
    assert await results(made) == ["The skill 'tables' has been withdrawn; continue without it."]


async def test_subagent_with_more_tools_than_listed_gets_tool_search() -> None:
    made = with_skills(says("done"), tools=3, search_above=2)
    made.subagent("helper", tools="inherit")
    await made.resume()
    (first,) = asked(made)
    assert {"tool_search", "call_tool"} <= first.tools
    assert not first.tools & {"look_0", "look_1", "look_2"}
    assert "You have 3 tools beside those listed, of: look (3)." in first.system
