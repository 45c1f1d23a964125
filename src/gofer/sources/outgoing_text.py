"""Texts for people, rebuilt: parsed, cleaned and written anew, so that only permitted addresses are links.

Every system reads Markdown a little differently. So a text counts only if it is parsed to exactly the cleaned nodes
again, and a block that is not stays as code. A picture becomes a link or its words, and HTML becomes plain text.
"""

import dataclasses
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never, cast

from gofer.sources import markdown_nodes as md
from gofer.sources.markdown import followed, parse
from gofer.sources.markdown_writer import fenced, write
from gofer.values.addresses import NONE_LIVE, Live, folded, host_of, inert, spans, with_inert
from gofer.values.visible_text import visible

_SUSPECT = re.compile(r"[\[<&\\@]|//|\.\w|[#:]\S")
"""What a text has if any part of it could be an address, a link, a picture or HTML."""
_HIDING = re.compile(r"<[A-Za-z/?]|<!-|\]\(|\[\^")
"""Characters in plain words with which another parser may begin a tag, a link or a footnote."""
_BESIDE = re.compile(r"\]\([^()\s]*\s+[\"'(]|^[ \t>*+\-\d.)]*\[[^\]]+\]:", re.MULTILINE)
"""Parts of links that no node holds: a title, or a definition."""
_PIPED_LINK = re.compile(r"<(https?://[^\s<>|]+)\|([^<>\n]+)>")
"""A link in the markup of chats: `<address|words>`."""
_ANGLED = re.compile(
    rf"{_PIPED_LINK.pattern}|</?(?i:a|audio|base|button|details|div|embed|form|iframe|img|input|link|math|meta|object"
    r"|picture|script|source|span|style|summary|svg|video)\b[^<>\n]*>|<[A-Za-z][\w-]*\s[^<>\n]*=[^<>\n]*>"
)
"""Such a link, or a tag of HTML that shows or does something: it stays as code."""
_ENDED = re.compile(r"[.,;:!?\"'*_~)\]}]*(?:([ \t\n\r<])|$)")
"""What follows an address that every system ends at the same place."""
_ASCII = re.compile("[!-~]+")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_DRAWN = frozenset({"mermaid", "geojson", "topojson", "stl", "math"})
"""Languages of code that a system draws as a picture, with the links in it."""


def rebuilt(text: str, live: Live) -> str:
    """Return Markdown as people may read it. A text without anything to change stays as it is."""
    text = visible(text)
    if not _SUSPECT.search(folded(text)):
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    nodes = parse("\n".join(lines)) or (md.Paragraph(range(len(lines)), md.Words("", (md.Text(text),))),)
    cleaned = [_clean(node, live) for node in nodes]
    pieces = [_piece(node, clean, lines) for node, clean in zip(nodes, cleaned, strict=True)]
    whole = _joined(nodes, pieces, lines)
    if _bare(parse(whole)) == _bare(cleaned):
        return text if whole.split("\n") == lines else whole.strip("\n")
    apart = "\n\n".join(_alone(piece, node) for piece, node in zip(pieces, cleaned, strict=True))
    again = parse(apart)
    if _bare(again) == _bare([_clean(node, live) for node in again]):
        return apart
    return fenced(plain_words(text, live))


def plain_words(text: str, live: Live) -> str:
    """Return a title, a field or a file with every address inert that may not be a link.

    Some systems read fields as Markdown, so an address that escapes hide counts as well.
    """
    shown = with_inert(visible(text), live)
    plain = html.unescape(_ESCAPED.sub("", shown))
    if plain == shown or with_inert(plain, live) == plain:
        return shown
    return with_inert(plain, live)


def _joined(nodes: Sequence[md.BlockNode], pieces: Sequence[str], lines: Sequence[str]) -> str:
    """Return the pieces with the empty lines between them, and without lines that belong to no block."""
    joined: list[str] = []
    after = 0
    for node, piece in zip(nodes, pieces, strict=True):
        start, stop = _extent(node, lines)
        joined += [*_empty(lines[after:start]), piece]
        after = stop
    return "\n".join([*joined, *_empty(lines[after:])])


def _empty(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.strip()]


def _extent(node: md.BlockNode, lines: Sequence[str]) -> tuple[int, int]:
    """Return the lines of a block without the empty ones at its end."""
    stop = node.lines.stop
    while stop > node.lines.start + 1 and not lines[stop - 1].strip():
        stop -= 1
    return node.lines.start, stop


def _piece(node: md.BlockNode, cleaned: md.BlockNode, lines: Sequence[str]) -> str:
    """Return the Markdown of a block: its own lines if nothing in it changes, else the cleaned nodes."""
    start, stop = _extent(node, lines)
    source = "\n".join(lines[start:stop])
    kept = _is_closed(node, source) if isinstance(node, md.CodeBlock) else not _hides(source, node)
    if kept and _bare([node]) == _bare([cleaned]):
        return source
    bullet = source.lstrip()[:1]
    return write([cleaned], bullet if bullet in tuple("-*+") else "-")


def _is_closed(node: md.CodeBlock, source: str) -> bool:
    """Return whether code ends with a fence of its own; parsers differ about code without one."""
    _, *rest = source.split("\n")
    return not node.fence or (bool(rest) and rest[-1].strip().startswith(node.fence))


def _hides(source: str, node: md.BlockNode) -> bool:
    """Return whether another parser may find something in a block that is not in its nodes."""
    return bool(_BESIDE.search(source)) or any(_HIDING.search(text.text) for text in _texts(node))


def _texts(value: object) -> Iterator[md.Text]:
    """Yield the plain texts inside a node."""
    if isinstance(value, md.Text):
        yield value
    elif isinstance(value, tuple | list):
        for inner in cast(Sequence[object], value):
            yield from _texts(inner)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))


def _alone(piece: str, node: md.BlockNode) -> str:
    """Return a block that is parsed to its nodes when it stands alone; otherwise its text as code."""
    for text in (piece, write([node])):
        if _bare(parse(text)) == _bare([node]):
            return text
    return fenced(piece)


def _bare(value: object) -> object:
    """Return nodes as plain values to compare: without positions in the source, and with adjacent texts joined."""
    if isinstance(value, tuple | list):
        return [_bare(part) for part in _texts_joined(cast(Sequence[object], value))]
    if not dataclasses.is_dataclass(value):
        return value
    kept = [field.name for field in dataclasses.fields(value) if field.name not in ("lines", "source", "fence")]
    return [type(value).__name__, *(_bare(getattr(value, name)) for name in kept)]


def _texts_joined(parts: Sequence[object]) -> list[object]:
    joined: list[object] = []
    for part in parts:
        match (joined[-1:], part):
            case ([md.Text(before)], md.Text(text)):
                joined[-1] = md.Text(before + text)
            case _:
                joined.append(part)
    return joined


def _clean(node: md.BlockNode, live: Live) -> md.BlockNode:
    """Return a block in which only permitted addresses are links."""
    match node:
        case md.Paragraph() | md.Heading():
            return replace(node, words=_words(node.words, live))
        case md.ItemList():
            return replace(node, items=tuple(replace(item, blocks=_all(item.blocks, live)) for item in node.items))
        case md.Quote():
            return replace(node, blocks=_all(node.blocks, live))
        case md.Table():
            rows = tuple(tuple(_words(cell, live) for cell in row) for row in node.rows)
            return replace(node, header=tuple(_words(cell, live) for cell in node.header), rows=rows)
        case md.CodeBlock():
            drawn = node.info.lower().split()[:1]
            if drawn and drawn[0] in _DRAWN and plain_words(node.text, live) != node.text:
                return replace(node, info="")
            if not node.fence and plain_words(node.text, live) != node.text:
                # Not every system takes indented lines for code.
                return replace(node, info="text")
            return node if not node.text or node.text.endswith("\n") else replace(node, text=f"{node.text}\n")
        case md.Rule():
            return node
        case _:
            assert_never(node)


def _all(nodes: Sequence[md.BlockNode], live: Live) -> Sequence[md.BlockNode]:
    return tuple(_clean(node, live) for node in nodes)


def _words(words: md.Words, live: Live) -> md.Words:
    return replace(words, parts=tuple(_parts(words.parts, live, is_last=True)))


def _parts(parts: Sequence[md.InlineNode], live: Live, *, is_last: bool) -> Iterator[md.InlineNode]:
    """Yield cleaned nodes. With `is_last`, a line ends after them, so that an address at their end ends there too."""
    for place, part in enumerate(parts):
        match part:
            case md.Text():
                ends = isinstance(parts[place + 1], md.Break) if place + 1 < len(parts) else is_last
                yield from _of_text(part.text, live, ends=ends)
            case md.Strong() | md.Emphasis() | md.Strike():
                yield replace(part, parts=tuple(_parts(part.parts, live, is_last=False)))
            case md.Link():
                yield from _link(part, live)
            case md.Image():
                yield from _link(md.Link(part.address, (md.Text(part.text or "image"),)), live)
            case md.Code():
                # Between dollar signs code is a formula, in which some systems draw links.
                formula = place > 0 and md.plain(parts[place - 1 : place]).endswith("$")
                yield md.Code(with_inert(part.text, live)) if formula else part
            case md.Break():
                yield part
            case _:
                assert_never(part)


def _of_text(text: str, live: Live, *, ends: bool) -> Iterator[md.InlineNode]:
    after = 0
    for found in _ANGLED.finditer(text):
        yield from _of_words(text[after : found.start()], live, ends=False)
        if found[1]:
            yield from _link(md.Link(found[1], (md.Text(found[2]),)), live)
        else:
            yield md.Code(with_inert(found[0], live))
        after = found.end()
    yield from _of_words(text[after:], live, ends=ends)


def _of_words(text: str, live: Live, *, ends: bool) -> Iterator[md.InlineNode]:
    """Yield a text with each address as it may be shown; `ends` says whether a line ends after the text."""
    after = 0
    for start, end in spans(text):
        address = _live_part(text[start:end], live)
        following = _ENDED.match(text, end)
        if len(address) == end - start and following and (ends or following[1]):
            continue
        if before := text[after:start]:
            yield md.Text(before)
        if address:
            # Written as a link, so that no system takes the characters after it for a part of it.
            yield md.Link(_with_scheme(address), (md.Text(address),))
            after = start + len(address)
        else:
            yield md.Code(inert(text[start:end]))
            after = end
    if rest := text[after:]:
        yield md.Text(rest)


def _live_part(address: str, live: Live) -> str:
    """Return an address that may be a link, without words of a script without spaces after it; empty if none may."""
    if live(address):
        return address
    beginning = _ASCII.match(address)
    if beginning and live(beginning[0]):
        return beginning[0]
    return ""


def _with_scheme(address: str) -> str:
    if "://" in address or address.startswith("mailto:"):
        return address
    return f"mailto:{address}" if "@" in address else f"https://{address}"


def _link(link: md.Link, live: Live) -> Iterator[md.InlineNode]:
    """Yield a link that may stay, or its words and its address."""
    if piped := _PIPED_LINK.fullmatch(f"<{md.plain(link.parts)}>"):
        link = md.Link(piped[1], (md.Text(piped[2]),))
    # A link can hold no other link, and the address of a picture in it is dropped.
    words = tuple(md.Text(part.text) if isinstance(part, md.Image) else part for part in link.parts)
    if followed(link.address) and live(link.address):
        yield replace(link, parts=tuple(_label(words, NONE_LIVE if _misleads(link, live) else live)))
        return
    shown = inert(link.address)
    if md.plain(words).strip() not in ("", shown, link.address, link.address.removeprefix("mailto:")):
        yield from _parts(words, live, is_last=False)
        yield from (md.Text(" ("), md.Code(shown), md.Text(")")) if shown else ()
    elif shown:
        yield md.Code(shown)


def _misleads(link: md.Link, live: Live) -> bool:
    """Return whether the words of a link are an address on another host than its own."""
    own = host_of(link.address).removeprefix("www.")
    words = md.plain(link.parts)
    for start, end in spans(words):
        address = words[start:end]
        host = host_of(address)
        if "." in host and host.removeprefix("www.") != own and ("/" in address or host in live.hosts):
            return True
    return False


def _label(parts: Sequence[md.InlineNode], live: Live) -> Iterator[md.InlineNode]:
    """Yield the words of a link that stays. Addresses in them are no links of their own."""
    for part in _parts(parts, live, is_last=True):
        yield md.Text(md.plain(part.parts)) if isinstance(part, md.Link) else part
