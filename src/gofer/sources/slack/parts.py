"""The division of a text into Slack messages that fit and that notify no person.

Slack acts on `<!channel>`, `<@U…>` and similar text anywhere, even in Markdown, and on a plain `@channel` if the
message requests it. A model's text must never trigger either, in any escaped form.
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
"""An invisible character of zero width. Inserted after `<` or `@`, it stops Slack from reading a mention."""

_OPENING = r"<|&lt;?|&LT;?|&#0*60;?|&#[xX]0*3[cC];?"
_AT = r"@|&commat;|&#0*64;?|&#[xX]0*40;?"
_ENTITY = re.compile(rf"({_OPENING})(?=([^\s{JOINER}]{{1,12}}))")
_PLAIN = re.compile(rf"(?<![A-Za-z0-9])({_AT})(?=([\w&#;]{{4,80}}))")
_GROUPS = ("channel", "here", "everyone")


def neutral(text: str) -> str:
    """Return text that looks the same and notifies no person. The function is idempotent."""
    entities = _ENTITY.sub(lambda found: found[1] + JOINER * _begins_entity(found[2]), text)
    return _PLAIN.sub(lambda found: found[1] + JOINER * _names_group(found[2]), entities)


def _begins_entity(after: str) -> bool:
    """Return whether the text after a `<` makes it a mention, escaped or not."""
    return html.unescape(after).removeprefix("\\").startswith(("!", "@", "#"))


def _names_group(after: str) -> bool:
    return html.unescape(after).casefold().startswith(_GROUPS)


ONE_MESSAGE = Cost(characters=11_000, blocks=45, rows=100, cells=9_000)
"""The limits of one message, below Slack's own.

Slack accepts about 13,200 characters in all blocks together (measured), 50 blocks after it has converted the Markdown
(some are left for links), and tables of 100 rows with 10,000 characters in all cells.
"""
COLUMNS = 20
"""The most columns that Slack accepts in a table. A wider table is shown as a block of code."""
MESSAGES = 4
"""The most messages of an answer. A longer answer becomes a file."""
BEGINNING = 3_000
"""The characters of an answer's beginning that are shown above the file with the whole answer."""

_QUOTE = re.compile(r" {0,3}>[ ]?")
_MARKER = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)|[ \t]*$| (?=\s))")
_DEEPEST = 8
_LINES_ADDED = 8
"""The most lines that dividing can add to a text, such as two where a long line was cut."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text that stays whole in one message."""

    text: str
    apart: bool
    """Whether an empty line precedes the piece, unless it is the first one of its message."""
    cost: Cost
    heading: bool = False
    flows: bool = False
    """Whether Slack merges this piece with a neighbour that flows too."""


def compose(markdown: str) -> Composed:
    """Return the messages of an answer, or its beginning and a file with all of it."""
    markdown = normal(markdown)
    if len(markdown) <= MESSAGES * ONE_MESSAGE.characters:
        messages = split(markdown)
        if len(messages) <= MESSAGES:
            return Composed(messages)
    return Composed(split(markdown[: 2 * BEGINNING], replace(ONE_MESSAGE, characters=BEGINNING))[:1], file=markdown)


def split(markdown: str, most: Cost = ONE_MESSAGE) -> Sequence[str]:
    """Return the Markdown of each message in order, `neutral` and within `most`; none for an empty text."""
    text = _without_wide_tables(normal(neutral(markdown)))
    if cost(text).within(most):
        if text:
            return (text,)
        return ()
    packer = _Packer(most)
    packer.fill(blocks(text))
    return packer.finish()


def one_message(markdown: str) -> str | None:
    """Return the text as one message, or None if it does not fit."""
    if len(markdown) > ONE_MESSAGE.characters:
        return None
    messages = split(markdown)
    if len(messages) == 1:
        return messages[0]
    return None


class _Packer:
    """A builder that fills one message after the other. The first message has `room` characters left."""

    def __init__(self, most: Cost, room: int | None = None, depth: int = 0) -> None:
        self.messages: list[str] = []
        self._most = most
        self._depth = depth
        self._pieces: list[_Piece] = []
        self._taken = Cost()
        if room is not None:
            self._taken = Cost(most.characters - room)

    def fill(self, found: Sequence[Block]) -> None:
        """Add blocks, and divide blocks that do not fit."""
        divided_before = False
        for block in found:
            piece = _Piece(
                block.text, block.apart or divided_before, block.cost, isinstance(block.node, Heading), block.flows
            )
            whole = self._fits(piece) or (block.cost.within(self._most) and self._well_filled())
            if whole:
                self._add(piece)
            else:
                for part in self._divided(block, piece.apart):
                    self._add(part)
            divided_before = not whole

    def finish(self) -> Sequence[str]:
        """Return all messages."""
        self._end(self._pieces)
        return self.messages

    def _divided(self, block: Block, apart: bool) -> Sequence[_Piece]:
        if self._most.characters - self._taken.characters - 2 < self._most.characters // 8:
            self._flush()
        room = self._most.characters - self._taken.characters - 2 * bool(self._pieces)
        return _pieces(block, apart, room, self._most, self._depth)

    def _flush(self) -> None:
        """End the current message, and move headings at its end to the next one."""
        kept = len(self._pieces)
        while kept and self._pieces[kept - 1].heading:
            kept -= 1
        ended = self._pieces[:kept]
        moved = self._pieces[kept:]
        if not ended:
            self._end(moved)
            return
        self._end(ended)
        for piece in moved:
            self._add(piece)

    def _end(self, pieces: Sequence[_Piece]) -> None:
        text = _joined(pieces)
        # The parser may read joined pieces differently from single ones, so the cost is measured again.
        ended = [text]
        if not cost(text).within(self._most):
            ended = [piece.text for piece in pieces]
        self.messages += filter(None, ended)
        self._pieces = []
        self._taken = Cost()

    def _well_filled(self) -> bool:
        """Return whether the message is full enough to end here, so that the next block stays whole."""
        return 4 * self._taken.characters >= self._most.characters

    def _fits(self, piece: _Piece) -> bool:
        return self._with(piece).within(self._most)

    def _with(self, piece: _Piece) -> Cost:
        """Return the cost of the message with one more piece."""
        taken = self._taken + Cost(2) + piece.cost
        if piece.flows and self._pieces and self._pieces[-1].flows:
            return replace(taken, blocks=self._taken.blocks)
        return taken

    def _add(self, piece: _Piece) -> None:
        if not self._fits(piece):
            self._flush()
            # The moved headings may leave too little room.
            if self._pieces and not self._fits(piece):
                self._end(self._pieces)
        self._taken = self._with(piece)
        self._pieces.append(piece)


def _joined(pieces: Sequence[_Piece]) -> str:
    text = ""
    for piece in pieces:
        if text and piece.apart:
            text += "\n"
        if text:
            text += "\n"
        text += piece.text
    return text


def _pieces(block: Block, apart: bool, room: int, most: Cost, depth: int) -> Sequence[_Piece]:
    """Return a block as pieces that fit; the first one fits into `room` characters if possible."""
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
    """Return an item that is too long for a message. The first piece keeps the marker; the others have none."""
    found = _MARKER.match(item.lines[0])
    marker = ""
    if found:
        marker = found[0]
    width = len(marker)
    inner = [item.lines[0][width:], *(_outdented(line, width) for line in item.lines[1:])]
    first, *others = _inside(inner, width, room, most, depth) or [""]
    opened = "\n".join(" " * width + line if line else "" for line in first.split("\n"))[width:]
    return _fitting([marker + opened, *others], True, most)


def _inside(lines: Sequence[str], prefix: int, room: int, most: Cost, depth: int) -> Sequence[str]:
    """Return the content of an item or quote as texts that fit when each line gets a prefix of `prefix` characters."""
    overhead = min(prefix * (len(lines) + _LINES_ADDED), most.characters * 2 // 3)
    within = replace(most, characters=most.characters - overhead)
    packer = _Packer(within, max(1, room - overhead), depth + 1)
    packer.fill(blocks(normal("\n".join(lines))))
    return packer.finish()


def _fitting(texts: Sequence[str], apart: bool, most: Cost) -> Sequence[_Piece]:
    """Return texts as pieces; halve a text that does not fit until its parts fit."""
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
    shown: list[str] = []
    for block in blocks(text):
        if widest_table(block.text) > COLUMNS:
            shown.append(fenced(block.lines))
        else:
            shown.append(block.text)
    return "\n\n".join(shown)
