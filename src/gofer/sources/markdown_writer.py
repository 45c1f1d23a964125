"""The writer of Markdown: nodes to the plainest text that is parsed to the same nodes."""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from gofer.sources import markdown_nodes as md
from gofer.values.addresses import spans

_MARKS = re.compile(
    r"[\\`*]|\[(?=\^|[ xX]\] )|\](?=[(\[:])|!$|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
)
"""The characters that a parser may take for a mark, a tag or an entity."""
_OPENING = re.compile(r"^( *)(?:([#>+|=-]|~(?=~~))|(\d{1,9})([.)]))", re.MULTILINE)
"""The beginning of a line that a parser may take for a heading, a quote, a list, a table or a rule."""
_LATER_LINE = re.compile(r"\n(?=[^\n])")
_PARENTHESIS = re.compile(r"[()]")
_BOXES = {None: "", True: "[x] ", False: "[ ] "}
_LONGEST_RUN = re.compile("`+")


def write(nodes: Sequence[md.BlockNode], marker: str = "-") -> str:
    """Return the Markdown of blocks; `marker` begins the items of a list with bullets."""
    return "\n\n".join(_block(node, marker) for node in nodes)


def fenced(text: str, info: str = "") -> str:
    """Return a text as a block of code."""
    longest = max((len(run) for run in _LONGEST_RUN.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{fence}{info}\n{body}{fence}"


def _block(node: md.BlockNode, marker: str) -> str:
    match node:
        case md.Paragraph():
            return _OPENING.sub(_plain_opening, inline(node.words.parts))
        case md.Heading():
            return f"{'#' * node.level} {inline(node.words.parts)}"
        case md.ItemList():
            return "\n".join(
                _item(item, f"{number}." if number is not None else marker) for number, item in node.numbered()
            )
        case md.Quote():
            return "\n".join(f"> {line}".rstrip() for line in write(node.blocks).split("\n"))
        case md.CodeBlock():
            return fenced(node.text, node.info)
        case md.Table():
            return "\n".join(_rows(node))
        case md.Rule():
            # A rule of another mark than any item has.
            return "___"
        case _:
            assert_never(node)


def _plain_opening(found: re.Match[str]) -> str:
    if found[2]:
        return f"{found[1]}\\{found[2]}"
    return f"{found[1]}{found[3]}\\{found[4]}"


def _item(item: md.Item, marker: str) -> str:
    text = ""
    for block in item.blocks:
        gap = "\n" if isinstance(block, md.ItemList) else "\n\n"
        text += (gap if text else "") + _block(block, "-")
    margin = "\n" + " " * (len(marker) + 1)
    return _LATER_LINE.sub(margin, f"{marker} {_BOXES[item.done]}{text}").rstrip()


def _rows(table: md.Table) -> Iterator[str]:
    yield _row(table.header)
    yield "|" + " --- |" * len(table.header)
    yield from map(_row, table.rows)


def _row(cells: Sequence[md.Words]) -> str:
    return "|" + "".join(f" {inline(cell.parts).replace('|', chr(92) + '|')} |" for cell in cells)


def inline(parts: Sequence[md.InlineNode]) -> str:
    """Return the Markdown of inline nodes."""
    return "".join(map(_inline, parts))


def _inline(part: md.InlineNode) -> str:
    match part:
        case md.Text():
            return _text(part.text)
        case md.Code():
            return code(part.text)
        case md.Strong():
            return f"**{inline(part.parts)}**"
        case md.Emphasis():
            return f"*{inline(part.parts)}*"
        case md.Strike():
            return f"~~{inline(part.parts)}~~"
        case md.Link():
            return _link(part)
        case md.Image():
            return f"!{_link(md.Link(part.address, (md.Text(part.text),)))}"
        case md.Break():
            return "  \n" if part.hard else "\n"
        case _:
            assert_never(part)


def _text(text: str) -> str:
    """Return a text with its marks escaped; addresses stay whole, because a system recognizes only whole ones."""
    written = ""
    after = 0
    for start, end in spans(text):
        written += _escaped(text[after:start]) + text[start:end]
        after = end
    return written + _escaped(text[after:])


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", text)


def code(text: str) -> str:
    """Return a text as a span of code."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    pad = " " * (text.startswith("`") or text.endswith("`") or (text[:1] == text[-1:] == " " and bool(text.strip())))
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _link(link: md.Link) -> str:
    if md.plain(link.parts) == link.address.removeprefix("mailto:") and "://" in link.address:
        return f"<{link.address}>"
    address = link.address
    if address.count("(") != address.count(")"):
        address = _PARENTHESIS.sub(r"\\\g<0>", address)
    return f"[{inline(link.parts)}]({address})"
