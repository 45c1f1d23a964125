"""Tools that answer with the recorded outcomes of a golden."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.goldens.golden_reader import read_golden
from gofer.evals.goldens.recorded_world import RecordedWorld, recorded_world
from gofer.replay.isolation import NoNetwork
from gofer.tools.definition import AnyTool, ToolResult
from gofer.values.errors import ToolError
from support.tools.calls import any_call

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parents[4] / FOLDER / "ticket-from-a-reaction.yaml"


def world() -> tuple[RecordedWorld, Mapping[str, AnyTool]]:
    made = recorded_world(read_golden(GOLDEN).turns)
    return made, made.equip(build_tools(read_settings({})))


async def act(tools: Mapping[str, AnyTool], name: str, **arguments: object) -> ToolResult:
    tool = tools[name]
    return await tool.act(any_call(NoNetwork()), tool.parse(arguments))


async def test_call_with_the_recorded_arguments_gets_the_recorded_outcome() -> None:
    made, tools = world()
    result = await act(tools, "jira_search", project="PAY", text="refund twice")
    assert result.summary
    assert made.unrecorded == []


async def test_write_in_other_words_gets_the_id_that_the_recorded_write_got() -> None:
    made, tools = world()
    result = await act(tools, "jira_create_issue", project="PAY", type="Bug", summary="Paid twice", description="x")
    assert "PAY-18" in result.text
    assert made.unrecorded == []


async def test_outcome_is_given_once_and_further_writes_are_simulated() -> None:
    made, tools = world()
    arguments = {"project": "PAY", "type": "Bug", "summary": "Paid twice", "description": "x"}
    first = await act(tools, "jira_create_issue", **arguments)
    second = await act(tools, "jira_create_issue", **arguments)
    assert first.text != second.text
    assert made.unrecorded == ["jira_create_issue"]


async def test_read_that_was_not_recorded_is_refused() -> None:
    made, tools = world()
    with pytest.raises(ToolError) as refused:
        await act(tools, "jira_search", project="PAY", text="another search")
    assert refused.value.code == "not_recorded"
    assert made.unrecorded == ["jira_search"]


async def test_turn_without_recorded_outcomes_has_none() -> None:
    made, tools = world()
    made.next_turn()
    with pytest.raises(ToolError):
        await act(tools, "jira_search", project="PAY", text="refund twice")


def test_tools_that_act_within_the_run_stay() -> None:
    made = recorded_world(read_golden(GOLDEN).turns)
    plain = build_tools(read_settings({}))
    equipped = made.equip(plain)
    assert equipped["todo_write"] is plain["todo_write"]
