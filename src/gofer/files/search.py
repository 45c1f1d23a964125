"""The lines of a text that match a pattern, found in time linear in the text for any pattern.

The pattern is matched against each line by itself, as grep does: `^` and `$` are the ends of a line, and no match spans
two. RE2 keeps the time linear, and what is linear but slow ends at a deadline with what was found by then.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import re2

from gofer.files.text_cut import head, tail
from gofer.values.errors import ToolError
from gofer.values.outside import Clock

SECONDS = 6.0
"""A search that takes longer says how far it came."""

LINE = 300
"""Characters of one line that are shown at most, around its first match."""

CHARACTERS = 10_000
"""Characters of all that is shown."""

SYNTAX = "RE2, line by line: no look-around, no back-references; \\w is ASCII, \\pL is any letter."
"""What a model is told about patterns."""

_LONGEST_PATTERN = 1_000
_LARGEST_PROGRAM = 10_000
_CHUNK = 1 << 20
_SMALL_CHUNK = 1 << 16
_SLOW = 0.05
_OVERLAP = 4_096
_MOST_AROUND = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the text, cut to what a model can use."""

    number: int
    """Counted from 1."""
    text: str
    matches: bool
    """Whether it matched, or only stands near one that did."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    lines: tuple[Line, ...]
    """Matching lines with their neighbours, in order, each once."""
    matches: int
    """Matching lines among them."""
    ended: str
    """Empty when all was searched and shown; else one sentence that says why not, and what to do."""

    def text(self) -> str:
        """Return it as grep does: `12:` before a match, `13-` before a neighbour, `--` between places far apart."""
        shown: list[str] = []
        before = 0
        for line in self.lines:
            if before and line.number > before + 1:
                shown.append("--")
            shown.append(f"{line.number}{':' if line.matches else '-'} {line.text}")
            before = line.number
        if not shown:
            shown.append("No line matches.")
        return "\n".join([*shown, self.ended] if self.ended else shown)


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for, and how much of it to show."""

    pattern: str
    max_matches: int = 50
    before: int = 0
    """Lines shown before each match."""
    after: int = 0
    ignore_case: bool = False


def search(data: bytes, wanted: Search, clock: Clock) -> Found:
    """Look through a text in UTF-8, or in any encoding that ASCII is a part of.

    Raises ToolError for a pattern that RE2 does not take.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    scan = _Scan(data, compiled(wanted, utf8=_is_utf8(data)), wanted, clock, clock.monotonic() + SECONDS)
    hits = list(scan.hits())
    return _shown(data, hits, wanted, scan.ended)


def compiled(wanted: Search, *, utf8: bool) -> "re2.Pattern":
    """Return the pattern, for lines in UTF-8 or in some encoding of one byte.

    Raises ToolError for one RE2 does not take.
    """
    if len(wanted.pattern) > _LONGEST_PATTERN:
        raise ToolError(f"The pattern is longer than {_LONGEST_PATTERN:,} characters; look for a part of it.")
    if anchor := re.search(r"(?<!\\)(?:\\\\)*(\\[AzZ])", wanted.pattern):
        raise ToolError(f"{anchor[1]} is not supported, as each line is searched by itself; use ^ or $.")
    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.case_sensitive = not wanted.ignore_case
    pattern = f"(?m:{wanted.pattern})"
    try:
        # On its own first, so that its brackets cannot close ours.
        re2.compile(wanted.pattern.encode(), options)
        if not utf8:
            options.encoding = re2.Options.Encoding.LATIN1
        made = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ToolError(_refusal(wanted.pattern, error)) from error
    if made.programsize > _LARGEST_PROGRAM:
        raise ToolError("The pattern is too large once its repetitions are written out; use smaller counts.")
    return made


def _refusal(pattern: str, error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    if isinstance(reason, bytes):
        said = reason.decode(errors="replace")
    else:
        said = str(reason)
    for construct, name in _UNSUPPORTED.items():
        if re.search(construct, pattern):
            return f"{name} not supported here: {said}. Use a plain pattern, then read the lines it finds."
    return f"The pattern is not valid: {said}. The syntax is that of RE2."


_UNSUPPORTED = {
    r"\(\?<?[=!]": "Look-around is",
    r"\(\?P=|\\[1-9]|\\g[<{]|\\k[<{']": "Back-references are",
    r"\(\?>": "Atomic groups are",
    r"[*+?}]\+": "Possessive repetition is",
    r"\(\?\(": "Conditions are",
    r"\{\d{4,}": "Repetition above 1,000 is",
}


def _is_utf8(data: bytes) -> bool:
    """Look at a text in pieces, so that no second copy of a large one is made."""
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
    """One way through the text; `ended` says why it did not come to the end."""

    data: bytes
    pattern: "re2.Pattern"
    wanted: Search
    clock: Clock
    deadline: float
    ended: str = ""
    last: int = field(init=False)
    """Where the last line ends."""
    _size: int = field(default=_SMALL_CHUNK, init=False)

    def __post_init__(self) -> None:
        self.last = len(self.data) - self.data.endswith(b"\n")

    def hits(self) -> Iterator[tuple[int, int]]:
        """Yield where the first match of each matching line begins and ends."""
        at = 0
        count = 0
        while self.data and at <= self.last:
            if (begun := self.clock.monotonic()) > self.deadline:
                self.ended = self._out_of_time(at)
                return
            stop, next_at = self._chunk(at)
            while match := self.pattern.search(self.data, at, stop):
                if count == self.wanted.max_matches:
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
        """Return where a piece ends and where the one behind it begins: whole lines, unless a line is endless."""
        end = self.data.find(b"\n", at + self._size, at + 2 * self._size)
        if end >= 0:
            return end, end + 1
        if at + 2 * self._size >= self.last:
            return self.last, self.last + 1
        # Cut in a line; what lies across the cut is found by the piece behind it.
        return at + 2 * self._size, at + 2 * self._size - _OVERLAP

    def _out_of_time(self, at: int) -> str:
        share = f"{at:,} of {len(self.data):,} bytes"
        return f"The pattern is slow: {share} were searched in {SECONDS:g} seconds; use a simpler one for the rest."


def _shown(data: bytes, hits: list[tuple[int, int]], wanted: Search, ended: str) -> Found:
    lines: list[Line] = []
    number = 1
    counted = 0
    left = CHARACTERS
    matches = 0
    for start, end in hits:
        begin = data.rfind(b"\n", 0, start) + 1
        number += data.count(b"\n", counted, begin)
        counted = begin
        # A line that was shown as the neighbour of an earlier match may match itself.
        while lines and lines[-1].number >= number:
            lines.pop()
        block = list(_block(data, begin, number, (start, end), wanted, lines[-1].number if lines else 0))
        left -= sum(len(line.text) + 12 for line in block)
        if left < 0 and lines:
            ended = f"More does not fit into {CHARACTERS:,} characters; narrow the pattern or show fewer lines around."
            break
        lines += block
        matches += 1
    return Found(tuple(lines), matches, ended)


def _block(data: bytes, begin: int, number: int, match: tuple[int, int], wanted: Search, last: int) -> Iterator[Line]:
    """Yield the line of a match and its neighbours, without those already shown."""
    before: list[Line] = []
    at = begin
    for distance in range(1, min(wanted.before, _MOST_AROUND) + 1):
        if at == 0 or number - distance <= last:
            break
        stop = at - 1
        at = data.rfind(b"\n", 0, at - 1) + 1
        before.append(Line(number - distance, _cut(data, at, stop, at, at), matches=False))
    yield from reversed(before)
    stop = _end(data, begin)
    yield Line(number, _cut(data, begin, stop, *match), matches=True)
    for distance in range(1, min(wanted.after, _MOST_AROUND) + 1):
        if (at := stop + 1) >= len(data):
            break
        stop = _end(data, at)
        yield Line(number + distance, _cut(data, at, stop, at, at), matches=False)


def _end(data: bytes, begin: int) -> int:
    end = data.find(b"\n", begin)
    if end < 0:
        return len(data)
    return end


def _cut(data: bytes, begin: int, stop: int, start: int, end: int) -> str:
    """Return the line, or of a long one what lies around the match."""
    if stop - begin <= LINE:
        return data[begin:stop].decode(errors="replace")
    first = max(begin, start - LINE)
    before = data[first:start].decode(errors="replace")
    behind = data[start : min(stop, start + 4 * LINE)].decode(errors="replace")
    if len(before) + len(behind) <= LINE and first == begin:
        return before + behind
    kept = tail(before, LINE // 3)
    shown = head(behind, LINE - len(kept))
    more = "…" if len(shown) < len(behind) or start + 4 * LINE < stop else ""
    return f"{'…' if len(kept) < len(before) or first > begin else ''}{kept}{shown}{more}"
