"""The inline nodes of Jira's documents: texts with the marks that Jira lets stand together, and line breaks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from gofer.sources.markdown import followed
from gofer.sources.markdown_nodes import Break, Code, Emphasis, Image, InlineNode, Link, Strike, Strong, Text

Node = dict[str, object]

_ADDRESS = re.compile(r"(https?://[^\s<>()\[\]\"'`]*[^\s<>()\[\]\"'`.,;:!?*_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Run:
    """Characters with the same marks and the same address."""

    text: str
    marks: frozenset[str] = frozenset()
    address: str = ""


_NEW_LINE = _Run("\n")
"""A hard break. No other run has a line break in it."""


def inline(parts: Iterable[InlineNode], *, strong: bool = False) -> list[Node]:
    """Return the nodes of parts; neighbours with the same marks are one text."""
    marks = frozenset({"strong"} if strong else ())
    return [node for run in _joined(_runs(parts, marks)) for node in _nodes(run)]


def text(words: str, address: str = "") -> Node:
    """Return a text, with a link where there is an address."""
    return _text(_Run(words, address=address))


def _runs(parts: Iterable[InlineNode], marks: frozenset[str], address: str = "") -> Iterator[_Run]:
    for part in parts:
        match part:
            case Text():
                yield _Run(part.text, marks, address)
            case Code():
                # Jira takes a link beside code and no other mark.
                yield _Run(part.text, frozenset({"code"}), address)
            case Strong():
                yield from _runs(part.parts, marks | {"strong"}, address)
            case Emphasis():
                yield from _runs(part.parts, marks | {"em"}, address)
            case Strike():
                yield from _runs(part.parts, marks | {"strike"}, address)
            case Link():
                yield from _runs(part.parts or [Text(part.address)], marks, _followed(part.address))
            case Image():
                yield _Run(part.text or part.address or "image", marks, address or _followed(part.address))
            case Break():
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
    """Return the nodes of a run. Addresses in its text become links, which Jira does not look for."""
    if run == _NEW_LINE:
        return [{"type": "hardBreak"}]
    if run.address or "code" in run.marks:
        return [_text(run)]
    pieces = [piece for piece in _ADDRESS.split(run.text) if piece]
    return [_text(replace(run, text=piece, address=_found(piece))) for piece in pieces]


def _found(piece: str) -> str:
    if _ADDRESS.fullmatch(piece):
        return piece
    return ""


def _text(run: _Run) -> Node:
    marks: list[Node] = [{"type": kind} for kind in sorted(run.marks)]
    if run.address:
        marks.append({"type": "link", "attrs": {"href": run.address}})
    node: Node = {"type": "text", "text": run.text}
    if marks:
        return node | {"marks": marks}
    return node
