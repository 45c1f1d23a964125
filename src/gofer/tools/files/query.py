"""How does a model ask a JSON file for values?"""

from functools import partial
from typing import Any

from pydantic import Field

from gofer.files import json_query
from gofer.files.child import Children
from gofer.journal.workspace import FileRead
from gofer.tools.files.text import in_utf8
from gofer.tools.tool import Arguments, Call, Tool, ToolResult

TIMEOUT = 30.0
"""Seconds for one of these: a child is begun, and another one may be waited for."""


class QueryJson(Arguments):
    """A file and a jq program."""

    file: str = Field(description="Id of a JSON or JSON Lines file.")
    program: str = Field(
        min_length=1,
        max_length=10_000,
        description="As '.items | length' or '[.[] | select(.open) | {id, title}]'.",
    )


class GrepJson(Arguments):
    """A file and a pattern."""

    file: str = Field(description="Id of a JSON or JSON Lines file.")
    pattern: str = Field(
        min_length=1, max_length=1_000, description="A regular expression, as for file_regex; (?i) ignores case."
    )


def query_tools(children: Children) -> tuple[Tool[Any], ...]:
    """`jq` and `grep_json`."""
    return (
        Tool(
            name="jq",
            description="Run a jq program on a JSON file. At most 10,000 characters come back: select, count and "
            "shorten in the program.",
            effect="read",
            arguments=QueryJson,
            act=partial(jq, children),
            timeout=TIMEOUT,
            base="all",
        ),
        Tool(
            name="grep_json",
            description="Find keys and values of a JSON file that match a pattern, each with its path as jq writes it.",
            effect="read",
            arguments=GrepJson,
            act=partial(grep_json, children),
            timeout=TIMEOUT,
            base="all",
        ),
    )


async def jq(children: Children, call: Call, arguments: QueryJson) -> ToolResult:
    """The results, one JSON value on each line; `value` is that text."""
    content, said = await in_utf8(call, arguments.file)
    text = await json_query.jq(children, arguments.program, content)
    return _answer(arguments.file, text, "no result", said)


async def grep_json(children: Children, call: Call, arguments: GrepJson) -> ToolResult:
    """Paths and values, one on each line; `value` is that text."""
    content, said = await in_utf8(call, arguments.file)
    text = await json_query.grep_json(children, arguments.pattern, content)
    return _answer(arguments.file, text, "nothing matches", said)


def _answer(file: str, text: str, empty: str, said: str) -> ToolResult:
    lines = text.count("\n") + bool(text)
    looked = FileRead(file, "matches", 0, lines)
    return ToolResult(f"{text or f'({empty})'}{said}", f"{lines} lines of results", value=text, facts=(looked,))
