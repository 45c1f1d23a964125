"""The library of the Markdown parser. `markdown.py` loads this module with the first text that is parsed."""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from gofer.sources.markdown import followed
from gofer.sources.markdown_nodes import (
    BlockNode,
    Break,
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Image,
    InlineNode,
    Item,
    ItemList,
    Link,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
    Words,
    plain,
)

_DEEPEST_BLOCK = 20
"""The deepest nesting of blocks that is kept; a list takes two levels. The parser drops text two levels deeper."""
_BOX = re.compile(r"\[([ xX])\] ")
_DEEPEST_MARKS = 20
"""The deepest nesting of marks that is kept.

The parser has no limit, and the vendors' writers recurse once per mark.
"""


def _parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": _DEEPEST_BLOCK + 2}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    parser.block.ruler.before("table", "deepest", _deepest)
    return parser


def _deepest(state: StateBlock, first: int, after: int, silent: bool) -> bool:
    """Read blocks that are nested too deep as one paragraph, so that no word is lost."""
    if state.level < _DEEPEST_BLOCK:
        return False
    state.push("paragraph_open", "p", 1).map = [first, after]
    words = state.push("inline", "", 0)
    words.content = state.getLines(first, after, state.blkIndent, False).strip()
    words.map = [first, after]
    words.children = []
    state.push("paragraph_close", "p", -1)
    state.line = after
    return True


_PARSER = _parser()
_BLOCKS_ONLY = _parser().disable(["inline", "text_join"])


def parse(markdown: str) -> Sequence[BlockNode]:
    """Return the blocks of a text with their inline nodes."""
    return tuple(_blocks(iter(_PARSER.parse(markdown))))


def outline(markdown: str) -> Sequence[BlockNode]:
    """Return the blocks of a text without their inline nodes. This is fast for texts of any length."""
    return tuple(_blocks(iter(_BLOCKS_ONLY.parse(markdown))))


def _blocks(tokens: Iterator[Token]) -> Iterator[BlockNode]:
    """Yield blocks up to the end of the enclosing block."""
    for token in tokens:
        if token.nesting < 0:
            return
        yield _block(token, tokens)


def _block(token: Token, tokens: Iterator[Token]) -> BlockNode:
    lines = _lines(token)
    match token.type:
        case "heading_open":
            return Heading(lines, _words(tokens), int(token.tag[1]))
        case "bullet_list_open":
            return ItemList(lines, tuple(_items(tokens)), None)
        case "ordered_list_open":
            return ItemList(lines, tuple(_items(tokens)), int(token.attrs.get("start", 1)))
        case "blockquote_open":
            return Quote(lines, tuple(_blocks(tokens)))
        case "fence":
            return CodeBlock(lines, token.content, info=token.info, fence=token.markup)
        case "code_block":
            return CodeBlock(lines, token.content, info="", fence="")
        case "table_open":
            header, *rows = _rows(tokens)
            return Table(lines, header, tuple(rows))
        case "hr":
            return Rule(lines)
        case _:
            # The only other block of this parser is a paragraph.
            return Paragraph(lines, _words(tokens))


def _lines(token: Token) -> range:
    return range(*token.map) if token.map else range(0)


def _items(tokens: Iterator[Token]) -> Iterator[Item]:
    for token in tokens:
        if token.nesting < 0:
            return
        yield _item(_lines(token), tuple(_blocks(tokens)))


def _item(lines: range, blocks: Sequence[BlockNode]) -> Item:
    """Return an item of a list. A check box at the beginning of its text becomes the item's state."""
    match blocks:
        case [Paragraph(words=Words(parts=[Text(text), *others])) as first, *below] if box := _BOX.match(text):
            rest = text[box.end() :]
            parts = (Text(rest), *others) if rest else tuple(others)
            opening = Paragraph(first.lines, Words(first.words.source, parts))
            return Item(lines, (opening, *below), box[1] != " ")
        case _:
            return Item(lines, blocks, None)


def _rows(tokens: Iterator[Token]) -> Iterator[Sequence[Words]]:
    """Yield the rows of a table, its header first."""
    cells: list[Words] = []
    for token in tokens:
        match token.type:
            case "th_open" | "td_open":
                cells.append(_words(tokens))
            case "tr_close":
                yield tuple(cells)
                cells = []
            case "table_close":
                return
            case _:
                pass


def _words(tokens: Iterator[Token]) -> Words:
    """Return the words of the block whose opening token was just read, and skip its closing token."""
    inline = next(tokens)
    next(tokens)
    return Words(inline.content, _parts(inline.children or ()))


def _parts(tokens: Iterable[Token]) -> Sequence[InlineNode]:
    levels: list[list[InlineNode]] = [[]]
    opened: list[Token] = []
    for token in tokens:
        if token.nesting > 0:
            opened.append(token)
            levels.append([])
        elif token.nesting < 0:
            inner = tuple(levels.pop())
            levels[-1] += _enclosed(opened.pop(), inner, len(opened))
        elif token.content or token.type != "text":
            levels[-1].append(_leaf(token))
    return tuple(levels[0])


def _enclosed(token: Token, inner: Sequence[InlineNode], depth: int) -> Sequence[InlineNode]:
    if token.type == "link_open":
        return _link(token, inner)
    if depth >= _DEEPEST_MARKS:
        return inner
    match token.type:
        case "strong_open":
            return [Strong(inner)]
        case "em_open":
            return [Emphasis(inner)]
        case _:
            return [Strike(inner)]


def _link(token: Token, inner: Sequence[InlineNode]) -> Sequence[InlineNode]:
    address = _address(token.attrs.get("href"))
    if token.markup == "autolink" and not followed(address):
        # The parser takes Map<String:Int> for an address.
        return [Text("<"), *inner, Text(">")]
    return [Link(address, inner)]


def _leaf(token: Token) -> InlineNode:
    match token.type:
        case "code_inline":
            return Code(token.content)
        case "image":
            return Image(_address(token.attrs.get("src")), plain(_parts(token.children or ())))
        case "softbreak" | "hardbreak":
            return Break(hard=token.type == "hardbreak")
        case _:
            return Text(token.content)


def _address(value: object) -> str:
    """Return an address with its scheme in lower case, because vendors compare schemes by case."""
    scheme, colon, rest = str(value or "").partition(":")
    return f"{scheme.lower()}:{rest}" if colon else scheme
