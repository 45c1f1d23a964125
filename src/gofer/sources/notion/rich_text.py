"""Notion's rich text: written from spans, read as plain text, and the footer of Gofer's texts."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.sources.origin_links import origin_links
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text

CONTENT_LIMIT = 2_000
"""The most characters of one part of a rich text."""
LENGTH_LIMIT = 100
"""The most parts of one rich text."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Span:
    """Text with the same marks and the same link."""

    text: str
    marks: frozenset[str] = frozenset()
    url: str = ""


def rich_text(spans: Iterable[Span], end: Sequence[Span] = ()) -> list[Json]:
    """Return spans as a rich text.

    If there are too many parts, marks and links become plain text; `end` stays whole.
    """
    parts = list(_cut(spans))
    last = list(_cut(end))
    if len(parts) + len(last) > LENGTH_LIMIT:
        parts = list(_cut(Span(f"{part.text} ({part.url})" if part.url else part.text) for part in parts))
    return [_json(part) for part in (*parts[: LENGTH_LIMIT - len(last)], *last)]


def _json(span: Span) -> Json:
    text: Json = {"content": span.text}
    if span.url:
        text["link"] = {"url": span.url}
    part: Json = {"type": "text", "text": text}
    if span.marks:
        part["annotations"] = dict.fromkeys(sorted(span.marks), True)
    return part


def _cut(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans with equal neighbours joined and long ones cut to Notion's limit."""
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
    """Yield pieces that fit. Notion counts UTF-16 units, in which a character beyond the basic plane counts as two."""
    start = size = 0
    for place, char in enumerate(text):
        width = 2 if char > "\uffff" else 1
        if size + width > CONTENT_LIMIT:
            yield text[start:place]
            start = place
            size = 0
        size += width
    yield text[start:]


def words(rich_text: object) -> str:
    """Return the plain text of a rich text."""
    return "".join(as_text(as_object(part).get("plain_text")) for part in as_list(rich_text))


def mark(call: Call) -> str:
    """Return the mark of a call, which is unique to the call and the same on every attempt."""
    return f"ref {hashlib.sha256(call.key.encode()).hexdigest()[:12]}"


def footer(call: Call) -> list[Span]:
    """Return the line below a text: what the run wrote, links to the prompt and the run, and the mark of the call."""
    links = [Span(words, url=url) for words, url in origin_links(call.provenance)]
    wrote = [Span(call.provenance.wrote)] * bool(call.provenance.wrote)
    parts = [*wrote, *links, Span(mark(call), frozenset({"code"}))]
    return [piece for part in parts for piece in (Span(" · "), part)][1:]


def marked(call: Call, holder: Mapping[str, object]) -> bool:
    """Return whether a comment or the content of a block ends with the mark of this call."""
    return words(holder.get("rich_text")).rstrip().endswith(mark(call))
