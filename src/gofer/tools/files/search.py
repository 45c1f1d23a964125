"""The tool that finds the lines of a file that match a pattern."""

import asyncio

from pydantic import Field

from gofer.files.search import SYNTAX, Search, search
from gofer.journal.workspace_entries import FileRead
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.files.text import held, in_utf8

MATCHES = 200
"""Matching lines of one answer at most."""
AROUND = 10
"""Lines around each at most."""


class SearchFile(Arguments):
    """A file, a pattern, and how much is shown."""

    file: str
    pattern: str = Field(min_length=1, description=SYNTAX)
    max_matches: int = Field(default=30, ge=1, le=MATCHES)
    context: int = Field(default=1, ge=0, le=AROUND, description="Lines around each.")
    ignore_case: bool = False


@tool(effect="read", base="all")
async def file_regex(call: Call, arguments: SearchFile) -> ToolResult:
    """Find the lines of a file that match. Use it before file_read on anything long."""
    content, said = await in_utf8(call, arguments.file)
    around = arguments.context
    wanted = Search(arguments.pattern, arguments.max_matches, around, around, arguments.ignore_case)
    # On a thread: a slow pattern takes seconds, and others are waiting.
    found = await asyncio.to_thread(search, content, wanted, call.clock)
    name = held(call, arguments.file).added.name
    looked = FileRead(arguments.file, "matches", 0, found.matches)
    summary = f"{found.matches} matching lines"
    return ToolResult(f"{arguments.file} {name!r}:\n{found.text()}{said}", summary, facts=(looked,))
