"""The writer of Jira's document format (ADF): from Markdown, without notifying any person.

Jira permits fewer kinds of nodes the deeper a block is nested. The writer creates only permitted nodes and permitted
combinations of marks, so Jira never refuses a text for its form. Images become links, because otherwise every reader of
the issue would load the picture.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from gofer.sources import markdown_nodes as md
from gofer.sources.jira.adf_text import adf_text
from gofer.sources.markdown import followed, parse
from gofer.sources.origin_links import origin_links
from gofer.tools.definition import Provenance
from gofer.values.addresses import spans
from gofer.values.canonical_json import as_list, clean
from gofer.values.errors import ToolError

Node = dict[str, object]
_HTTP = re.compile("https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of characters with the same marks and the same link."""

    text: str
    marks: frozenset[str] = frozenset()
    address: str = ""


_NEW_LINE = _Run("\n")
"""A hard break. No other run contains a line break."""


def inline(parts: Iterable[md.InlineNode], *, strong: bool = False) -> list[Node]:
    """Return the nodes for inline nodes; neighbours with the same marks become one text."""
    marks = frozenset({"strong"} if strong else ())
    return [node for run in _joined(_runs(parts, marks)) for node in _nodes(run)]


def text(words: str, address: str = "") -> Node:
    """Return a text node, with a link if there is an address."""
    return _text(_Run(words, address=address))


def _runs(parts: Iterable[md.InlineNode], marks: frozenset[str], address: str = "") -> Iterator[_Run]:
    for part in parts:
        match part:
            case md.Text():
                yield _Run(part.text, marks, address)
            case md.Code():
                # Jira permits no mark together with code except a link.
                yield _Run(part.text, frozenset({"code"}), address)
            case md.Strong():
                yield from _runs(part.parts, marks | {"strong"}, address)
            case md.Emphasis():
                yield from _runs(part.parts, marks | {"em"}, address)
            case md.Strike():
                yield from _runs(part.parts, marks | {"strike"}, address)
            case md.Link():
                yield from _runs(part.parts or [md.Text(part.address)], marks, _followed(part.address))
            case md.Image():
                yield _Run(part.text or part.address or "image", marks, address or _followed(part.address))
            case md.Break():
                yield _NEW_LINE if part.hard else _Run(" ", marks, address)
            case _:
                assert_never(part)


def _followed(address: str) -> str:
    if followed(address):
        return address
    return ""


def _joined(runs: Iterable[_Run]) -> Sequence[_Run]:
    joined: list[_Run] = []
    for run in runs:
        if joined and _NEW_LINE not in (run, joined[-1]) and replace(run, text="") == replace(joined[-1], text=""):
            joined[-1] = replace(run, text=joined[-1].text + run.text)
        elif run.text:
            joined.append(run)
    return joined


def _nodes(run: _Run) -> list[Node]:
    """Return the nodes of a run. Addresses in the text become links, because Jira does not detect them itself."""
    if run == _NEW_LINE:
        return [{"type": "hardBreak"}]
    if run.address or "code" in run.marks:
        return [_text(run)]
    return [_text(piece) for piece in _linked(run) if piece.text]


def _linked(run: _Run) -> Iterator[_Run]:
    """Yield a run in pieces, each address with http or https as a link."""
    after = 0
    for start, end in spans(run.text):
        if _HTTP.match(run.text, start):
            yield replace(run, text=run.text[after:start])
            yield replace(run, text=run.text[start:end], address=run.text[start:end])
            after = end
    yield replace(run, text=run.text[after:])


def _text(run: _Run) -> Node:
    marks: list[Node] = [{"type": kind} for kind in sorted(run.marks)]
    if run.address:
        marks.append({"type": "link", "attrs": {"href": run.address}})
    node: Node = {"type": "text", "text": run.text}
    if marks:
        return node | {"marks": marks}
    return node


Place = Literal["top", "quote", "item"]
"""The place of a block. Each place permits fewer kinds of blocks than the one before it."""

TEXT_LIMIT = 32_767
"""The most characters that Jira accepts for one text."""
_LONGEST_LANGUAGE = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def document(markdown: str, provenance: Provenance | None) -> Node:
    """Return a document, with what the run wrote and the links of a provenance at its end.

    Raises ToolError for a text that is empty or too long.
    """
    written = _CONTROL.sub("\ufffd", clean(markdown).replace("\r\n", "\n").replace("\r", "\n"))
    blocks = _blocks(parse(written), "top")
    if not adf_text({"content": blocks}):
        raise ToolError("The text is empty; write some text.")
    whole: Node = {"version": 1, "type": "doc", "content": [*blocks, *_origin(provenance)]}
    if len(adf_text(whole)) > TEXT_LIMIT:
        raise ToolError(f"That is longer than Jira accepts for one text ({TEXT_LIMIT} characters); write less.")
    return whole


def _origin(provenance: Provenance | None) -> list[Node]:
    if provenance is None:
        return []
    parts: list[Node] = [text(provenance.wrote)] * bool(provenance.wrote)
    for words, url in origin_links(provenance):
        parts += [text(" · ")] * bool(parts) + [text(words, url)]
    if parts:
        return [_paragraph(parts)]
    return []


def _blocks(nodes: Iterable[md.BlockNode], place: Place) -> list[Node]:
    return [block for node in nodes for block in _block(node, place)]


def _block(node: md.BlockNode, place: Place) -> list[Node]:
    """Return the blocks for a node that its place permits: one, several, or none."""
    match node:
        case md.Paragraph():
            return [_paragraph(inline(node.words.parts))]
        case md.Heading():
            return [_heading(node, place)]
        case md.ItemList():
            return [_list(node)]
        case md.Quote():
            return _quote(node, place)
        case md.CodeBlock():
            return [_code(node)]
        case md.Table():
            return [_table(node) if place == "top" else _table_as_lines(node)]
        case md.Rule():
            return [{"type": "rule"} if place == "top" else _paragraph([text("———")])]
        case _:
            assert_never(node)


def _paragraph(content: Sequence[Node]) -> Node:
    return {"type": "paragraph", "content": [*content]}


def _heading(node: md.Heading, place: Place) -> Node:
    if place != "top":
        return _paragraph(inline(node.words.parts, strong=True))
    return {"type": "heading", "attrs": {"level": node.level}, "content": inline(node.words.parts)}


def _list(node: md.ItemList) -> Node:
    items = [_item(item) for item in node.items]
    if node.start is None:
        return {"type": "bulletList", "content": items}
    return {"type": "orderedList", "attrs": {"order": node.start}, "content": items}


def _item(item: md.Item) -> Node:
    """Return an item of a list; a check box becomes a sign.

    A task of Jira would need an id, which would differ between two attempts. Jira requires that an item begins with a
    paragraph or code, never with another list.
    """
    blocks = _blocks(item.blocks, "item")
    if item.done is not None:
        blocks = _led("☑ " if item.done else "☐ ", blocks)
    elif not blocks or blocks[0]["type"] not in ("paragraph", "codeBlock"):
        blocks = [_paragraph([]), *blocks]
    return {"type": "listItem", "content": blocks}


def _led(lead: str, blocks: Sequence[Node]) -> list[Node]:
    """Return blocks with a sign at the beginning of the first paragraph."""
    if not blocks or blocks[0]["type"] != "paragraph":
        return [_paragraph([text(lead)]), *blocks]
    content: list[object] = [text(lead), *as_list(blocks[0]["content"])]
    return [blocks[0] | {"content": content}, *blocks[1:]]


def _quote(node: md.Quote, place: Place) -> list[Node]:
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


def _code(node: md.CodeBlock) -> Node:
    language, *_ = [*node.info.split(), "text"]
    code = node.text.removesuffix("\n")
    content = [text(code)] if code else []
    return {"type": "codeBlock", "content": content, "attrs": {"language": language[:_LONGEST_LANGUAGE]}}


def _table(table: md.Table) -> Node:
    rows = [_row("tableHeader", table.header), *(_row("tableCell", row) for row in table.rows)]
    return {"type": "table", "content": rows}


def _row(kind: str, cells: Sequence[md.Words]) -> Node:
    made = [{"type": kind, "content": [_paragraph(inline(cell.parts) or [text(" ")])]} for cell in cells]
    return {"type": "tableRow", "content": made}


def _table_as_lines(table: md.Table) -> Node:
    """Return a paragraph with a line for each row, for places where Jira permits no table."""
    content: list[Node] = []
    for row in (table.header, *table.rows):
        if content:
            content.append({"type": "hardBreak"})
        for number, cell in enumerate(row):
            if number:
                content.append(text(" | "))
            content += inline(cell.parts)
    return _paragraph(content)
