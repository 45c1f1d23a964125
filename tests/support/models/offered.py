"""Tools of a company as a model is offered them, for tests of calls that are written as text."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from gofer.tools.definition import AnyTool, Arguments, Call, Tool, ToolResult


class Search(Arguments):
    """The query of a search and the number of its results."""

    query: str = Field(min_length=1)
    limit: int = Field(default=10, ge=1, le=100)


class Create(Arguments):
    """The fields of an issue."""

    project: str = Field(pattern="^[A-Z]{2,10}$")
    summary: str
    kind: Literal["Bug", "Task"] = "Task"
    labels: list[str] = Field(default=[])


class Post(Arguments):
    """A message and its channel."""

    channel: str
    text: str


class Nothing(Arguments):
    """No arguments."""


async def _nowhere(call: Call, arguments: Arguments) -> ToolResult:
    raise NotImplementedError


def _tool(name: str, arguments: type[Arguments]) -> AnyTool:
    return Tool(name, f"does {name}", "read", arguments, _nowhere)


OFFERED: Mapping[str, AnyTool] = {
    "search": _tool("search", Search),
    "jira_create_issue": _tool("jira_create_issue", Create),
    "slack_post": _tool("slack_post", Post),
    "todo_read": _tool("todo_read", Nothing),
}
