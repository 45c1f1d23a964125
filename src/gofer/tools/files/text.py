"""A run's file as text: its whole text, the lines of a part, and the sentence on what it lacks."""

from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.errors import ToolError
from gofer.files.completeness import incomplete
from gofer.files.plain_text import decoded
from gofer.files.tokens import estimate
from gofer.projections.workspace import HeldFile
from gofer.tools.tool import Call

SHOWN_TOKENS = 8_000
"""Tokens of a file that one call shows at most."""
LINE_LIMIT = 4_000
"""Characters of one line that are shown at most; longer ones are for byte ranges."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a text, from `first` to `last`, both included, counted from 1."""

    lines: Sequence[str]
    """The lines, each as far as it is shown."""
    first: int
    last: int
    of: int
    """How many lines there are in all."""
    cut: Mapping[int, int]
    """Of each line that is shown in part, by its number: its characters in all."""


def held(call: Call, file: str) -> HeldFile:
    """The file as the run has it. Raises ToolError for an unknown id."""
    if found := call.workspace.files.get(file):
        return found
    known = ", ".join(call.workspace.files) or "none"
    raise ToolError(f"There is no file {file[:64]!r}. The files of this run: {known[:2_000]}.", code="no_such_file")


def lacks(call: Call, *files: str) -> str:
    """Return a line that says what each incomplete file lacks, as it ends every answer; empty for complete ones."""
    held_files = (call.workspace.files.get(file) for file in files)
    said = [incomplete(one.added.missing, one.added.file) for one in held_files if one is not None]
    lines = [f"\n[{sentence}]" for sentence in said if sentence]
    return "".join(lines)


async def text_of(call: Call, file: str) -> str:
    """The whole text of a file. Raises ToolError for one that is no text, and what reading it raises."""
    text = decoded(await call.files.content(file))
    if text is None:
        raise _no_text(call, file)
    return text


def lines_of(text: str) -> Sequence[str]:
    """Lines without their ends."""
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")


def part_of(lines: Sequence[str], first: int, last: int, tokens: int = SHOWN_TOKENS) -> Part:
    """As many of the lines asked for as fit so many tokens. Raises ToolError for lines that are not there."""
    if first > len(lines):
        raise ToolError(f"The file has {len(lines)} lines; there is no line {first}.")
    chosen: list[str] = []
    cut: dict[int, int] = {}
    left = min(tokens, SHOWN_TOKENS)
    for number, line in enumerate(lines[first - 1 : last], first):
        shown = line[:LINE_LIMIT]
        left -= estimate(shown) + 1
        if left < 0 and chosen:
            break
        if left < 0:
            # The first one is shown in any case, and no line may be more than fits one answer.
            shown = shown[: tokens // 2]
        if len(shown) < len(line):
            cut[number] = len(line)
        chosen.append(shown)
    return Part(chosen, first, first + len(chosen) - 1, len(lines), cut)


def line_bytes(content: bytes, number: int, shown: str) -> tuple[int, int] | None:
    """Return the bytes of the beginning of a line, without their end; None for a text that is not UTF-8."""
    start = 0
    for _ in range(number - 1):
        start = content.find(b"\n", start) + 1
    if start == 0:
        start = len(content) - len(content.removeprefix(BOM_UTF8))
    raw = shown.encode("utf-8", "replace")
    stop = start + len(raw)
    if content[start:stop] != raw:
        return None
    return start, stop


def _no_text(call: Call, file: str) -> ToolError:
    added = held(call, file).added
    kind = added.media_type or "not text"
    return ToolError(f"{file} ({kind}) is not text; use extract_file to get its text, or load_file for an image.")
