"""Tools of a company that reach other hosts or keep notes: stand-ins for a fetch, a server of tools, and a memory."""

from urllib.parse import quote

from gofer.tool import Arguments, Call, HttpRequest, ToolResult, tool


class Address(Arguments):
    """A page."""

    url: str


class Lookup(Arguments):
    """A lookup."""

    host: str
    query: str


@tool(effect="read")
async def web_fetch(call: Call, arguments: Address) -> ToolResult:
    """Read a page of the web."""
    answer = await call.http.send(HttpRequest("GET", arguments.url))
    return ToolResult(answer.body.decode(errors="replace"), "read a page")


@tool(effect="read")
async def partner_lookup(call: Call, arguments: Lookup) -> ToolResult:
    """Look something up at the server of a partner."""
    answer = await call.http.send(HttpRequest("GET", f"https://{arguments.host}/find?q={quote(arguments.query)}"))
    return ToolResult(answer.body.decode(errors="replace"), "looked up 1 thing")
