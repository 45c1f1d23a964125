"""Markdown from texts of models and outsiders: nothing in them is markup, a link or a mention.

Inside code spans and code blocks, neither Markdown nor HTML is markup, and a forge makes no mentions and no links.
Titles and messages of commits have no code spans, so `plain` takes the marks themselves away.
"""

import html
import re
from collections.abc import Sequence

from gofer.evals.reports import wording
from gofer.sources.outgoing_text import plain_words
from gofer.values.addresses import NONE_LIVE
from gofer.values.visible_text import visible

_FENCES = re.compile(r"`+")
MOST_CHARACTERS = 200
"""The most characters of one code span or of one line of a code block."""
_MARKS = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "\\": "/", "*": None, "~": None, "|": "¦"})
"""The characters of Markdown, HTML and notes such as `[skip ci]`, and what stands for them."""
_EMPHASIS = re.compile(r"(?<!\w)_+|_+(?!\w)")
_REFERENCE = re.compile(r"(?<!\[)([@#])(?=\w)|(?<=\bGH)(-)(?=\d)", re.IGNORECASE)
"""The sign of a mention or of an issue, which a closing word before it would close."""
_ORDER = re.compile(r"^(?:(?:fixup|squash|amend)!\s*)+|^([A-Za-z]+(?:-[A-Za-z]+)+)\s*:", re.IGNORECASE)
"""A beginning that Git obeys: a note for a rebase, or a trailer such as `Co-authored-by:`."""


def code(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text as a code span on one line; empty for an empty text."""
    line = wording.short(text, most)
    if not line:
        return ""
    marks = fence(line, 1)
    if "`" in line:
        return f"{marks} {line} {marks}"
    return f"{marks}{line}{marks}"


def plain(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text as one line in which neither Git nor a forge finds an order, markup, an address or a mention."""
    # The marks of an entity such as `&#64;` count too, however often it is written as one.
    while (read := html.unescape(text)) != text:
        text = read
    line = _EMPHASIS.sub("", wording.short(visible(text), most).translate(_MARKS)).strip()
    line = _ORDER.sub(lambda found: f"{found[1]} -" if found[1] else "", line)
    return _REFERENCE.sub(lambda found: f"[{found[0]}]", plain_words(line, NONE_LIVE))


def cell(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text as a code span in a cell of a table, where a vertical bar would begin the next cell."""
    return code(text.replace("|", "¦"), most)


def block(lines: Sequence[str], language: str = "") -> Sequence[str]:
    """Return lines as a code block."""
    cut = [wording.short(line, MOST_CHARACTERS) for line in lines]
    marks = fence("\n".join(cut), 3)
    return [f"{marks}{language}", *cut, marks]


def fence(text: str, least: int) -> str:
    """Return more backticks than the text has in a row, at least `least`."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=0)
    return "`" * max(least, longest + 1)


class BoundedText:
    """A text of at most so many bytes, which says what it leaves out."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._blocks: list[str] = []

    def add(self, lines: Sequence[str]) -> bool:
        """Add lines if all of them fit, and return whether they do."""
        text = "".join(f"{line}\n" for line in lines)
        size = len(text.encode())
        if size > self._left:
            return False
        self._left -= size
        self._blocks.append(text)
        return True

    def add_rows(
        self, opening: Sequence[str], rows: Sequence[Sequence[str]], closing: Sequence[str], *, most: int
    ) -> None:
        """Add the first `most` rows that fit between `opening` and `closing`, and the number of the others."""
        room = BoundedText(self._left - _bytes([*opening, *closing, _left_out(len(rows))]) - 1)
        shown = 0
        for row in rows[:most]:
            if not room.add(row):
                break
            shown += 1
        note: Sequence[str] = ()
        if shown < len(rows):
            note = [_left_out(len(rows) - shown), ""]
        self.add([*opening, *(line for row in rows[:shown] for line in row), *note, *closing])

    def text(self) -> str:
        """Return the whole text."""
        return "".join(self._blocks)


def _left_out(number: int) -> str:
    return f"\n{number:,} more are in the HTML report among the artifacts."


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
