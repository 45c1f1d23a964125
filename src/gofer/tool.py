"""Tool: the only names of Gofer that a file in `tools/` may import.

    from gofer.tool import Arguments, Call, ToolResult, tool

    class WhoIsOnCall(Arguments):
        rota: str

    @tool(effect="read")
    async def oncall_who(call: Call, arguments: WhoIsOnCall) -> ToolResult:
        \"\"\"Look up who is on call.\"\"\"
        ...

docs/write-a-tool.md shows a complete tool.
"""

from collections.abc import Mapping

from pydantic import Field

from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, Provenance, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.events import Actor, Event
from gofer.values.outside import Http, HttpRequest, HttpResponse, SystemClock
from gofer.values.secret import Secret


def sample_call(http: Http, variables: Mapping[str, str], *, key: str = "run1/1.0") -> Call:
    """Return a call for a test of a tool: `http` is the network of the test, `variables` are the tool's variables."""
    source = "webhook"
    return Call(
        key=key,
        origin=Event(source, source, identity=(), conversation="", actor=Actor(""), text="", place={}),
        provenance=Provenance(workflow="sample", prompt_url="", run="run1", run_url=None),
        http=http,
        clock=SystemClock(),
        variables={name: Secret(value) for name, value in variables.items()},
    )


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
