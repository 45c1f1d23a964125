"""How does a model read a file: whole, some of its lines, or some of its bytes?"""

from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.tokens import estimate
from gofer.journal.workspace import FileRead
from gofer.tools.files.text import held, held_text, in_utf8, lines_of, part_of
from gofer.tools.tool import Arguments, Call, Tool, ToolResult

PEEKED = 32_000
"""Bytes that one call shows at most."""


class ReadFile(Arguments):
    """A file and, where not all of it is wanted, which lines."""

    file: str = Field(description="Id of the file, as listed at the end of the conversation.")
    start_line: int = Field(default=1, ge=1, description="First line, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line, included. Left out: to the end.")


class PeekFile(Arguments):
    """A file and which of its bytes."""

    file: str = Field(description="Id of the file.")
    start: int = Field(ge=0, description="First byte, from 0.")
    stop: int = Field(ge=1, description=f"Byte after the last; at most {PEEKED} after start.")


def read_tools() -> tuple[Tool[Any], ...]:
    """`file_read` and `peek_file`."""
    return (
        Tool(
            name="file_read",
            description="Read a file as text, whole or some lines. What does not fit one answer is left out; it says "
            "from which line to go on.",
            effect="read",
            arguments=ReadFile,
            act=file_read,
            base="all",
        ),
        Tool(
            name="peek_file",
            description="Look at some bytes of a file as text, where lines are very long.",
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
    found = await held_text(call, arguments.file)
    lines = lines_of(found.text)
    if not any(lines):
        return ToolResult(f"{arguments.file} is empty.", "an empty file", value="")
    last = len(lines) if arguments.end_line is None else arguments.end_line
    part = part_of(lines, arguments.start_line, last, call.whole_tokens * 9 // 10)
    name = held(call, arguments.file).added.name
    head = f"{arguments.file} {name!r}, lines {part.first} to {part.last} of {part.of}:{found.said}"
    more = f"\n[Go on with start_line={part.last + 1}.]" if part.last < min(part.of, last) else ""
    shown = FileRead(arguments.file, "lines", part.first, part.last)
    summary = f"lines {part.first} to {part.last} of {part.of}"
    return ToolResult(f"{head}\n{part.text}{more}", summary, value=part.text, facts=(shown,))


async def peek_file(call: Call, arguments: PeekFile) -> ToolResult:
    """Bytes of a file as text; `value` is that text. No character is cut in its middle."""
    content, said = await in_utf8(call, arguments.file)
    if arguments.start >= len(content):
        raise ToolError(f"{arguments.file} has {len(content)} bytes; there is no byte {arguments.start}.")
    if arguments.stop <= arguments.start:
        raise ToolError(f"stop {arguments.stop} is not behind start {arguments.start}; no byte stands before it.")
    start = _boundary(content, arguments.start)
    wanted = min(arguments.stop, arguments.start + PEEKED, len(content))
    stop = _fitting(content, start, wanted, call.whole_tokens * 9 // 10)
    text = content[start:stop].decode("utf-8", "replace")
    head = f"{arguments.file}, bytes {start} to {stop} of {len(content)}:{said}"
    more = f"\n[Go on with start={stop}.]" if stop < min(arguments.stop, len(content)) else ""
    shown = FileRead(arguments.file, "bytes", start, stop)
    return ToolResult(f"{head}\n{text}{more}", f"bytes {start} to {stop}", value=text, facts=(shown,))


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
