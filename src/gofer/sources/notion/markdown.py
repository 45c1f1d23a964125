"""The writer of Notion's rich text and blocks: from Markdown, without notifying any person.

A mention in Notion needs an id, and this module never writes one. `@name` and tags of Notion's own Markdown remain
plain text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import assert_never

from gofer.sources import markdown_nodes as md
from gofer.sources.markdown import followed, parse
from gofer.sources.notion.rich_text import Json, Span, rich_text

LINK_LIMIT = 2_000
"""The most characters that Notion accepts in an address."""
ROWS = 100
"""The most rows of one table, including its header."""
DEPTH = 2
"""The most levels of blocks in one request. Deeper blocks are written on the deepest level."""
LANGUAGES = frozenset(
    {
        "bash", "c", "c++", "c#", "css", "diff", "docker", "go", "graphql", "html", "java", "javascript", "json",
        "kotlin", "makefile", "markdown", "mermaid", "php", "plain text", "python", "ruby", "rust", "scala", "shell",
        "sql", "swift", "toml", "typescript", "xml", "yaml",
    }
)  # fmt: skip
_ALIASES = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "sh": "shell",
    "yml": "yaml",
    "dockerfile": "docker",
}


def comment_spans(markdown: str) -> list[Span]:
    """Return a text as the spans of one comment. Comments have no blocks: lists, headings and tables become lines."""
    return _joined(_lines(parse(markdown), ""))


def blocks(markdown: str) -> list[Json]:
    """Return a text as blocks."""
    return list(_blocks(parse(markdown), DEPTH))


def paragraph(spans: Sequence[Span]) -> Json:
    """Return one paragraph."""
    return _block("paragraph", spans)


def _inline(parts: Sequence[md.InlineNode], marks: frozenset[str] = frozenset(), url: str = "") -> Iterator[Span]:
    for part in parts:
        match part:
            case md.Text():
                yield Span(part.text, marks, url)
            case md.Code():
                yield Span(part.text, marks | {"code"}, url)
            case md.Strong():
                yield from _inline(part.parts, marks | {"bold"}, url)
            case md.Emphasis():
                yield from _inline(part.parts, marks | {"italic"}, url)
            case md.Strike():
                yield from _inline(part.parts, marks | {"strikethrough"}, url)
            case md.Link():
                yield from _inline(part.parts, marks, _address(part.address) or url)
            case md.Image():
                address = _address(part.address)
                yield Span(part.text or address or "image", marks, address)
            case md.Break():
                yield Span("\n", marks, url)
            case _:
                assert_never(part)


def _address(address: str) -> str:
    if followed(address) and len(address) <= LINK_LIMIT:
        return address
    return ""


def _spans(words: md.Words) -> list[Span]:
    return list(_inline(words.parts))


def _blocks(nodes: Sequence[md.BlockNode], depth: int) -> Iterator[Json]:
    for node in nodes:
        match node:
            case md.Paragraph():
                yield _block("paragraph", _spans(node.words))
            case md.Heading():
                yield _block(f"heading_{min(3, node.level)}", _spans(node.words))
            case md.ItemList():
                for number, item in node.numbered():
                    yield from _item(item, number, depth)
            case md.Quote():
                yield _block("quote", _joined(_lines(node.blocks, "")))
            case md.CodeBlock():
                yield _block("code", [Span(node.text.rstrip("\n"))], language=_language(node.info))
            case md.Table():
                yield from _tables(node)
            case md.Rule():
                yield {"type": "divider", "divider": {}}
            case _:
                assert_never(node)


def _item(item: md.Item, number: int | None, depth: int) -> Iterator[Json]:
    spans: list[Span] = []
    inside = item.blocks
    if inside and isinstance(inside[0], md.Paragraph):
        spans = _spans(inside[0].words)
        inside = inside[1:]
    name = "bulleted_list_item" if number is None else "numbered_list_item"
    fields: Json = {}
    if item.done is not None:
        name = "to_do"
        fields = {"checked": item.done}
    below = list(_blocks(inside, max(1, depth - 1)))
    if depth > 1 and below:
        yield _block(name, spans, **fields, children=below)
    else:
        yield _block(name, spans, **fields)
        yield from below


def _tables(table: md.Table) -> Iterator[Json]:
    """Yield a table, or several tables with the same header if it has more rows than Notion accepts."""
    for start in range(0, max(1, len(table.rows)), ROWS - 1):
        yield _table([table.header, *table.rows[start : start + ROWS - 1]])


def _table(rows: Sequence[Sequence[md.Words]]) -> Json:
    made = [{"type": "table_row", "table_row": {"cells": [rich_text(_spans(cell)) for cell in row]}} for row in rows]
    table = {"table_width": len(rows[0]), "has_column_header": True, "has_row_header": False, "children": made}
    return {"type": "table", "table": table}


def _block(kind: str, spans: Sequence[Span], **fields: object) -> Json:
    return {"type": kind, kind: {"rich_text": rich_text(spans), **fields}}


def _language(info: str) -> str:
    name = info.split()[0].lower() if info.split() else ""
    name = _ALIASES.get(name, name)
    if name in LANGUAGES:
        return name
    return "plain text"


def _joined(lines: Iterable[Sequence[Span]]) -> list[Span]:
    return list(chain.from_iterable((*([Span("\n")] if number else []), *line) for number, line in enumerate(lines)))


def _lines(nodes: Sequence[md.BlockNode], indent: str) -> Iterator[list[Span]]:
    for node in nodes:
        match node:
            case md.Paragraph():
                yield _spans(node.words)
            case md.Heading():
                yield [replace(span, marks=span.marks | {"bold"}) for span in _spans(node.words)]
            case md.ItemList():
                for number, item in node.numbered():
                    yield from _item_lines(item, number, indent)
            case md.Quote():
                yield from ([Span("> "), *line] for line in _lines(node.blocks, ""))
            case md.CodeBlock():
                yield [Span(node.text.rstrip("\n"), frozenset({"code"}))]
            case md.Table():
                for row in (node.header, *node.rows):
                    yield list(chain.from_iterable((*_spans(cell), Span("  ")) for cell in row))
            case md.Rule():
                yield [Span("———")]
            case _:
                assert_never(node)


def _item_lines(item: md.Item, number: int | None, indent: str) -> Iterator[list[Span]]:
    marker = f"{indent}• " if number is None else f"{indent}{number}. "
    if item.done is not None:
        marker += "[x] " if item.done else "[ ] "
    first, *rest = [*_lines(item.blocks, f"{indent}   ")] or [[]]
    yield [Span(marker), *first]
    yield from rest
