"""The text of a message for places where Slack shows no blocks: notifications, screen readers, other programs.

It is the Markdown's text in mrkdwn, Slack's own markup, with links and code. Headings and tables become plain text, and
emphasis is dropped. A cut never divides a link or a word that fits.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from gofer.sources import markdown_nodes as md
from gofer.sources.markdown import followed, parse
from gofer.sources.slack.rich_text import escaped

LIMIT = 3_000
"""The most UTF-8 bytes. Slack refuses an edit with more than 4,000, and may store an emoji as a longer name."""
_MORE = "…"
_LONGEST_WORD = 200


def fallback(markdown: str) -> str:
    """Return the text of a message in at most LIMIT bytes."""
    text = ""
    size = 0
    for atom in _atoms(parse(markdown)):
        size += _bytes(atom)
        if size > LIMIT - _bytes(_MORE):
            return text.rstrip() + _MORE
        text += atom
    return text.strip() or _MORE


def _atoms(nodes: Sequence[md.BlockNode], indent: str = "") -> Iterator[str]:
    """Yield the parts that must not be divided, in order."""
    for node in nodes:
        match node:
            case md.Paragraph() | md.Heading():
                yield from _inline(node.words.parts)
                yield "\n"
            case md.ItemList():
                yield from _items(node, indent)
            case md.Quote():
                yield from _atoms(node.blocks, indent)
            case md.CodeBlock():
                yield from _words(node.text)
            case md.Table():
                yield from _rows(node)
            case md.Rule():
                pass
            case _:
                assert_never(node)


def _items(node: md.ItemList, indent: str) -> Iterator[str]:
    for number, item in node.numbered():
        yield f"{indent}• " if number is None else f"{indent}{number}. "
        if item.done is not None:
            yield "[x] " if item.done else "[ ] "
        yield from _atoms(item.blocks, f"{indent}  ")


def _rows(table: md.Table) -> Iterator[str]:
    for row in (table.header, *table.rows):
        for cell in row:
            yield from _inline(cell.parts)
            yield "  "
        yield "\n"


def _inline(parts: Sequence[md.InlineNode]) -> Iterator[str]:
    for part in parts:
        match part:
            case md.Text():
                yield from _words(part.text)
            case md.Code():
                yield from _code(part.text)
            case md.Link():
                yield from _link(part.address, md.plain(part.parts))
            case md.Image():
                yield from _link(part.address, part.text)
            case md.Strong() | md.Emphasis() | md.Strike():
                yield from _inline(part.parts)
            case md.Break():
                yield "\n"
            case _:
                assert_never(part)


def _code(text: str) -> Iterator[str]:
    if "`" in text or len(text) > _LONGEST_WORD:
        yield from _words(text)
    else:
        yield f"`{escaped(text)}`"


def _link(address: str, label: str) -> Iterator[str]:
    label = " ".join(label.split())
    link = f"<{escaped(address.replace('|', '%7C').replace(' ', '%20'))}|{escaped(label or address)}>"
    if followed(address) and _bytes(link) <= LIMIT // 2:
        yield link
    else:
        yield from _words(label or address)


def _words(text: str) -> Iterator[str]:
    word = ""
    for char in text:
        word += char
        if char.isspace() or len(word) == _LONGEST_WORD:
            yield escaped(word)
            word = ""
    yield escaped(word)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
