"""Calls of tools' lookups with a client of the test, and tools that settle sooner."""

from dataclasses import replace
from typing import Any

from gofer.tools.declare import ToolDeclaration
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult


async def look_for(
    declared: ToolDeclaration[Any, Any], client: object, call: Call, arguments: Arguments
) -> ToolResult | None:
    """Look for the effect of an earlier attempt of a call."""
    look = declared.bind(client).in_doubt.look
    assert look is not None, f"{declared.name} declares no look"
    return await look(call, arguments)


def hurried(tool: AnyTool) -> AnyTool:
    """Return a tool that settles within a tenth of a second, where it takes time to settle."""
    settle = 0.1 * bool(tool.in_doubt.settle)
    return replace(tool, in_doubt=replace(tool.in_doubt, settle=settle))
