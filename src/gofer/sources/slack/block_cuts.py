"""The division of a block that is too long for one message.

A fence is cut between lines, a table between rows, and text between lines, sentences or words, if possible outside of
links, code and emphasis.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import assert_never

from gofer.sources import markdown_nodes as md
from gofer.sources.markdown import parse
from gofer.sources.slack.markdown import Block, Cost, characters, fenced, within

_PLACES = (re.compile(r"\n"), re.compile(r"(?<=[.!?…。؟])\s+"), re.compile(r"\s+"))
"""Places where text may be cut, best first."""
_TRIES = 8
"""The most places of each kind that are tried before a worse kind is accepted."""
_SPAN = re.compile(
    r"(?<!`)(?P<mark>`{1,3})(?!`)[^`]+(?P=mark)(?!`)"
    r"|!?\[[^\[\]]+\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)"
    r"|(?P<stars>\*{1,3}|_{1,3}|~~)(?=[^\s*_~])[^*_~]+(?P=stars)"
)
"""Text that looks like code, a link or emphasis. Only the parser decides whether it is."""
_LONGEST_OPENING = 200
_GLUE = frozenset("\u200d\u2060\ufe0e\ufe0f")


def divided(block: Block, room: int, most: Cost) -> list[str]:
    """Return a block as texts of at most `most.characters` each; the first has at most `room`."""
    match block.node:
        case md.CodeBlock(fence=fence, info=info) if fence and len(fence + info) <= _LONGEST_OPENING:
            return _fences(block.lines, fence, room, most.characters)
        case md.CodeBlock(fence=""):
            lines = [line.removeprefix("    ") for line in block.lines]
            return _fences_of(fenced(lines).split("\n")[0], lines, room, most.characters)
        case md.Table():
            return _tables(block, room, most) or _texts(block.text, room, most.characters)
        case md.Paragraph() | md.Heading() | md.ItemList() | md.Item() | md.Quote() | md.CodeBlock() | md.Rule():
            return _texts(block.text, room, most.characters)
        case _:
            assert_never(block.node)


def _fences(written: Sequence[str], fence: str, room: int, most: int) -> list[str]:
    opening, *lines = written
    indent = len(opening) - len(opening.lstrip(" "))
    if lines and (end := lines[-1].strip()) and set(end) == {fence[0]} and len(end) >= len(fence):
        lines = lines[:-1]
    lines = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
    return _fences_of(opening.strip(), lines, room, most)


def _fences_of(opening: str, lines: Sequence[str], room: int, most: int) -> list[str]:
    """Return several fences that each begin with `opening` and together hold the lines."""
    mark = opening[0]
    closing = mark * (len(opening) - len(opening.lstrip(mark)))
    frame = characters(opening) + characters(closing) + 2
    pieces: list[str] = []
    collected: list[str] = []
    left = room - frame
    for line in chain.from_iterable(_slices(line, most - frame - 1) for line in lines):
        size = characters(line) + 1
        if size > left and (collected or not pieces):
            if collected:
                pieces += ["\n".join([opening, *collected, closing])]
            collected = []
            left = most - frame
        collected.append(line)
        left -= size
    return [*pieces, "\n".join([opening, *collected, closing])]


def _tables(block: Block, room: int, most: Cost) -> list[str]:
    """Return several tables with the same header, or none when a row is too long."""
    header = list(block.lines[:2])
    rows = block.lines[2:]
    frame = characters("\n".join(header)) + 1
    if frame > most.characters // 2 or any(frame + characters(row) + 1 > most.characters for row in rows):
        return []
    pieces: list[str] = []
    collected: list[str] = []
    left = min(room, most.cells) - frame
    for row in rows:
        size = characters(row) + 1
        if collected and (size > left or len(collected) + 1 >= most.rows):
            pieces.append("\n".join([*header, *collected]))
            collected = []
            left = min(most.characters, most.cells) - frame
        collected.append(row)
        left -= size
    return [*pieces, "\n".join([*header, *collected])]


def _texts(text: str, room: int, most: int) -> list[str]:
    pieces: list[str] = []
    limit = room if _whole_place(text, room) else most
    while characters(text) > limit:
        place = _whole_place(text, limit) or _any_place(text, limit)
        pieces.append(text[:place].rstrip())
        text = text[place:].lstrip()
        limit = most
    return [piece for piece in (*pieces, text) if piece]


def halved(text: str) -> list[str]:
    """Return the two halves of a text of at least two letters. The second half keeps the indent of its first line."""
    half = characters(text) // 2
    place = _whole_place(text, half) or _any_place(text, half)
    return [text[:place].rstrip(), text[place:].lstrip(" ").removeprefix("\n")]


def _whole_place(text: str, limit: int) -> int | None:
    """Return the place of a cut that splits no span, at most `limit` from the beginning; None if there is none."""
    end = within(text, limit)
    window = text[: end + 2_000]
    whole = _shape(window)
    inside = [span.span() for span in _SPAN.finditer(window)]
    for pattern in _PLACES:
        found = [match.start() for match in pattern.finditer(text, max(1, end // 4), end)]
        likely = _outside(found, inside) or found
        for place in reversed(likely[-_TRIES:]):
            if _shape(window[:place].rstrip()) + _shape(window[place:].lstrip()) == whole:
                return place
    return None


def _any_place(text: str, limit: int) -> int:
    """Return the place of a cut inside one long span: between lines, sentences, words or else letters."""
    end = within(text, limit)
    for pattern in _PLACES:
        found = [match.start() for match in pattern.finditer(text, max(1, end // 4), end)]
        if found:
            return found[-1]
    return _between_letters(text, end)


def _outside(places: Sequence[int], spans: Sequence[tuple[int, int]]) -> Sequence[int]:
    """Return the places that are in none of the spans. Both sequences are sorted."""
    ends = [end for _, end in spans]
    after = [bisect_right(ends, place) for place in places]
    return [place for place, span in zip(places, after, strict=True) if span == len(spans) or place <= spans[span][0]]


def _shape(markdown: str) -> Counter[tuple[str, str]]:
    """Return the features that a cut must keep: the spans of a text with their targets, and its kinds of blocks."""
    return Counter(chain.from_iterable(map(_block_shape, md.every(parse(markdown)))))


def _block_shape(node: md.BlockNode | md.Item) -> Iterator[tuple[str, str]]:
    """Yield the features of a node without its inner nodes.

    Paragraphs and quotes have none, so a cut may divide them.
    """
    match node:
        case md.Paragraph():
            yield from _span_shape(node.words.parts)
        case md.Heading():
            yield "heading", str(node.level)
            yield from _span_shape(node.words.parts)
        case md.ItemList():
            yield "list", "bullets" if node.start is None else "numbers"
        case md.Item():
            yield "item", ""
        case md.Quote():
            pass
        case md.CodeBlock():
            yield "block of code", "fence" if node.fence else "indent"
        case md.Table():
            yield from _table_shape(node)
        case md.Rule():
            yield "rule", ""
        case _:
            assert_never(node)


def _table_shape(table: md.Table) -> Iterator[tuple[str, str]]:
    yield "table", str(len(table.header))
    for row in (table.header, *table.rows):
        yield "row", str(len(row))
        for cell in row:
            yield from _span_shape(cell.parts)


def _span_shape(parts: Sequence[md.InlineNode]) -> Iterator[tuple[str, str]]:
    for part in parts:
        match part:
            case md.Code():
                yield "code", part.text
            case md.Image():
                yield "image", part.address
            case md.Link():
                yield "link", part.address
                yield from _span_shape(part.parts)
            case md.Strong() | md.Emphasis() | md.Strike():
                yield type(part).__name__, ""
                yield from _span_shape(part.parts)
            case md.Text() | md.Break():
                pass
            case _:
                assert_never(part)


def _slices(line: str, most: int) -> Iterator[str]:
    while characters(line) > most:
        end = _between_letters(line, within(line, most))
        yield line[:end]
        line = line[end:]
    yield line


def _between_letters(text: str, end: int) -> int:
    """Return the last place up to `end` that does not divide a character as people see it, such as a combined emoji."""
    for place in range(end, max(end - 40, 0), -1):
        if place == len(text):
            return place
        after = text[place]
        before = text[place - 1]
        joined = (
            unicodedata.combining(after) or after in _GLUE or before in _GLUE or "\U0001f3fb" <= after <= "\U0001f3ff"
        )
        if not joined:
            return place
    return end
