"""The Markdown parser for all vendors: Markdown text to nodes.

It reads CommonMark with tables and strikethrough, the Markdown that people write in messages, issues and pages.
"""

import importlib
from collections.abc import Sequence
from typing import Protocol, cast

from gofer.sources.markdown_nodes import BlockNode

_FOLLOWED = ("http://", "https://", "mailto:")


class MarkdownParser(Protocol):
    """The module `markdown_parser`."""

    def parse(self, markdown: str) -> Sequence[BlockNode]:
        """Return what `parse` of this module returns."""
        ...

    def outline(self, markdown: str) -> Sequence[BlockNode]:
        """Return what `outline` of this module returns."""
        ...


def parse(markdown: str) -> Sequence[BlockNode]:
    """Return the blocks of a text with their inline nodes."""
    return _parser().parse(markdown)


def outline(markdown: str) -> Sequence[BlockNode]:
    """Return the blocks of a text without their inline nodes. This is fast for texts of any length."""
    return _parser().outline(markdown)


def followed(address: str) -> bool:
    """Return whether an address may become a link: only http, https and mailto."""
    return address.startswith(_FOLLOWED)


def _parser() -> MarkdownParser:
    """Load the parser with the first text, because many processes parse none (decision 62)."""
    return cast(MarkdownParser, importlib.import_module("gofer.sources.markdown_parser"))
