"""On call."""

from gofer.tool import Arguments, Call, Origin, Place, ToolResult, tool


class Page(Arguments):
    """Which team."""

    team: str


def team_place(origin: Origin, arguments: Page) -> Place:
    """Return the team that a page reaches."""
    return Place("oncall", "other", arguments.team)


@tool(effect="keyed", place=team_place)
async def oncall_page(call: Call, arguments: Page) -> ToolResult:
    """Page the person on call for a team."""
    return ToolResult("Paged Ada.", "paged")
