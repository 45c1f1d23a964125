"""The text of a run's file: whole, by lines, and with notes about missing parts."""

import asyncio
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.files.completeness import incomplete
from gofer.files.decoder import Decoded, decode
from gofer.files.kind import charset_of, kind_of, mislabelled
from gofer.projections.workspace import HeldFile
from gofer.tools.definition import Call
from gofer.values.errors import ToolError
from gofer.values.tokens import estimate

SHOWN_TOKENS = 8_000
"""The most tokens of a file that one call shows."""
LINE_LIMIT = 4_000
"""The most characters of a line that are shown. Byte ranges show longer lines."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a text, from `first` to `last`, both included, counted from 1."""

    lines: Sequence[str]
    """The lines, each cut to its shown part."""
    first: int
    last: int
    of: int
    """The number of all lines of the text."""
    cut: Mapping[int, int]
    """The full length of each cut line in characters, by its number."""


def held(call: Call, file: str) -> HeldFile:
    """Return a file of the run. Raises ToolError for an unknown id."""
    if found := call.run.workspace.files.get(file):
        return found
    known = ", ".join(call.run.workspace.files) or "none"
    raise ToolError(f"There is no file {file[:64]!r}. The files of this run: {known[:2_000]}.", code="no_such_file")


@dataclass(frozen=True, slots=True)
class HeldText:
    """The text of a file, with notes about a guessed encoding, a wrong type or missing parts."""

    text: str
    said: str
    """The notes, which begin with a line feed; empty without notes."""


async def held_text(call: Call, file: str) -> HeldText:
    """Return the whole text of a file.

    Raises ToolError for a file that is not text, and the errors of `Files.content`.
    """
    content = await call.run.files.content(file)
    found = await _decoded(call, file, content)
    if found is None:
        raise _no_text(call, file, content)
    return HeldText(found.text, _said(call, file, content, found))


async def in_utf8(call: Call, file: str) -> tuple[bytes, str]:
    """Return the content of a file, converted to UTF-8 if it is text, and its notes as in HeldText."""
    content = await call.run.files.content(file)
    found = await _decoded(call, file, content)
    if found is None:
        return content, _lacks(call, file)
    said = _said(call, file, content, found)
    if found.encoding == "UTF-8" and not content.startswith(BOM_UTF8):
        return content, said
    return found.text.encode("utf-8", "replace"), said


async def _decoded(call: Call, file: str, content: bytes) -> Decoded | None:
    # On a thread: guessing the encoding of a large file takes time and must not block other runs.
    return await asyncio.to_thread(decode, content, charset_of(call.run.files.added(file).media_type))


def _said(call: Call, file: str, content: bytes, found: Decoded) -> str:
    name = call.run.files.added(file).name
    sentences = [mislabelled(kind_of(content, name), name), found.note]
    if found.guessed:
        sentences.append(f'If words look wrong, extract_file(file="{file}", encoding=…) reads it in another.')
    said = " ".join(filter(None, sentences))
    return f"\n[{said}]" * bool(said) + _lacks(call, file)


def _lacks(call: Call, file: str) -> str:
    """Return a line about the missing parts of a file, which ends every answer; empty for a complete file."""
    added = call.run.files.added(file)
    said = incomplete(added.missing, added.file)
    return f"\n[{said}]" * bool(said)


def lines_of(text: str) -> Sequence[str]:
    """Return the lines of a text without line ends."""
    lines = text.split("\n")
    if text.endswith("\n"):
        return lines[:-1]
    return lines


def part_of(lines: Sequence[str], first: int, last: int, tokens: int = SHOWN_TOKENS) -> Part:
    """Return as many of the requested lines as fit `tokens`. Raises ToolError for lines that do not exist."""
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
            # The first line is always shown, but cut so that it fits one answer.
            shown = shown[: tokens // 2]
        if len(shown) < len(line):
            cut[number] = len(line)
        chosen.append(shown)
    return Part(chosen, first, first + len(chosen) - 1, len(lines), cut)


def line_bytes(content: bytes, number: int, shown: str) -> tuple[int, int] | None:
    """Return begin and end of the bytes of a shown line beginning; None for a text that is not UTF-8."""
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


def _no_text(call: Call, file: str, content: bytes) -> ToolError:
    kind = kind_of(content, held(call, file).added.name)
    instead = "use extract_file to get its text, or load_file for an image"
    return ToolError(f"{file} is {kind.title}, and is not text; {instead}.")
