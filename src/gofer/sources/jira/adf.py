"""The writer of Jira's documents: Markdown that Jira accepts, and that pages no person.

Each place of a document takes fewer nodes than the one around it. The writer makes only those, so Jira refuses no text
for its form. Images become links: Jira would load a picture for all who open the issue.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, assert_never

from gofer.sources.jira.adf_inline import Node, inline, text
from gofer.sources.jira.adf_text import adf_text
from gofer.sources.markdown import parse
from gofer.sources.markdown_nodes import (
    BlockNode,
    CodeBlock,
    Heading,
    Item,
    ItemList,
    Paragraph,
    Quote,
    Rule,
    Table,
    Words,
)
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_list, clean
from gofer.values.errors import ToolError

Place = Literal["top", "quote", "item"]
"""Where a block stands; each place takes fewer of them than the one before."""

TEXT_LIMIT = 32_767
"""Characters Jira takes for one text."""
_LONGEST_LANGUAGE = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def document(markdown: str, provenance: Provenance) -> Node:
    """Return a document with a line of links at its end. Raises ToolError for a text that is empty or too long."""
    written = _CONTROL.sub("\ufffd", clean(markdown).replace("\r\n", "\n").replace("\r", "\n"))
    blocks = _blocks(parse(written), "top")
    if not adf_text({"content": blocks}):
        raise ToolError("That says nothing; write some text.")
    whole: Node = {"version": 1, "type": "doc", "content": [*blocks, *_origin(provenance)]}
    if len(adf_text(whole)) > TEXT_LIMIT:
        raise ToolError(f"That is longer than Jira takes for one text ({TEXT_LIMIT} characters); write less.")
    return whole


def links(provenance: Provenance) -> list[tuple[str, str]]:
    """Return the links under what Gofer writes: words and addresses."""
    found = [(f"{provenance.workflow} prompt", provenance.prompt_url)] if provenance.prompt_url else []
    return found + ([(f"run {provenance.run[:8]}", provenance.run_url)] if provenance.run_url else [])


def _origin(provenance: Provenance) -> list[Node]:
    parts: list[Node] = []
    for words, url in links(provenance):
        parts += [text(" · ")] * bool(parts) + [text(words, url)]
    if parts:
        return [_paragraph(parts)]
    return []


def _blocks(nodes: Iterable[BlockNode], place: Place) -> list[Node]:
    return [block for node in nodes for block in _block(node, place)]


def _block(node: BlockNode, place: Place) -> list[Node]:
    """Return the blocks that say in a place what a node says: one, several, or none."""
    match node:
        case Paragraph():
            return [_paragraph(inline(node.words.parts))]
        case Heading():
            return [_heading(node, place)]
        case ItemList():
            return [_list(node)]
        case Quote():
            return _quote(node, place)
        case CodeBlock():
            return [_code(node)]
        case Table():
            return [_table(node) if place == "top" else _table_as_lines(node)]
        case Rule():
            return [{"type": "rule"} if place == "top" else _paragraph([text("———")])]
        case _:
            assert_never(node)


def _paragraph(content: Sequence[Node]) -> Node:
    return {"type": "paragraph", "content": [*content]}


def _heading(node: Heading, place: Place) -> Node:
    if place != "top":
        return _paragraph(inline(node.words.parts, strong=True))
    return {"type": "heading", "attrs": {"level": node.level}, "content": inline(node.words.parts)}


def _list(node: ItemList) -> Node:
    items = [_item(item) for item in node.items]
    if node.start is None:
        return {"type": "bulletList", "content": items}
    return {"type": "orderedList", "attrs": {"order": node.start}, "content": items}


def _item(item: Item) -> Node:
    """Return an item with its box as a sign: a task of Jira needs an id that would differ from one attempt to the next.

    An item begins with words or code, never with another list.
    """
    blocks = _blocks(item.blocks, "item")
    if item.done is not None:
        blocks = _led("☑ " if item.done else "☐ ", blocks)
    elif not blocks or blocks[0]["type"] not in ("paragraph", "codeBlock"):
        blocks = [_paragraph([]), *blocks]
    return {"type": "listItem", "content": blocks}


def _led(lead: str, blocks: Sequence[Node]) -> list[Node]:
    """Return blocks of which the first paragraph begins with a sign."""
    if not blocks or blocks[0]["type"] != "paragraph":
        return [_paragraph([text(lead)]), *blocks]
    content: list[object] = [text(lead), *as_list(blocks[0]["content"])]
    return [blocks[0] | {"content": content}, *blocks[1:]]


def _quote(node: Quote, place: Place) -> list[Node]:
    match place:
        case "top":
            inside = _blocks(node.blocks, "quote")
            if inside:
                return [{"type": "blockquote", "content": inside}]
            return []
        case "quote":
            return _blocks(node.blocks, "quote")
        case "item":
            return [quoted for block in _blocks(node.blocks, "item") for quoted in _led("> ", [block])]
        case _:
            assert_never(place)


def _code(node: CodeBlock) -> Node:
    language, *_ = [*node.info.split(), "text"]
    code = node.text.removesuffix("\n")
    content = [text(code)] if code else []
    return {"type": "codeBlock", "content": content, "attrs": {"language": language[:_LONGEST_LANGUAGE]}}


def _table(table: Table) -> Node:
    rows = [_row("tableHeader", table.header), *(_row("tableCell", row) for row in table.rows)]
    return {"type": "table", "content": rows}


def _row(kind: str, cells: Sequence[Words]) -> Node:
    made = [{"type": kind, "content": [_paragraph(inline(cell.parts) or [text(" ")])]} for cell in cells]
    return {"type": "tableRow", "content": made}


def _table_as_lines(table: Table) -> Node:
    """Return a paragraph with a line for each row, where Jira takes no table."""
    content: list[Node] = []
    for row in (table.header, *table.rows):
        if content:
            content.append({"type": "hardBreak"})
        for number, cell in enumerate(row):
            if number:
                content.append(text(" | "))
            content += inline(cell.parts)
    return _paragraph(content)
