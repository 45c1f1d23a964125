"""Tool: what a file of `tools/` may import of Gofer, and all it may import of it.

    from gofer.tool import Arguments, Call, ToolResult, tool

    class WhoIsOnCall(Arguments):
        rota: str

    @tool(effect="read")
    async def oncall_who(call: Call, arguments: WhoIsOnCall) -> ToolResult:
        \"\"\"Look up who is on call.\"\"\"
        ...

docs/write-a-tool.md shows the whole of it.
"""

from pydantic import Field

from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.tools.sample_call import sample_call
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse

__all__ = [
    "Arguments",
    "Call",
    "Field",
    "HttpRequest",
    "HttpResponse",
    "NewFile",
    "Origin",
    "Place",
    "TemporaryError",
    "ToolError",
    "ToolResult",
    "Writes",
    "sample_call",
    "tool",
]
