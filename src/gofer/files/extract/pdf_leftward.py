"""The order of words, numbers and signs in a line of a PDF that runs leftwards.

A page holds what is seen. Words are read from the right, and those of Latin letters that stand beside each other from
the left, with the numbers behind them.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gofer.files.extract.pdf_lines import LEFTWARD, RIGHT_TO_LEFT, Box

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
