"""The blocks of a Markdown text: where they stand, and how much of a Slack message they take.

Blocks are found by a CommonMark parser with tables and strikethrough, which is what Slack's markdown block reads.
HTML is plain text to Slack.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

Kind = Literal["text", "fence", "table", "list", "quote", "heading", "rule", "code"]

_KINDS: dict[str, Kind] = {
    "fence": "fence",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "heading_open": "heading",
    "hr": "rule",
    "code_block": "code",
}
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_BLOCKS_ONLY = MarkdownIt("commonmark", {"html": False}).enable(["table"]).disable(["inline", "text_join"])
_OWN_BLOCK: frozenset[Kind] = frozenset({"fence", "table", "heading", "rule"})
_OWN_TOKENS = frozenset(token for token, kind in _KINDS.items() if kind in _OWN_BLOCK)
BLOCK_SIZE = 135
"""Characters that each block takes besides its text. People measured 125 for a rule and 134 for a heading."""
MESSAGE_SIZE = 12_400
"""Characters of the blocks of a text and of what they take besides. Slack refuses about 13,200 (`msg_blocks_too_long`);
the rest is for the links under a message."""
_ENTITIES = {"&": len("&amp;"), "<": len("&lt;"), ">": len("&gt;")}
_AROUND = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"})


@dataclass(frozen=True, slots=True)
class Cost:
    """What Markdown takes of one message."""

    characters: int = 0
    blocks: int = 0
    rows: int = 0
    """Rows of its tables."""
    cells: int = 0
    """Characters in the cells of its tables."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            characters=self.characters + other.characters,
            blocks=self.blocks + other.blocks,
            rows=self.rows + other.rows,
            cells=self.cells + other.cells,
        )

    def within(self, most: "Cost") -> bool:
        """Return whether it is no more than `most` in any respect, and no more than one message takes in all."""
        return (
            self.characters + BLOCK_SIZE * self.blocks <= MESSAGE_SIZE
            and self.characters <= most.characters
            and self.blocks <= most.blocks
            and self.rows <= most.rows
            and self.cells <= most.cells
        )


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a text."""

    kind: Kind
    lines: Sequence[str]
    """Its lines, with what belongs to none, such as link definitions, at the block before it."""
    apart: bool
    """Whether an empty line stands before it."""
    cost: Cost
    markup: str = ""
    """For a fence: the characters that open and close it."""
    info: str = ""
    """For a fence: its language."""
    columns: int = 0
    """For a table."""

    @property
    def text(self) -> str:
        """Its source."""
        return "\n".join(self.lines)

    @property
    def flows(self) -> bool:
        """Whether Slack shows it in one block with its neighbours that flow too."""
        return self.kind not in _OWN_BLOCK and self.cost.blocks <= 1


def characters(text: str) -> int:
    """Return the length of a text in UTF-16 units, with `&`, `<` and `>` as entities.

    Slack does not say what it counts, and this is the largest of the numbers that it may be.
    """
    units = len(text.encode("utf-16-le", "replace")) // 2
    return units + sum((size - 1) * text.count(char) for char, size in _ENTITIES.items())


def within(text: str, most: int) -> int:
    """Return how many code points of a text have at most so many `characters`; at least one."""
    size = 0
    for place, char in enumerate(text[:most]):
        size += _ENTITIES.get(char, 1 + (char > "\uffff"))
        if size > most:
            return max(1, place)
    return max(1, min(len(text), most))


def normal(markdown: str) -> str:
    """The text with plain line ends, without NUL and without empty lines around it."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def blocks(markdown: str) -> Sequence[Block]:
    """The blocks of a `normal` text, in order; together they hold all of its lines but empty ones between them."""
    tokens = _tokens(markdown)
    lines = markdown.split("\n")
    tops = [(index, token) for index, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    return list(_cut(lines, tokens, tops)) or ([_block("text", lines, False, [])] if markdown else [])


def items(block: Block) -> Sequence[Block]:
    """The items of a list, each with its marker and all that is in it."""
    tokens = _tokens(block.text)
    tops = [(index, token) for index, token in enumerate(tokens) if token.type == "list_item_open" and token.level == 1]
    return list(_cut(block.lines, tokens, tops))


def cost(markdown: str) -> Cost:
    """What a `normal` text takes of one message."""
    found = blocks(markdown)
    apart = _total(found)
    return Cost(characters=characters(markdown), blocks=_expanded(found), rows=apart.rows, cells=apart.cells)


def widest_table(markdown: str) -> int:
    """Columns of the widest table anywhere in a `normal` text; 0 when it has none."""
    tokens = _tokens(markdown)
    opens = [index for index, token in enumerate(tokens) if token.type == "tr_open"]
    return max((_columns(tokens[index:]) for index in opens), default=0)


def parse(markdown: str) -> Sequence[Token]:
    """The tokens of a text, with what is inside its lines."""
    return _PARSER.parse(markdown)


@lru_cache(maxsize=8)
def _tokens(markdown: str) -> Sequence[Token]:
    """The tokens of blocks. The same text is asked for by its width, its cost and its blocks, one after the other."""
    return _BLOCKS_ONLY.parse(markdown)


def _expanded(found: Sequence[Block]) -> int:
    """Slack makes one block of each heading, table, rule and fence, and one of all that stands between two of them.

    A list or a quote with one of them inside is taken to end with it.
    """
    ends = [True, *(block.kind in _OWN_BLOCK or block.cost.blocks > 1 for block in found)]
    flows = sum(block.kind not in _OWN_BLOCK and ends[index] for index, block in enumerate(found))
    inner = sum(block.cost.blocks - 1 for block in found)
    return flows + inner + sum(block.kind in _OWN_BLOCK for block in found)


def _total(found: Sequence[Block]) -> Cost:
    total = Cost()
    for block in found:
        total += block.cost
    return total


def _cut(lines: Sequence[str], tokens: Sequence[Token], tops: Sequence[tuple[int, Token]]) -> Iterator[Block]:
    starts = [token.map[0] if token.map else 0 for _, token in tops]
    # Lines before the first block belong to it, all others to the block before them.
    bounds = [0, *starts[1:], len(lines)]
    for place, (index, token) in enumerate(tops):
        own = list(lines[bounds[place] : bounds[place + 1]])
        while own and not own[-1].strip():
            own.pop()
        if not own:
            # The parser knows fewer kinds of white space than people see, as U+0085.
            continue
        after = tops[place + 1][0] if place + 1 < len(tops) else len(tokens)
        apart = bounds[place] > 0 and not lines[bounds[place] - 1].strip()
        yield _block(_KINDS.get(token.type, "text"), own, apart, tokens[index:after])


def _block(kind: Kind, lines: Sequence[str], apart: bool, tokens: Sequence[Token]) -> Block:
    inner = sum(token.type in _OWN_TOKENS for token in tokens)
    rows = sum(token.type == "tr_open" for token in tokens)
    cells = [token for place, token in enumerate(tokens) if place and tokens[place - 1].type in ("td_open", "th_open")]
    taken = Cost(
        characters=characters("\n".join(lines)),
        blocks=max(1, inner + bool(tokens and tokens[0].type in _AROUND)),
        rows=rows,
        cells=sum(max(1, characters(cell.content)) for cell in cells),
    )
    first = tokens[0] if tokens else None
    return Block(
        kind,
        lines,
        apart,
        taken,
        markup=first.markup if first and kind == "fence" else "",
        info=first.info if first and kind == "fence" else "",
        columns=_columns(tokens) if kind == "table" else 0,
    )


def _columns(tokens: Sequence[Token]) -> int:
    """Cells of the first row."""
    count = 0
    for token in tokens:
        if token.type == "tr_close":
            break
        count += token.type in ("th_open", "td_open")
    return count


def fenced(lines: Sequence[str]) -> str:
    """Lines as a fence that none of them can end."""
    mark = "```"
    while any(mark in line for line in lines):
        mark += "`"
    return "\n".join([mark, *lines, mark])
