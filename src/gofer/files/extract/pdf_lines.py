"""The lines of a PDF's page: their ends, their superscripts and their reading order.

PDFium ends a line where the height of the text changes much, so also at a superscript. It also misses some line ends.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.extract.notation import superscript

_CAREFULLY = 5_000
"""The most characters of a page that are examined one by one."""

_MOST_MARKS = 4
# A line may continue the one before if it begins with one space, has only a sign, or follows a formula. The line end is
# first in the pattern, so that the engine searches for it and checks the neighbours only there.
_GOES_ON = re.compile(r"\r\n(?:(?<=\S\r\n)(?= \S|[.,;:!?)\]]+(?:\s|$))|(?<=[^\W\d]\d\r\n)(?=\w))")
LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RIGHT_TO_LEFT = re.compile(f"[{LEFTWARD}]")
_ENDS_FIRST = re.compile(rf"^([.,:;!?؟،؛]) ?(?=[^\w\s]*[{LEFTWARD}])(.*)$", re.DOTALL)
_BRACKETS = str.maketrans("()[]{}«»", ")(][}{»«")
_OPENS = {")": "(", "]": "[", "}": "{"}

Box = tuple[float, float, float, float]
"""Left, right, bottom and top of a character. Vertical positions grow upwards."""


class Lines:
    """The text of one page and the positions of its characters."""

    def __init__(self, page: pypdfium2.PdfTextPage, text: str) -> None:
        self._page = page
        self._text = text
        self._sides = tuple(ctypes.c_double() for _ in range(4))

    def rejoined(self) -> str:
        """Return the text with lines rejoined that PDFium divided at a superscript."""
        if not _GOES_ON.search(self._text) or not self.plain():
            return self._text
        parts: list[str] = []
        done = 0
        for found in _GOES_ON.finditer(self._text):
            begin = found.end() + self._text.startswith(" ", found.end())
            if self._side_by_side(before := self.box(found.start() - 1), after := self.box(begin)):
                head = self._text[done : found.start()]
                marks = self._marks(found.start(), after) if before and after else 0
                parts.append(head[: len(head) - marks] + superscript(head[len(head) - marks :]))
                done = found.end()
        return "".join([*parts, self._text[done:]])

    def with_line_ends(self, lines: int) -> str:
        """Return the text with missing line ends, if the page has more lines than the text.

        A line ends before a character that is lower and further left.
        """
        text = self._text
        if text.count("\n") + 1 >= lines or len(text) > _CAREFULLY or not self.plain():
            return text
        parts: list[str] = []
        before: Box | None = None
        for at, char in enumerate(text):
            if char.isspace():
                if char != " ":
                    before = None
            else:
                box = self.box(at)
                if box and before and box[3] < before[2] and box[0] < before[0]:
                    parts.append("\n")
                before = box
            parts.append(char)
        return re.sub(r" +\n", "\n", "".join(parts))

    def plain(self) -> bool:
        """Return whether indexes of the text are indexes on the page, which needs one code unit per character."""
        return max(self._text, default="") <= "\uffff"

    def box(self, at: int) -> Box | None:
        """Return the position of the character at an index of the text, or None if it is unknown."""
        place = pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, at)
        if place < 0 or not pdfium.FPDFText_GetCharBox(self._page, place, *self._sides):
            return None
        left, right, bottom, top = (side.value for side in self._sides)
        return left, right, bottom, top

    def _side_by_side(self, before: Box | None, after: Box | None) -> bool:
        """Return whether `after` follows `before` on one line, with a small difference in height."""
        if before is None or after is None:
            return False
        height = before[3] - before[2]
        return after[0] >= before[1] - 1 and -height < before[2] - after[2] < 1.2 * height

    def _marks(self, end: int, after: Box | None) -> int:
        """Return the number of digits before `end` that are higher than the following text."""
        count = 0
        while after and count < _MOST_MARKS and self._text[end - 1 - count].isdigit():
            box = self.box(end - 1 - count)
            if box is None or box[2] < after[2] + (box[3] - box[2]) / 4 or box[2] <= after[2]:
                break
            count += 1
        return count


def reread(line: str) -> str:
    """Return a right-to-left line in reading order, with its final sign last and its brackets in order."""
    if not RIGHT_TO_LEFT.search(line):
        return line
    if not _nested(line) and _nested(turned := line.translate(_BRACKETS)):
        line = turned
    found = _ENDS_FIRST.match(line)
    if found:
        return f"{found[2].rstrip()}{found[1]}"
    return line


def _nested(line: str) -> bool:
    opened: list[str] = []
    for char in line:
        if char in "([{":
            opened.append(char)
        elif char in _OPENS and (not opened or opened.pop() != _OPENS[char]):
            return False
    return not opened


_PIECE = re.compile(rf"[{LEFTWARD}]+(?:[\"'״׳־]+[{LEFTWARD}]+)*|[#$€£₪]?[^\W_]+(?:[.,:/'@&_+-]+[^\W_]+)*[%$€£₪°]?|\S")
_LATIN = re.compile(rf"[^\W\d_{LEFTWARD}]")
_APART = 0.3
"""The least distance between two words, in heights, if PDFium's order does not decide."""

_FAR = 1.5
"""The distance, in heights, above which two neighbours do not belong together."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, a number or a sign, with its position."""

    text: str
    at: int
    """The index in PDFium's order."""
    spaced: bool
    """Whether PDFium's text has a space before it."""
    left: float
    right: float
    height: float

    @property
    def latin(self) -> bool:
        return _LATIN.search(self.text) is not None

    @property
    def rightward(self) -> bool:
        """Whether the piece has left-to-right letters or digits."""
        return any(map(str.isalnum, self.text)) and not RIGHT_TO_LEFT.match(self.text)

    def gap(self, other: "_Piece") -> float:
        """Return the distance to another piece of the line, in heights of the taller piece."""
        return max(self.left - other.right, other.left - self.right) / max(self.height, other.height, 1.0)

    def apart(self, other: "_Piece") -> bool:
        """Return whether a space is between both pieces."""
        if abs(self.at - other.at) == 1:
            return max(self, other, key=lambda piece: piece.at).spaced
        return self.gap(other) > _APART


def in_order(line: str, box: Callable[[int], Box | None], *, leftward: bool) -> str:
    """Return a line in reading order. `box` returns the position of a character.

    `leftward` is whether the page is mostly right-to-left. On another page, a line of mostly Latin letters remains
    unchanged.
    """
    own = len(RIGHT_TO_LEFT.findall(line))
    if not leftward and own <= len(_LATIN.findall(line)):
        return line
    pieces: list[_Piece] = []
    for found in _PIECE.finditer(line):
        # A word extends from its first to its last character.
        boxes = [one for at in {found.start(), found.end() - 1} if (one := box(at)) is not None]
        if not boxes:
            return line
        height = max(top - bottom for _, _, bottom, top in boxes)
        spaced = line[found.start() - 1 : found.start()].isspace()
        pieces.append(
            _Piece(found[0], len(pieces), spaced, min(one[0] for one in boxes), max(one[1] for one in boxes), height)
        )
    ordered = ""
    before = None
    for group in _groups(sorted(pieces, key=lambda piece: -piece.left - piece.right)):
        # A reversed group keeps the space to its former neighbour.
        if before is not None and group[0].apart(before):
            ordered += " "
        ordered += _joined(group[::-1])
        before = group[-1]
    if Counter(ordered.replace(" ", "")) == Counter("".join(line.split())):
        return ordered
    return line


def _groups(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Return groups of pieces from the right. Pieces that are read left to right are in one group."""
    groups: list[list[_Piece]] = []
    run: list[_Piece] = []
    for piece in [*pieces, None]:
        if run and (piece is None or RIGHT_TO_LEFT.match(piece.text) or run[-1].gap(piece) > _FAR):
            # Numbers and signs left of the last Latin word are read after the Latin words.
            last = max((at for at, one in enumerate(run) if one.latin), default=-1)
            groups += [run[: last + 1], *([one] for one in run[last + 1 :])]
            run = []
        if piece is not None and (run or piece.rightward):
            run.append(piece)
        elif piece is not None:
            groups.append([piece])
    return [group for group in groups if group]


def _joined(pieces: list[_Piece]) -> str:
    parts: list[str] = []
    before: _Piece | None = None
    for piece in pieces:
        parts.append(f" {piece.text}" if before is not None and piece.apart(before) else piece.text)
        before = piece
    return "".join(parts)
