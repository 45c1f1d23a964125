"""The search for lines that match a pattern, in time linear in the text for any pattern.

The pattern is matched against each line separately, as grep does: `^` and `$` are the ends of a line, and no match
spans two lines. RE2 keeps the time linear. A slow search ends at a deadline with the lines found by then.
"""

import codecs
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, cast

from gofer.files.text_cut import head, tail
from gofer.values.outside import Clock

SECONDS = 6.0
"""The deadline of a search. A longer one reports the searched share."""

LINE = 300
"""The most characters of one line that are shown, around its first match."""

CHARACTERS = 10_000
"""The most characters of all shown lines."""

SYNTAX = "RE2, line by line: no look-around, no back-references; \\w is ASCII, \\pL is any letter."
"""The note on patterns in tool descriptions."""

_CHUNK = 1 << 20
_SMALL_CHUNK = 1 << 16
_SLOW = 0.05
_OVERLAP = 4_096
_MOST_NEIGHBOURS = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the text, shortened for a model."""

    number: int
    """The line number, counted from 1."""
    text: str
    matches: bool
    """Whether the line matches, or is only a neighbour of a match."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    lines: tuple[Line, ...]
    """The matching lines and their neighbours, in order and without duplicates."""
    matches: int
    """The number of matching lines."""
    ended: str
    """A sentence that says why the result is incomplete and what to do; empty if it is complete."""

    def text(self) -> str:
        """Return the lines as grep prints them: `12:` before a match, `13-` before a neighbour, `--` between groups."""
        lines: list[str] = []
        before = 0
        for line in self.lines:
            if before and line.number > before + 1:
                lines.append("--")
            lines.append(f"{line.number}{':' if line.matches else '-'} {line.text}")
            before = line.number
        if not lines:
            lines.append("No line matches.")
        return "\n".join([*lines, self.ended] if self.ended else lines)


@dataclass(frozen=True, slots=True)
class Search:
    """The pattern of a search, and the extent of its result."""

    pattern: str
    max_matches: int = 50
    before: int = 0
    """The lines shown before each match."""
    after: int = 0
    ignore_case: bool = False


class Match(Protocol):
    """A match of a pattern."""

    def start(self) -> int:
        """Return where the match begins."""
        ...

    def span(self) -> tuple[int, int]:
        """Return where the match begins and ends."""
        ...


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, text: bytes, pos: int, endpos: int) -> Match | None:
        """Return the first match between two places, or None."""
        ...


class LinePatterns(Protocol):
    """The module `line_pattern`."""

    def compiled(self, request: Search, *, utf8: bool) -> Pattern:
        """Return the compiled pattern of a search. Raises ToolError for an invalid one."""
        ...


def search(data: bytes, request: Search, clock: Clock) -> Found:
    """Return the matching lines of a text in UTF-8, or in any other superset of ASCII.

    Raises ToolError for an invalid pattern.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    scan = _Scan(data, _compiled(request, utf8=_is_utf8(data)), request, clock, clock.monotonic() + SECONDS)
    hits = list(scan.hits())
    return _with_neighbours(data, hits, request, scan.ended)


def _compiled(request: Search, *, utf8: bool) -> Pattern:
    """Load the library with the first search, because most runs search no file (decision 62)."""
    patterns = cast(LinePatterns, importlib.import_module("gofer.files.line_pattern"))
    return patterns.compiled(request, utf8=utf8)


def _is_utf8(data: bytes) -> bool:
    """Return whether a text is valid UTF-8. Works in pieces to avoid a second copy of a large text."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _CHUNK):
            decoder.decode(data[at : at + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


@dataclass(slots=True)
class _Scan:
    """One pass through the text. `ended` says why it did not reach the end."""

    data: bytes
    pattern: Pattern
    request: Search
    clock: Clock
    deadline: float
    ended: str = ""
    last: int = field(init=False)
    """The end of the last line."""
    _size: int = field(default=_SMALL_CHUNK, init=False)

    def __post_init__(self) -> None:
        self.last = len(self.data) - self.data.endswith(b"\n")

    def hits(self) -> Iterator[tuple[int, int]]:
        """Yield the span of the first match of each matching line."""
        at = 0
        count = 0
        while self.data and at <= self.last:
            if (begun := self.clock.monotonic()) > self.deadline:
                self.ended = self._out_of_time(at)
                return
            stop, next_at = self._chunk(at)
            while match := self.pattern.search(self.data, at, stop):
                if count == self.request.max_matches:
                    self.ended = f"Only the first {count:,} matching lines are shown; narrow the pattern to see others."
                    return
                yield match.span()
                count += 1
                if (end := self.data.find(b"\n", match.start())) < 0:
                    return
                at = end + 1
                if at > stop:
                    break
            if self.clock.monotonic() - begun < _SLOW:
                self._size = _CHUNK
            else:
                self._size = _SMALL_CHUNK
            at = max(at, next_at)

    def _chunk(self, at: int) -> tuple[int, int]:
        """Return the end of a piece and the start of the next; pieces are whole lines, unless a line is too long."""
        end = self.data.find(b"\n", at + self._size, at + 2 * self._size)
        if end >= 0:
            return end, end + 1
        if at + 2 * self._size >= self.last:
            return self.last, self.last + 1
        # The cut is within a line. The next piece overlaps, so it finds a match across the cut.
        return at + 2 * self._size, at + 2 * self._size - _OVERLAP

    def _out_of_time(self, at: int) -> str:
        share = f"{at:,} of {len(self.data):,} bytes"
        return f"The pattern is slow: {share} were searched in {SECONDS:g} seconds; use a simpler one for the rest."


def _with_neighbours(data: bytes, hits: list[tuple[int, int]], request: Search, ended: str) -> Found:
    lines: list[Line] = []
    number = 1
    counted = 0
    left = CHARACTERS
    matches = 0
    for start, end in hits:
        begin = data.rfind(b"\n", 0, start) + 1
        number += data.count(b"\n", counted, begin)
        counted = begin
        # A neighbour of an earlier match may itself match, so it is added again as a match.
        while lines and lines[-1].number >= number:
            lines.pop()
        block = list(_block(data, begin, number, (start, end), request, lines[-1].number if lines else 0))
        left -= sum(len(line.text) + 12 for line in block)
        if left < 0 and lines:
            ended = f"More does not fit into {CHARACTERS:,} characters; narrow the pattern or show fewer lines around."
            break
        lines += block
        matches += 1
    return Found(tuple(lines), matches, ended)


def _block(data: bytes, begin: int, number: int, match: tuple[int, int], request: Search, last: int) -> Iterator[Line]:
    """Yield the line of a match and its neighbours, except lines that are already in the result."""
    before: list[Line] = []
    at = begin
    for distance in range(1, min(request.before, _MOST_NEIGHBOURS) + 1):
        if at == 0 or number - distance <= last:
            break
        stop = at - 1
        at = data.rfind(b"\n", 0, at - 1) + 1
        before.append(Line(number - distance, _excerpt(data, at, stop, at, at), matches=False))
    yield from reversed(before)
    stop = _end(data, begin)
    yield Line(number, _excerpt(data, begin, stop, *match), matches=True)
    for distance in range(1, min(request.after, _MOST_NEIGHBOURS) + 1):
        if (at := stop + 1) >= len(data):
            break
        stop = _end(data, at)
        yield Line(number + distance, _excerpt(data, at, stop, at, at), matches=False)


def _end(data: bytes, begin: int) -> int:
    end = data.find(b"\n", begin)
    if end < 0:
        return len(data)
    return end


def _excerpt(data: bytes, begin: int, stop: int, start: int, end: int) -> str:
    """Return the line, or the part around the match of a long line."""
    if stop - begin <= LINE:
        return data[begin:stop].decode(errors="replace")
    first = max(begin, start - LINE)
    before = data[first:start].decode(errors="replace")
    after = data[start : min(stop, start + 4 * LINE)].decode(errors="replace")
    if len(before) + len(after) <= LINE and first == begin:
        return before + after
    kept_before = tail(before, LINE // 3)
    kept_after = head(after, LINE - len(kept_before))
    more = "…" if len(kept_after) < len(after) or start + 4 * LINE < stop else ""
    return f"{'…' if len(kept_before) < len(before) or first > begin else ''}{kept_before}{kept_after}{more}"
