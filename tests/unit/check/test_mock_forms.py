"""The form of mocks: compared with the results of the tool's own mock for examples."""

from collections.abc import Mapping

import pytest
from pydantic import Field

from gofer.app.catalog import known_tools
from gofer.check.mock_forms import differences, form_of
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.tools.mocks import Override


class Who(Arguments):
    team: str
    role: str = ""
    hours: int = Field(default=8, ge=1)


def answered(call: Call, arguments: Who) -> ToolResult:
    details: dict[str, object] = {"name": "Ada", "shifts": [{"until": 18}], "labels": {"a": 1}, "note": None}
    if arguments.role:
        details["role"] = arguments.role
    return ToolResult("Ada", "looked up", details, value={"name": "Ada", "hours": arguments.hours})


async def never(call: Call, arguments: Who) -> ToolResult:
    raise AssertionError


LOOK_UP = Tool("oncall_who", "Look up.", "read", Who, never, mock=answered)


def found(entry: Mapping[str, object]) -> list[tuple[object, str]]:
    form = form_of(LOOK_UP)
    assert form is not None
    return [(one.loc, one.message) for one in differences(Override.model_validate(entry), form)]


@pytest.mark.parametrize(
    "entry",
    [
        {"text": "anything"},
        {"details": {"name": "Grace"}},
        {"details": {"role": "second", "note": "a text", "name": None}},
        {"details": {"shifts": []}},
        {"details": {"labels": {"other": 2}}},
        {"value": {"name": "Grace", "hours": 1.5}},
        {"refusal": "Not today."},
    ],
)
def test_entry_with_the_form_of_the_mock_is_accepted(entry: Mapping[str, object]) -> None:
    assert found(entry) == []


def test_key_that_the_tool_no_longer_returns_is_a_mistake() -> None:
    ((loc, message),) = found({"details": {"person": "Ada"}})
    assert loc == ("details", "person")
    assert message == "is no key that the tool returns; it returns `name`, `shifts`, `labels`, `note`, `role`"


def test_other_json_type_is_a_mistake() -> None:
    assert found({"details": {"name": ["Ada"]}}) == [(("details", "name"), "is a list, and the tool returns a text")]


def test_items_of_lists_are_compared() -> None:
    ((loc, _),) = found({"details": {"shifts": [{"until": 9}, {"ends": 9}]}})
    assert loc == ("details", "shifts", 1, "ends")


def test_value_lacks_no_key_of_the_tool() -> None:
    assert found({"value": {"name": "Ada"}}) == [(("value",), "lacks `hours`, which the tool returns")]


def test_tool_without_a_mock_has_no_form() -> None:
    assert form_of(Tool("a", "A.", "read", Who, never)) is None


def test_mock_that_fails_for_every_example_has_no_form() -> None:
    def failing(call: Call, arguments: Who) -> ToolResult:
        raise LookupError(arguments.team)

    assert form_of(Tool("a", "A.", "read", Who, never, mock=failing)) is None


def test_form_of_most_shipped_tools_is_known() -> None:
    tools = [tool for tool in known_tools().values() if not tool.base and tool.mock is not None]
    unknown = {tool.name for tool in tools if form_of(tool) is None}
    assert unknown == {"slack_read_thread", "slack_post_ephemeral", "jira_link_url"}
