"""The tools that read a file: all of it, some lines, or some bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from gofer.journal.workspace_entries import FileRead
from gofer.projections.workspace import merged
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.files.text import Part, held, held_text, in_utf8, line_bytes, lines_of, part_of
from gofer.values.errors import ToolError
from gofer.values.tokens import estimate

PEEKED = 32_000
"""The most bytes that one call shows."""


class ReadFile(Arguments):
    """A file and optionally a range of lines."""

    file: str
    start_line: int = Field(default=1, ge=1)
    end_line: int | None = Field(default=None, ge=1, description="Included.")


class PeekFile(Arguments):
    """A file and a range of bytes."""

    file: str
    start: int = Field(ge=0)
    stop: int = Field(ge=1, description=f"At most {PEEKED:,} after start.")


@tool(effect="read", base="all")
async def file_read(call: Call, arguments: ReadFile) -> ToolResult:
    """Show lines of a text file."""
    # `value` is the text of the lines.
    if arguments.end_line is not None and arguments.end_line < arguments.start_line:
        raise ToolError(f"end_line {arguments.end_line} is before start_line {arguments.start_line}.")
    found = await held_text(call, arguments.file)
    lines = lines_of(found.text)
    if not any(lines):
        return ToolResult(f"{arguments.file} is empty.{found.said}", "an empty file", value="")
    last = arguments.end_line
    if last is None:
        last = len(lines)
    content = found.text.encode("utf-8", "replace")
    shown = _Shown(arguments.file, content, part_of(lines, arguments.start_line, last, call.run.whole_tokens * 9 // 10))
    name = held(call, arguments.file).added.name
    more = ""
    if shown.part.last < min(shown.part.of, last):
        more = f"\n[Go on with start_line={shown.part.last + 1}.]"
    text = shown.text()
    return ToolResult(
        f"{arguments.file} {name!r}, {shown.range()}:\n{text}{more}{found.said}",
        shown.range(),
        value=text,
        facts=shown.facts(),
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """The lines of a file as text for the model. A line that is cut says how to read its rest."""

    file: str
    content: bytes
    part: Part

    @property
    def _alone(self) -> bool:
        """Whether the result shows only the beginning of one line."""
        return bool(self.part.cut) and len(self.part.lines) == 1

    def range(self) -> str:
        """Return the range of the shown lines, or of the shown characters of a single cut line."""
        part = self.part
        if not self._alone:
            return f"lines {part.first} to {part.last} of {part.of}"
        characters = f"characters 1 to {len(part.lines[0]):,} of the {part.cut[part.first]:,}"
        return f"{characters} of line {part.first} of {part.of}"

    def text(self) -> str:
        """Return the lines, with a note after each cut line that says how to continue."""
        return "\n".join(self._line(number, line) for number, line in enumerate(self.part.lines, self.part.first))

    def facts(self) -> Sequence[FileRead]:
        """Return the ranges that were read: whole lines by number, the beginning of a cut line by bytes."""
        cut = self.part.cut
        whole = merged(((line, line) for line in range(self.part.first, self.part.last + 1) if line not in cut), gap=1)
        begun = (line_bytes(self.content, line, self.part.lines[line - self.part.first]) for line in cut)
        return [
            *(FileRead(self.file, "lines", first, last) for first, last in whole),
            *(FileRead(self.file, "bytes", *place) for place in begun if place is not None),
        ]

    def _line(self, number: int, line: str) -> str:
        if number not in self.part.cut:
            return line
        how = "look for words in it with file_regex"
        if (place := line_bytes(self.content, number, line)) is not None:
            how = f"go on with peek_file, start={place[1]}"
        return f"{line}\n[{self.part.cut[number] - len(line):,} more characters of line {number}; {how}.]"


@tool(effect="read", base="all")
async def peek_file(call: Call, arguments: PeekFile) -> ToolResult:
    """Show bytes of a file as text, where lines are very long."""
    # `value` is the text. No character is cut in the middle.
    content, said = await in_utf8(call, arguments.file)
    if arguments.start >= len(content):
        raise ToolError(f"{arguments.file} has {len(content)} bytes; there is no byte {arguments.start}.")
    if arguments.stop <= arguments.start:
        raise ToolError(f"stop {arguments.stop} is not after start {arguments.start}, so there are no bytes to show.")
    start = _boundary(content, arguments.start)
    wanted = min(arguments.stop, arguments.start + PEEKED, len(content))
    stop = _fitting(content, start, wanted, call.run.whole_tokens * 9 // 10)
    text = content[start:stop].decode("utf-8", "replace")
    head = f"{arguments.file}, bytes {start} to {stop} of {len(content)}:"
    more = ""
    if stop < min(arguments.stop, len(content)):
        more = f"\n[Go on with start={stop}.]"
    shown = FileRead(arguments.file, "bytes", start, stop)
    result = f"{head}\n{text}{more}{said}"
    return ToolResult(result, f"bytes {start} to {stop}", value=text, facts=(shown,))


def _fitting(content: bytes, start: int, stop: int, tokens: int) -> int:
    """Return the end of the shown bytes: at most `tokens` tokens, and at least one character."""
    end = start + 1
    while end < len(content) and content[end] & 0xC0 == 0x80 and end - start < 4:
        end += 1
    stop = _boundary(content, stop)
    while stop > end and estimate(content[start:stop].decode("utf-8", "replace")) > tokens:
        stop = _boundary(content, start + (stop - start) // 2)
    return max(stop, end)


def _boundary(content: bytes, at: int) -> int:
    """Return the beginning of the character that a byte belongs to."""
    back = at
    while 0 < back < len(content) and content[back] & 0xC0 == 0x80 and at - back < 4:
        back -= 1
    return back
