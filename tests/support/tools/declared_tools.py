"""Tools as their sources declare them, called by a test that has a client at hand."""

from typing import Any

from gofer.tools.declare import ToolDeclaration
from gofer.tools.definition import Arguments, Call, ToolResult


async def look_for(
    declared: ToolDeclaration[Any, Any], client: object, call: Call, arguments: Arguments
) -> ToolResult | None:
    """Look for what an earlier attempt of a call did."""
    look = declared.bind(client).look
    assert look is not None, f"{declared.name} declares no look"
    return await look(call, arguments)
