"""The tool with which a model calls a subagent."""

from pydantic import Field

from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.errors import ToolError

NAME = "subagent"


class AskSubagent(Arguments):
    """The subagent, its prompt, and the files that it may read."""

    agent_name: str = Field(description="The name of the subagent, as listed under Subagents.")
    prompt: str = Field(
        min_length=1,
        max_length=100_000,
        description="Everything that the subagent needs to know: it does not see this conversation. Say what to do and "
        "in which form to answer.",
    )
    files: tuple[str, ...] = Field(default=(), max_length=50, description="Ids of files that it may read.")


@tool(effect="read", base="subagents")
async def subagent(call: Call, arguments: AskSubagent) -> ToolResult:
    """Give a part of the work to a subagent and get its answer. Several calls in one turn run in parallel."""
    # The engine handles calls of subagents itself, so this code runs only where there is no subagent.
    raise ToolError("This run cannot call subagents; continue without one.", code="no_such_subagent")


TOOLS = (subagent,)
"""The tool of runs of a model that may call subagents."""
