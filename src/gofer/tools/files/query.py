"""The tools that search a file: `jq` and `grep_json` for JSON, `file_regex` for lines of text."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from pydantic import Field

from gofer.files import json_query
from gofer.files.child import Children
from gofer.files.decoder import decode
from gofer.files.search import SYNTAX, Search, search
from gofer.journal.workspace_entries import FileRead
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.files.text import held, in_utf8
from gofer.values.errors import ToolError

TIMEOUT = 90.0
"""The timeout of these tools in seconds. It includes starting a child process and waiting for another one."""


class QueryJson(Arguments):
    """A file and a jq program."""

    file: str
    program: str = Field(min_length=1)


class GrepJson(Arguments):
    """A file and a pattern."""

    file: str
    pattern: str = Field(min_length=1, description="As for file_regex; (?i) ignores case.")


@tool(effect="read", timeout=TIMEOUT, base="all")
async def jq(children: Children, call: Call, arguments: QueryJson) -> ToolResult:
    """Run a jq program on a JSON or JSON Lines file; at most 10,000 characters come back."""
    content, notes = await in_utf8(call, arguments.file)
    with _not_json_hint(call, arguments.file, content):
        answer = await json_query.jq(children, arguments.program, content)
    if answer.note:
        notes = f"\n[{answer.note}]{notes}"
    return _answer(arguments.file, answer.text, "no result", notes)


@tool(effect="read", timeout=TIMEOUT, base="all")
async def grep_json(children: Children, call: Call, arguments: GrepJson) -> ToolResult:
    """Find keys and values of a JSON file that match, with their paths for jq."""
    content, notes = await in_utf8(call, arguments.file)
    with _not_json_hint(call, arguments.file, content):
        text = await json_query.grep_json(children, arguments.pattern, content)
    return _answer(arguments.file, text, "nothing matches", notes)


@contextmanager
def _not_json_hint(call: Call, file: str, content: bytes) -> Generator[None]:
    """Add the tool that can read the file to an error about a file that is not JSON."""
    try:
        yield
    except ToolError as error:
        if error.code != "not_json":
            raise
        name = held(call, file).added.name
        text = f"{file} {name!r} is not JSON ({error.message_to_model.rstrip('.')}). {_reader(content)}"
        raise ToolError(text, code="not_json") from error


def _reader(content: bytes) -> str:
    if decode(content) is None:
        return "It is not text either: use extract_file to get its text, or load_file for an image."
    return "It is another kind of text: use file_regex to find words in it, or file_read to read its lines."


def _answer(file: str, text: str, empty: str, notes: str) -> ToolResult:
    """Return the matches, one per line; `value` is that text."""
    lines = text.count("\n") + bool(text)
    looked = FileRead(file, "matches", 0, lines)
    return ToolResult(f"{text or f'({empty})'}{notes}", f"{lines} lines of results", value=text, facts=(looked,))


MATCHES = 200
"""The most matching lines of one answer."""
AROUND = 10
"""The most context lines around each match."""


class SearchFile(Arguments):
    """A file, a pattern, and the number of matches and context lines."""

    file: str
    pattern: str = Field(min_length=1, description=SYNTAX)
    max_matches: int = Field(default=30, ge=1, le=MATCHES)
    context: int = Field(default=1, ge=0, le=AROUND, description="Lines around each.")
    ignore_case: bool = False


@tool(effect="read", base="all")
async def file_regex(call: Call, arguments: SearchFile) -> ToolResult:
    """Find the lines of a file that match. Use it before file_read on anything long."""
    content, notes = await in_utf8(call, arguments.file)
    around = arguments.context
    wanted = Search(arguments.pattern, arguments.max_matches, around, around, arguments.ignore_case)
    # On a thread: a slow pattern takes seconds and must not block other runs.
    found = await asyncio.to_thread(search, content, wanted, call.clock)
    name = held(call, arguments.file).added.name
    looked = FileRead(arguments.file, "matches", 0, found.matches)
    summary = f"{found.matches} matching lines"
    return ToolResult(f"{arguments.file} {name!r}:\n{found.text()}{notes}", summary, facts=(looked,))
