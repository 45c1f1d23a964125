"""The blocks of a Markdown text: their lines, and the share of a Slack message that each one uses.

Slack treats HTML as plain text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import assert_never

from gofer.sources import markdown_nodes as md
from gofer.sources.markdown import outline

BLOCK_SIZE = 135
"""The characters that Slack counts for each block in addition to its text.

Measured: 125 for a rule, 134 for a heading.
"""
MESSAGE_SIZE = 12_400
"""The most characters of all blocks of a text, BLOCK_SIZE for each included.

Slack refuses about 13,200 (`msg_blocks_too_long`); the difference is for the links below a message.
"""
_ENTITIES = {"&": len("&amp;"), "<": len("&lt;"), ">": len("&gt;")}


@dataclass(frozen=True, slots=True)
class Cost:
    """The share of one message that a Markdown text uses."""

    characters: int = 0
    blocks: int = 0
    rows: int = 0
    """The rows of all tables."""
    cells: int = 0
    """The characters in the cells of all tables."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            characters=self.characters + other.characters,
            blocks=self.blocks + other.blocks,
            rows=self.rows + other.rows,
            cells=self.cells + other.cells,
        )

    def within(self, most: "Cost") -> bool:
        """Return whether this cost exceeds neither `most` in any field nor the size of one message."""
        return (
            self.characters + BLOCK_SIZE * self.blocks <= MESSAGE_SIZE
            and self.characters <= most.characters
            and self.blocks <= most.blocks
            and self.rows <= most.rows
            and self.cells <= most.cells
        )


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a text, or one item of a list."""

    node: md.BlockNode | md.Item
    lines: Sequence[str]
    """The lines of the block, and lines after it that belong to no block, such as link definitions."""
    apart: bool
    """Whether an empty line precedes the block."""
    cost: Cost

    @property
    def text(self) -> str:
        """Return the Markdown of the block."""
        return "\n".join(self.lines)

    @property
    def flows(self) -> bool:
        """Return whether Slack merges this block with neighbours that flow too."""
        return not _is_own(self.node) and self.cost.blocks <= 1


def characters(text: str) -> int:
    """Return the length of a text in UTF-16 units, with `&`, `<` and `>` as entities.

    Slack does not document how it counts. This is the largest count that is possible.
    """
    units = len(text.encode("utf-16-le", "replace")) // 2
    return units + sum((size - 1) * text.count(char) for char, size in _ENTITIES.items())


def within(text: str, most: int) -> int:
    """Return how many code points of a text fit into `most` `characters`; at least one."""
    size = 0
    for place, char in enumerate(text[:most]):
        size += _ENTITIES.get(char, 1 + (char > "\uffff"))
        if size > most:
            return max(1, place)
    return max(1, min(len(text), most))


def normal(markdown: str) -> str:
    """Return the text with \\n as line end, without NUL, and without empty lines at its beginning and end."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def blocks(markdown: str) -> Sequence[Block]:
    """Return the blocks of a `normal` text in order. Together they hold all lines except empty lines between blocks."""
    lines = markdown.split("\n")
    found = list(_cut(lines, _outline(markdown)))
    if found or not markdown:
        return found
    # A text of link definitions has no block.
    return [_block(md.Paragraph(range(len(lines)), md.Words(markdown, ())), lines, apart=False)]


def items(block: Block) -> Sequence[Block]:
    """Return the items of a list, each with its marker and its content."""
    lists = (node for node in _outline(block.text) if isinstance(node, md.ItemList))
    return list(_cut(block.lines, [item for one in lists for item in one.items]))


def cost(markdown: str) -> Cost:
    """Return the share of one message that a `normal` text uses."""
    found = blocks(markdown)
    apart = _total(block.cost for block in found)
    return Cost(characters=characters(markdown), blocks=_expanded(found), rows=apart.rows, cells=apart.cells)


def widest_table(markdown: str) -> int:
    """Return the number of columns of the widest table in a `normal` text; 0 if it has no table."""
    return max((len(node.header) for node in md.every(_outline(markdown)) if isinstance(node, md.Table)), default=0)


@lru_cache(maxsize=8)
def _outline(markdown: str) -> Sequence[md.BlockNode]:
    """Return the outline of a text; cached, because width, cost and blocks of a text need it one after the other."""
    return outline(markdown)


def _expanded(found: Sequence[Block]) -> int:
    """Return the number of blocks that Slack makes of a text.

    Slack makes one block of each heading, table, rule and fence, and one of all text between two of these. A list or
    quote that contains one of these counts as if it ended there.
    """
    ends = [True, *(_is_own(block.node) or block.cost.blocks > 1 for block in found)]
    flows = sum(not _is_own(block.node) and ends[index] for index, block in enumerate(found))
    inner = sum(block.cost.blocks - 1 for block in found)
    return flows + inner + sum(_is_own(block.node) for block in found)


def _total(found: Iterable[Cost]) -> Cost:
    return sum(found, Cost())


def _cut(lines: Sequence[str], nodes: Sequence[md.BlockNode | md.Item]) -> Iterator[Block]:
    # Lines before the first block count to this block; other lines between blocks count to the block before them.
    bounds = [0, *(node.lines.start for node in nodes[1:]), len(lines)]
    for place, node in enumerate(nodes):
        own = list(lines[bounds[place] : bounds[place + 1]])
        while own and not own[-1].strip():
            own.pop()
        if not own:
            # The parser takes some white space for text, such as U+0085, so a block can be empty.
            continue
        apart = bounds[place] > 0 and not lines[bounds[place] - 1].strip()
        yield _block(node, own, apart=apart)


def _block(node: md.BlockNode | md.Item, lines: Sequence[str], *, apart: bool) -> Block:
    inner = _total(map(_taken, md.every([node])))
    around = isinstance(node, md.ItemList | md.Item | md.Quote)
    taken = replace(inner, characters=characters("\n".join(lines)), blocks=max(1, inner.blocks + around))
    return Block(node, lines, apart, taken)


def _taken(node: md.BlockNode | md.Item) -> Cost:
    """Return the cost of a node without the characters of its text and without its inner nodes."""
    match node:
        case md.Table():
            rows = [node.header, *node.rows]
            cells = sum(max(1, characters(cell.source)) for row in rows for cell in row)
            return Cost(blocks=1, rows=len(rows), cells=cells)
        case md.Paragraph() | md.Heading() | md.ItemList() | md.Item() | md.Quote() | md.CodeBlock() | md.Rule():
            return Cost(blocks=int(_is_own(node)))
        case _:
            assert_never(node)


def _is_own(node: md.BlockNode | md.Item) -> bool:
    """Return whether Slack makes a separate block of a node."""
    match node:
        case md.Heading() | md.Table() | md.Rule():
            return True
        case md.CodeBlock():
            return bool(node.fence)
        case md.Paragraph() | md.ItemList() | md.Item() | md.Quote():
            return False
        case _:
            assert_never(node)


def fenced(lines: Sequence[str]) -> str:
    """Return lines inside a fence that is longer than any fence in the lines."""
    mark = "```"
    while any(mark in line for line in lines):
        mark += "`"
    return "\n".join([mark, *lines, mark])
