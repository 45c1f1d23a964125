"""The tools that read a file: whole, some of its lines, or some of its bytes."""

from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.tokens import estimate
from gofer.journal.workspace import FileRead
from gofer.tools.files.text import held, lacks, lines_of, part_of, text_of
from gofer.tools.tool import Arguments, Call, Tool, ToolResult

PEEKED = 32_000
"""Bytes that one call shows at most."""


class ReadFile(Arguments):
    """A file and, where not all of it is wanted, which lines."""

    file: str = Field(description="Id of the file, as listed at the end.")
    start_line: int = Field(default=1, ge=1, description="First line, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line, included. Left out: to the end.")


class PeekFile(Arguments):
    """A file and which of its bytes."""

    file: str = Field(description="Id of the file.")
    start: int = Field(ge=0, description="From 0.")
    stop: int = Field(ge=1, description=f"Byte after the last; at most {PEEKED} after start.")


def read_tools() -> tuple[Tool[Any], ...]:
    """`file_read` and `peek_file`."""
    return (
        Tool(
            name="file_read",
            description="Read a file as text, whole or some lines. If it is cut, it says where to go on.",
            effect="read",
            arguments=ReadFile,
            act=file_read,
            base="all",
        ),
        Tool(
            name="peek_file",
            description="Look at bytes of a file, where lines are long.",
            effect="read",
            arguments=PeekFile,
            act=peek_file,
            base="all",
        ),
    )


async def file_read(call: Call, arguments: ReadFile) -> ToolResult:
    """Lines of a file; `value` is their text."""
    if arguments.end_line is not None and arguments.end_line < arguments.start_line:
        raise ToolError(f"end_line {arguments.end_line} stands before start_line {arguments.start_line}.")
    lines = lines_of(await text_of(call, arguments.file))
    if not any(lines):
        return ToolResult(f"{arguments.file} is empty.", "an empty file", value="")
    last = len(lines) if arguments.end_line is None else arguments.end_line
    part = part_of(lines, arguments.start_line, last, call.whole_tokens * 9 // 10)
    name = held(call, arguments.file).added.name
    head = f"{arguments.file} {name!r}, lines {part.first} to {part.last} of {part.of}:"
    more = f"\n[Go on with start_line={part.last + 1}.]" if part.last < min(part.of, last) else ""
    shown = FileRead(arguments.file, "lines", part.first, part.last)
    summary = f"lines {part.first} to {part.last} of {part.of}"
    return ToolResult(
        f"{head}\n{part.text}{more}{lacks(call, arguments.file)}", summary, value=part.text, facts=(shown,)
    )


async def peek_file(call: Call, arguments: PeekFile) -> ToolResult:
    """Bytes of a file as text; `value` is that text. No character is cut in its middle."""
    content = await call.files.content(arguments.file)
    if arguments.start >= len(content):
        raise ToolError(f"{arguments.file} has {len(content)} bytes; there is no byte {arguments.start}.")
    if arguments.stop <= arguments.start:
        raise ToolError(f"stop {arguments.stop} is not behind start {arguments.start}; no byte stands before it.")
    start = _boundary(content, arguments.start)
    wanted = min(arguments.stop, arguments.start + PEEKED, len(content))
    stop = _fitting(content, start, wanted, call.whole_tokens * 9 // 10)
    text = content[start:stop].decode("utf-8", "replace")
    head = f"{arguments.file}, bytes {start} to {stop} of {len(content)}:"
    more = f"\n[Go on with start={stop}.]" if stop < min(arguments.stop, len(content)) else ""
    shown = FileRead(arguments.file, "bytes", start, stop)
    told = f"{head}\n{text}{more}{lacks(call, arguments.file)}"
    return ToolResult(told, f"bytes {start} to {stop}", value=text, facts=(shown,))


def _fitting(content: bytes, start: int, stop: int, tokens: int) -> int:
    """The byte behind the last that is shown: so many tokens at most, and one character at least."""
    end = start + 1
    while end < len(content) and content[end] & 0xC0 == 0x80 and end - start < 4:
        end += 1
    stop = _boundary(content, stop)
    while stop > end and estimate(content[start:stop].decode("utf-8", "replace")) > tokens:
        stop = _boundary(content, start + (stop - start) // 2)
    return max(stop, end)


def _boundary(content: bytes, at: int) -> int:
    """The beginning of the character that a byte belongs to."""
    back = at
    while 0 < back < len(content) and content[back] & 0xC0 == 0x80 and at - back < 4:
        back -= 1
    return back
