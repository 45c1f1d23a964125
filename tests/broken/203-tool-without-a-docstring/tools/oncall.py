"""On call."""

from gofer.tool import Arguments, Call, ToolResult, tool


class Team(Arguments):
    """Which team."""

    team: str


@tool(effect="read")
async def oncall_who(call: Call, arguments: Team) -> ToolResult:
    return ToolResult("Ada", "looked")
