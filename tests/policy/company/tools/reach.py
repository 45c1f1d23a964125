"""Tools of a company that reach other hosts or keep notes: stand-ins for a fetch, a server of tools, and a memory."""

from urllib.parse import quote

from gofer.tool import Arguments, Call, HttpRequest, Origin, Place, ToolResult, tool

NOTES = "https://notes.example/notes"


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


class Note(Arguments):
    """A text to remember."""

    text: str


class NoteName(Arguments):
    """The notes."""

    subject: str = ""


def notes(origin: Origin, arguments: Note) -> Place:
    """Return the memory as a place."""
    return Place("memory", "other", "notes")


def notes_name(arguments: Note) -> str:
    """Return the name of the memory."""
    return "notes"


@tool(effect="keyed", place=notes, destination=notes_name)
async def memory_write(call: Call, arguments: Note) -> ToolResult:
    """Remember a text."""
    await call.http.send(HttpRequest("PUT", NOTES, {}, arguments.text.encode()))
    return ToolResult("Remembered.", "remembered a text")


@memory_write.mock
def _mock_write(arguments: Note) -> ToolResult:
    return ToolResult("Remembered.", "remembered a text")


@tool(effect="read")
async def memory_read(call: Call, arguments: NoteName) -> ToolResult:
    """Read what Gofer remembers."""
    answer = await call.http.send(HttpRequest("GET", NOTES))
    return ToolResult(answer.body.decode(errors="replace"), "read 1 note")
