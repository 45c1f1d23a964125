"""The nodes of a Markdown text: two closed unions, blocks and inline nodes, that the writer of each vendor matches.

Blocks hold the numbers of their source lines. HTML has no node of its own; it is plain text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never


@dataclass(frozen=True, slots=True)
class Text:
    """Plain characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Bold parts."""

    parts: "Sequence[InlineNode]"


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Italic parts."""

    parts: "Sequence[InlineNode]"


@dataclass(frozen=True, slots=True)
class Strike:
    """Struck parts."""

    parts: "Sequence[InlineNode]"


@dataclass(frozen=True, slots=True)
class Code:
    """Inline code."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to an address of any scheme."""

    address: str
    parts: "Sequence[InlineNode]"


@dataclass(frozen=True, slots=True)
class Image:
    """An image. Writers show its alternative text as a link."""

    address: str
    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break inside a paragraph."""

    hard: bool
    """Whether the author requested the line break."""


InlineNode = Text | Strong | Emphasis | Strike | Code | Link | Image | Break


@dataclass(frozen=True, slots=True)
class Words:
    """The inline content of a block."""

    source: str
    parts: Sequence[InlineNode]
    """The inline nodes; empty in an outline."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    lines: range
    words: Words


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    lines: range
    words: Words
    level: int


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list."""

    lines: range
    blocks: "Sequence[BlockNode]"
    done: bool | None
    """Whether the item's check box is ticked; None for an item without a check box, and in an outline."""


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list with bullets or numbers."""

    lines: range
    items: Sequence[Item]
    start: int | None
    """The first number; None for bullets."""

    def numbered(self) -> Iterator[tuple[int | None, Item]]:
        """Yield each item with its number, or with None in a list with bullets."""
        for place, item in enumerate(self.items):
            yield (None if self.start is None else self.start + place), item


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted blocks."""

    lines: range
    blocks: "Sequence[BlockNode]"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Fenced or indented code."""

    lines: range
    text: str
    info: str
    """The language and the rest of the line after the opening fence."""
    fence: str
    """The characters of the fence; empty for indented code."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. Each row has as many cells as the header."""

    lines: range
    header: Sequence[Words]
    rows: Sequence[Sequence[Words]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule."""

    lines: range


BlockNode = Paragraph | Heading | ItemList | Quote | CodeBlock | Table | Rule


def every(nodes: Iterable[BlockNode | Item]) -> Iterator[BlockNode | Item]:
    """Yield each node, followed by all nodes inside it."""
    for node in nodes:
        yield node
        match node:
            case ItemList():
                yield from every(node.items)
            case Item() | Quote():
                yield from every(node.blocks)
            case Paragraph() | Heading() | CodeBlock() | Table() | Rule():
                pass
            case _:
                assert_never(node)


def plain(parts: Iterable[InlineNode]) -> str:
    """Return the text of inline nodes without marks; each break becomes a space."""
    return "".join(map(_plain, parts))


def _plain(part: InlineNode) -> str:
    match part:
        case Text() | Code() | Image():
            return part.text
        case Strong() | Emphasis() | Strike() | Link():
            return plain(part.parts)
        case Break():
            return " "
        case _:
            assert_never(part)
