"""The lines of a PDF's page: where each ends, what is raised on it, and the order in which it is read.

PDFium ends a line where the height of the text changes much, which a raised mark does as well, and does not always end
one where it should.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

from gofer.files.extract.notation import raised

_CAREFULLY = 5_000
"""Characters of a page up to which each is looked at."""

_MOST_MARKS = 4
# A line that begins with one space or with nothing but a sign may go on another one, and so may one behind a formula.
# The line end stands first: it is searched for as such, and what is around it is looked at there only.
_GOES_ON = re.compile(r"\r\n(?:(?<=\S\r\n)(?= \S|[.,;:!?)\]]+(?:\s|$))|(?<=[^\W\d]\d\r\n)(?=\w))")
LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RIGHT_TO_LEFT = re.compile(f"[{LEFTWARD}]")
_ENDS_FIRST = re.compile(rf"^([.,:;!?؟،؛]) ?(?=[^\w\s]*[{LEFTWARD}])(.*)$", re.DOTALL)
_BRACKETS = str.maketrans("()[]{}«»", ")(][}{»«")
_OPENS = {")": "(", "]": "[", "}": "{"}

Box = tuple[float, float, float, float]
"""Left, right, bottom, top; heights grow upwards."""


class Lines:
    """The text of one page, and where each of its characters lies."""

    def __init__(self, page: pypdfium2.PdfTextPage, text: str) -> None:
        self._page = page
        self._text = text
        self._sides = tuple(ctypes.c_double() for _ in range(4))

    def whole(self) -> str:
        """Return the text with lines whole that only a raised mark divides; the mark stands raised."""
        if not _GOES_ON.search(self._text) or not self.plain():
            return self._text
        parts: list[str] = []
        done = 0
        for found in _GOES_ON.finditer(self._text):
            begin = found.end() + self._text.startswith(" ", found.end())
            if self._side_by_side(before := self.box(found.start() - 1), after := self.box(begin)):
                head = self._text[done : found.start()]
                marks = self._marks(found.start(), after) if before and after else 0
                parts.append(head[: len(head) - marks] + raised(head[len(head) - marks :]))
                done = found.end()
        return "".join([*parts, self._text[done:]])

    def divided(self, lines: int) -> str:
        """Return the text with line ends where it goes down and back, if the page has more lines than the text."""
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
        """Return whether places in the text are places on the page: each character has one code unit."""
        return max(self._text, default="") <= "\uffff"

    def box(self, at: int) -> Box | None:
        """Return where the character at a place of the text lies, if that is known."""
        place = pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, at)
        if place < 0 or not pdfium.FPDFText_GetCharBox(self._page, place, *self._sides):
            return None
        left, right, bottom, top = (side.value for side in self._sides)
        return left, right, bottom, top

    def _side_by_side(self, before: Box | None, after: Box | None) -> bool:
        """Return whether one stands behind the other on a line, each perhaps a little higher."""
        if before is None or after is None:
            return False
        height = before[3] - before[2]
        return after[0] >= before[1] - 1 and -height < before[2] - after[2] < 1.2 * height

    def _marks(self, end: int, after: Box | None) -> int:
        """Return how many characters before a place are figures that stand higher than what follows."""
        count = 0
        while after and count < _MOST_MARKS and self._text[end - 1 - count].isdigit():
            box = self.box(end - 1 - count)
            if box is None or box[2] < after[2] + (box[3] - box[2]) / 4 or box[2] <= after[2]:
                break
            count += 1
        return count


def reread(line: str) -> str:
    """Return a line that runs leftwards in reading order: its last sign comes last, brackets open before they close."""
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
"""Distance between two words that nothing else is known of, in heights."""

_FAR = 1.5
"""Distance, in heights, from which what stands beside each other does not belong together."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, a number or a sign, and where it lies."""

    text: str
    at: int
    """The how manieth it is in PDFium's order."""
    spaced: bool
    """Whether a space stands before it there."""
    left: float
    right: float
    height: float

    @property
    def latin(self) -> bool:
        return _LATIN.search(self.text) is not None

    @property
    def rightward(self) -> bool:
        """Whether it is of Latin letters or figures."""
        return any(map(str.isalnum, self.text)) and not RIGHT_TO_LEFT.match(self.text)

    def gap(self, other: "_Piece") -> float:
        """Return the distance to another on its line, in heights of the taller."""
        return max(self.left - other.right, other.left - self.right) / max(self.height, other.height, 1.0)

    def apart(self, other: "_Piece") -> bool:
        """Return whether a space stands between both."""
        if abs(self.at - other.at) == 1:
            return max(self, other, key=lambda piece: piece.at).spaced
        return self.gap(other) > _APART


def in_order(line: str, box: Callable[[int], Box | None], *, leftward: bool) -> str:
    """Return the line as it is read; `box` says where its characters lie, `leftward` whether the page runs so.

    A line of mostly Latin letters on a page of such is left as it is.
    """
    own = len(RIGHT_TO_LEFT.findall(line))
    if not leftward and own <= len(_LATIN.findall(line)):
        return line
    pieces: list[_Piece] = []
    for found in _PIECE.finditer(line):
        # A word lies between its first and its last character.
        boxes = [one for at in {found.start(), found.end() - 1} if (one := box(at)) is not None]
        if not boxes:
            return line
        height = max(top - bottom for _, _, bottom, top in boxes)
        spaced = line[found.start() - 1 : found.start()].isspace()
        pieces.append(
            _Piece(found[0], len(pieces), spaced, min(one[0] for one in boxes), max(one[1] for one in boxes), height)
        )
    said = ""
    before = None
    for group in _groups(sorted(pieces, key=lambda piece: -piece.left - piece.right)):
        # What is turned around keeps its distance to what stood beside it.
        if before is not None and group[0].apart(before):
            said += " "
        said += _joined(group[::-1])
        before = group[-1]
    if Counter(said.replace(" ", "")) == Counter("".join(line.split())):
        return said
    return line


def _groups(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Return pieces from the right; those that are read from the left are in one group."""
    groups: list[list[_Piece]] = []
    run: list[_Piece] = []
    for piece in [*pieces, None]:
        if run and (piece is None or RIGHT_TO_LEFT.match(piece.text) or run[-1].gap(piece) > _FAR):
            # Numbers and signs to the left of the last Latin word come after all of them.
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
