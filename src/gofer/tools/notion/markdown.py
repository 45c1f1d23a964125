"""Markdown as Notion's rich text and blocks, in which nothing pages a person.

Mentions are made by ids only, and none is ever made here: `@name` and tags of Notion's own Markdown stay plain words.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node

CONTENT_LIMIT, LENGTH_LIMIT = 2_000, 100
"""Characters of one text, and how many of them may stand in one rich text."""
LINK_LIMIT = 2_000
ROWS = 100
"""Rows of one table, its header among them."""
DEPTH = 2
"""Levels of blocks in one request; what is deeper stands on the deepest."""
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
_MARKS = {"strong": "bold", "em": "italic", "s": "strikethrough"}
_parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Span:
    """Words of one look."""

    text: str
    marks: frozenset[str] = frozenset()
    url: str = ""


def rich_text(spans: Iterable[Span], end: Sequence[Span] = ()) -> list[Json]:
    """Words as a rich text. Of too many looks, the looks are left out and never the words; `end` stays whole."""
    parts, last = list(_cut(spans)), list(_cut(end))
    if len(parts) + len(last) > LENGTH_LIMIT:
        parts = list(_cut(Span(f"{part.text} ({part.url})" if part.url else part.text) for part in parts))
    return [_json(part) for part in (*parts[: LENGTH_LIMIT - len(last)], *last)]


def comment_spans(markdown: str) -> list[Span]:
    """A whole text as the spans of one comment, which knows no blocks: lists, headings and tables become lines."""
    lines = list(_lines(Node(_parser.parse(markdown)), ""))
    return list(chain.from_iterable((*([Span("\n")] if number else []), *line) for number, line in enumerate(lines)))


def blocks(markdown: str) -> list[Json]:
    """A text as blocks for the end of a page."""
    return list(_blocks(Node(_parser.parse(markdown)).children, DEPTH))


def paragraph(spans: Sequence[Span]) -> Json:
    """One paragraph."""
    return _block("paragraph", spans)


def _json(span: Span) -> Json:
    link = {"link": {"url": span.url}} if span.url else {}
    marks = {"annotations": dict.fromkeys(sorted(span.marks), True)} if span.marks else {}
    return {"type": "text", "text": {"content": span.text, **link}, **marks}


def _cut(spans: Iterable[Span]) -> Iterator[Span]:
    """Neighbours of one look joined, and none longer than Notion takes."""
    joined: list[Span] = []
    for span in spans:
        if joined and replace(span, text="") == replace(joined[-1], text=""):
            joined[-1] = replace(span, text=joined[-1].text + span.text)
        elif span.text:
            joined.append(span)
    for span in joined:
        for text in _pieces(span.text):
            yield replace(span, text=text)


def _pieces(text: str) -> Iterator[str]:
    """Notion counts as JavaScript does: what lies beyond the basic plane is two."""
    start = size = 0
    for place, char in enumerate(text):
        width = 2 if char > "\uffff" else 1
        if size + width > CONTENT_LIMIT:
            yield text[start:place]
            start, size = place, 0
        size += width
    yield text[start:]


def _inline(node: Node, marks: frozenset[str] = frozenset(), url: str = "") -> Iterator[Span]:
    for child in node.children:
        match child.type:
            case "softbreak" | "hardbreak":
                yield Span("\n", marks, url)
            case "code_inline":
                yield Span(child.content, marks | {"code"}, url)
            case "strong" | "em" | "s":
                yield from _inline(child, marks | {_MARKS[child.type]}, url)
            case "link":
                yield from _inline(child, marks, _address(child.attrs.get("href")) or url)
            case "image":
                address = _address(child.attrs.get("src"))
                yield Span(child.content or address or "image", marks, address)
            case _:
                yield Span(child.content, marks, url)


def _address(value: object) -> str:
    address = str(value or "")
    good = address.startswith(("http://", "https://", "mailto:")) and len(address) <= LINK_LIMIT
    return address if good else ""


def _spans(node: Node) -> list[Span]:
    return list(chain.from_iterable(_inline(child) for child in node.children if child.type == "inline"))


def _blocks(nodes: Sequence[Node], depth: int) -> Iterator[Json]:
    for node in nodes:
        match node.type:
            case "heading":
                yield _block(f"heading_{min(3, int(node.tag[1]))}", _spans(node))
            case "bullet_list" | "ordered_list":
                for item in node.children:
                    yield from _item(item, node.type, depth)
            case "blockquote":
                lines = list(chain.from_iterable((*line, Span("\n")) for line in _lines(node, "")))
                yield _block("quote", lines[:-1])
            case "fence" | "code_block":
                yield _block("code", [Span(node.content.rstrip("\n"))], language=_language(node.info))
            case "hr":
                yield {"type": "divider", "divider": {}}
            case "table":
                yield from _tables(node)
            case _:
                yield _block("paragraph", _spans(node))


def _item(item: Node, kind: str, depth: int) -> Iterator[Json]:
    first = item.children[0] if item.children and item.children[0].type == "paragraph" else None
    spans = _spans(first) if first else []
    below = list(_blocks(item.children[1:] if first else item.children, max(1, depth - 1)))
    fields: Json = {}
    name = "bulleted_list_item" if kind == "bullet_list" else "numbered_list_item"
    if spans and spans[0].text[:4].lower() in ("[ ] ", "[x] "):
        name, fields["checked"] = "to_do", spans[0].text[1] != " "
        spans[0] = replace(spans[0], text=spans[0].text[4:])
    if depth > 1 and below:
        yield _block(name, spans, **fields, children=below)
    else:
        yield _block(name, spans, **fields)
        yield from below


def _tables(node: Node) -> Iterator[Json]:
    """Yield a table, or several with the same header where it has more rows than Notion takes."""
    header, *rows = [row for part in node.children for row in part.children]
    width = max(len(row.children) for row in (header, *rows))
    for start in range(0, max(1, len(rows)), ROWS - 1):
        yield _table([header, *rows[start : start + ROWS - 1]], width)


def _table(rows: Sequence[Node], width: int) -> Json:
    made = [
        {"type": "table_row", "table_row": {"cells": [rich_text(_spans(cell)) for cell in row.children]}}
        for row in rows
    ]
    table = {"table_width": width, "has_column_header": True, "has_row_header": False, "children": made}
    return {"type": "table", "table": table}


def _block(kind: str, spans: Sequence[Span], **fields: object) -> Json:
    return {"type": kind, kind: {"rich_text": rich_text(spans), **fields}}


def _language(info: str) -> str:
    name = info.split()[0].lower() if info.split() else ""
    name = _ALIASES.get(name, name)
    return name if name in LANGUAGES else "plain text"


def _lines(node: Node, indent: str) -> Iterator[list[Span]]:
    for child in node.children:
        match child.type:
            case "bullet_list" | "ordered_list":
                start = int(child.attrs.get("start", 1))
                for number, item in enumerate(child.children, start=start):
                    marker = f"{indent}{number}. " if child.type == "ordered_list" else f"{indent}• "
                    first, *rest = [*_lines(item, f"{indent}   ")] or [[]]
                    yield [Span(marker), *first]
                    yield from rest
            case "heading":
                yield [replace(span, marks=span.marks | {"bold"}) for span in _spans(child)]
            case "fence" | "code_block":
                yield [Span(child.content.rstrip("\n"), frozenset({"code"}))]
            case "blockquote":
                yield from ([Span("> "), *line] for line in _lines(child, ""))
            case "table":
                for row in (row for part in child.children for row in part.children):
                    cells = [_spans(cell) for cell in row.children]
                    yield list(chain.from_iterable((*cell, Span("  ")) for cell in cells))
            case "hr":
                yield [Span("———")]
            case _:
                yield _spans(child)
