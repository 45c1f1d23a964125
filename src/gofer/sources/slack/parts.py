"""How is text kept from paging people, whatever it says?

Slack acts on `<!channel>`, `<@U…>` and the like wherever they stand, also in Markdown, and on a plain `@channel` where
a message asks for it. A model's words must do neither, however they are escaped.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gofer.sources.markdown_nodes import Heading, ItemList, Quote
from gofer.sources.part_values import Composed
from gofer.sources.slack.block_cuts import divided, halved
from gofer.sources.slack.markdown import Block, Cost, blocks, characters, cost, fenced, items, normal, widest_table

JOINER = "\u2060"
"""An invisible character of no width: it stands where Slack would begin to read a mention."""

_OPENING = r"<|&lt;?|&LT;?|&#0*60;?|&#[xX]0*3[cC];?"
_AT = r"@|&commat;|&#0*64;?|&#[xX]0*40;?"
_ENTITY = re.compile(rf"({_OPENING})(?=([^\s{JOINER}]{{1,12}}))")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9])({_AT})(?=([\w&#;]{{4,80}}))")
_GROUPS = ("channel", "here", "everyone")


def neutral(text: str) -> str:
    """Text that looks the same and pages nobody; doing it twice is doing it once."""
    entities = _ENTITY.sub(lambda found: found[1] + JOINER * _begins_entity(found[2]), text)
    return _PLAIN.sub(lambda found: found[1] + JOINER * _names_group(found[2]), entities)


def _begins_entity(after: str) -> bool:
    """Whether what follows a `<` makes it a mention, as itself or behind an escape."""
    return html.unescape(after).removeprefix("\\").startswith(("!", "@", "#"))


def _names_group(after: str) -> bool:
    return html.unescape(after).casefold().startswith(_GROUPS)


ONE_MESSAGE = Cost(characters=11_000, blocks=45, rows=100, cells=9_000)
"""Less than what Slack takes: about 13,200 characters in all blocks of a message together, as people measured; 50
blocks once it has made its own of the Markdown (some are left for links); tables of 100 rows with 10,000 characters
in all cells."""
COLUMNS = 20
"""Columns of a table that Slack takes; a wider one is shown as it was written."""
MESSAGES = 4
"""Messages an answer may take; what is longer goes into a file."""
BEGINNING = 3_000
"""Characters of an answer shown beside the file that holds it all."""

_QUOTE = re.compile(r" {0,3}>[ ]?")
_MARKER = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)|[ \t]*$| (?=\s))")
_DEEPEST = 8
_LINES_ADDED = 8
"""Lines that a message may have more than the text it is made of: two where a long line was cut."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something that goes into one message as a whole."""

    text: str
    apart: bool
    """Whether an empty line stands before it, when it is not the first of its message."""
    cost: Cost
    heading: bool = False
    flows: bool = False
    """Whether Slack shows it in one block with a neighbour that flows too."""


def compose(markdown: str) -> Composed:
    """The messages of an answer, or its beginning and a file."""
    markdown = normal(markdown)
    if len(markdown) <= MESSAGES * ONE_MESSAGE.characters:
        messages = split(markdown)
        if len(messages) <= MESSAGES:
            return Composed(messages)
    return Composed(split(markdown[: 2 * BEGINNING], replace(ONE_MESSAGE, characters=BEGINNING))[:1], file=markdown)


def split(markdown: str, most: Cost = ONE_MESSAGE) -> Sequence[str]:
    """Markdown of each message, in order, neutral and within `most`; none for a text without words."""
    text = _without_wide_tables(normal(neutral(markdown)))
    if cost(text).within(most):
        return (text,) if text else ()
    packer = _Packer(most)
    packer.fill(blocks(text))
    return packer.finish()


def one_message(markdown: str) -> str | None:
    """The text as one message takes it, or None when it does not fit."""
    messages = split(markdown) if len(markdown) <= ONE_MESSAGE.characters else ()
    return messages[0] if len(messages) == 1 else None


class _Packer:
    """Fills message after message, in order; the first one has `room` characters left."""

    def __init__(self, most: Cost, room: int | None = None, depth: int = 0) -> None:
        self.messages: list[str] = []
        self._most = most
        self._depth = depth
        self._pieces: list[_Piece] = []
        self._taken = Cost(0 if room is None else most.characters - room)

    def fill(self, found: Sequence[Block]) -> None:
        """Adds blocks, divided where they must be."""
        divided_before = False
        for block in found:
            piece = _Piece(
                block.text, block.apart or divided_before, block.cost, isinstance(block.node, Heading), block.flows
            )
            whole = self._fits(piece) or (block.cost.within(self._most) and self._well_filled())
            for part in [piece] if whole else self._divided(block, piece.apart):
                self._add(part)
            divided_before = not whole

    def finish(self) -> Sequence[str]:
        """All messages."""
        self._end(self._pieces)
        return self.messages

    def _divided(self, block: Block, apart: bool) -> Sequence[_Piece]:
        if self._most.characters - self._taken.characters - 2 < self._most.characters // 8:
            self._flush()
        room = self._most.characters - self._taken.characters - 2 * bool(self._pieces)
        return _pieces(block, apart, room, self._most, self._depth)

    def _flush(self) -> None:
        """Ends a message; headings at its end move to the next one."""
        kept = len(self._pieces)
        while kept and self._pieces[kept - 1].heading:
            kept -= 1
        ended, moved = self._pieces[:kept], self._pieces[kept:]
        self._end(ended or moved)
        for piece in moved if ended else []:
            self._add(piece)

    def _end(self, pieces: Sequence[_Piece]) -> None:
        text = _joined(pieces)
        # What stands together could read as something else than what stands alone.
        ended = [text] if cost(text).within(self._most) else [piece.text for piece in pieces]
        self.messages += filter(None, ended)
        self._pieces, self._taken = [], Cost()

    def _well_filled(self) -> bool:
        """Whether a message may end here, so that what comes next stays whole."""
        return 4 * self._taken.characters >= self._most.characters

    def _fits(self, piece: _Piece) -> bool:
        return self._with(piece).within(self._most)

    def _with(self, piece: _Piece) -> Cost:
        """Return what the message takes together with one more piece."""
        taken = self._taken + Cost(2) + piece.cost
        if piece.flows and self._pieces and self._pieces[-1].flows:
            return replace(taken, blocks=self._taken.blocks)
        return taken

    def _add(self, piece: _Piece) -> None:
        if not self._fits(piece):
            self._flush()
            # The headings that moved may leave too little room.
            if self._pieces and not self._fits(piece):
                self._end(self._pieces)
        self._taken = self._with(piece)
        self._pieces.append(piece)


def _joined(pieces: Sequence[_Piece]) -> str:
    text = ""
    for piece in pieces:
        text += ("\n\n" if piece.apart else "\n") + piece.text if text else piece.text
    return text


def _pieces(block: Block, apart: bool, room: int, most: Cost, depth: int) -> Sequence[_Piece]:
    """A block as pieces that fit; the first one into `room` characters, where that can be."""
    match block.node:
        case ItemList() if depth < _DEEPEST:
            return _list_pieces(block, apart, room, most, depth)
        case Quote() if depth < _DEEPEST:
            inner = [_QUOTE.sub("", line, count=1) for line in block.lines]
            chunks = _inside(inner, characters("> "), room, most, depth)
            quoted = ["\n".join(f"> {line}".rstrip() for line in chunk.split("\n")) for chunk in chunks]
            return _fitting(quoted, True, most)
        case _:
            return _fitting(divided(block, room, most), apart, most)


def _list_pieces(block: Block, apart: bool, room: int, most: Cost, depth: int) -> Sequence[_Piece]:
    pieces: list[_Piece] = []
    loose = apart
    for item in items(block):
        if item.cost.within(most):
            pieces.append(_Piece(item.text, item.apart or loose, item.cost))
            loose = False
        else:
            pieces += _item_pieces(item, room, most, depth)
            loose = True
    return pieces


def _item_pieces(item: Block, room: int, most: Cost, depth: int) -> Sequence[_Piece]:
    """An item too long for a message: its marker stays with its beginning, the rest follows without."""
    marker = _MARKER.match(item.lines[0])
    width = marker.end() if marker else 0
    inner = [item.lines[0][width:], *(_outdented(line, width) for line in item.lines[1:])]
    first, *others = _inside(inner, width, room, most, depth) or [""]
    opened = "\n".join(" " * width + line if line else "" for line in first.split("\n"))[width:]
    return _fitting([(marker[0] if marker else "") + opened, *others], True, most)


def _inside(lines: Sequence[str], prefix: int, room: int, most: Cost, depth: int) -> Sequence[str]:
    """What stands inside an item or a quote, as texts that fit with a prefix of so many characters on each line."""
    overhead = min(prefix * (len(lines) + _LINES_ADDED), most.characters * 2 // 3)
    within = replace(most, characters=most.characters - overhead)
    packer = _Packer(within, max(1, room - overhead), depth + 1)
    packer.fill(blocks(normal("\n".join(lines))))
    return packer.finish()


def _fitting(texts: Sequence[str], apart: bool, most: Cost) -> Sequence[_Piece]:
    """Texts as pieces; one that still does not fit is halved until it does."""
    pieces: list[_Piece] = []
    for text in texts:
        taken = cost(text)
        if taken.within(most) or len(text) < 2:
            pieces.append(_Piece(text, apart or bool(pieces), taken))
            continue
        halves = [half for half in halved(text) if half.strip()]
        pieces += _fitting(halves, apart or bool(pieces), most)
    return pieces


def _outdented(line: str, width: int) -> str:
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, width) :]


def _without_wide_tables(text: str) -> str:
    if widest_table(text) <= COLUMNS:
        return text
    shown = (fenced(block.lines) if widest_table(block.text) > COLUMNS else block.text for block in blocks(text))
    return "\n\n".join(shown)
