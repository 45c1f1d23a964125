"""Answers in one comment on an issue, a page or a pull request."""

from gofer.sources.markdown import outline
from gofer.sources.markdown_nodes import CodeBlock, ItemList
from gofer.sources.part_values import Composed

COMMENT_LIMIT = 18_000
"""Characters of a comment at most; what takes comments takes that much of each, links included."""
_CUT = "_This is the beginning; the rest is too long for a comment._"
_ROOM = COMMENT_LIMIT - len(_CUT) - 2


def one_comment(text: str) -> Composed:
    """Return an answer as one comment takes it; a long one loses its end, between two blocks where there are some."""
    if len(text) <= COMMENT_LIMIT:
        return Composed((text,))
    return Composed((f"{_beginning(text[:_ROOM])}\n\n{_CUT}",))


def _beginning(cut: str) -> str:
    """Return the whole blocks of a text that was cut, or more where these are less than half of it."""
    last = outline(cut)[-1]
    start = last.lines.start
    if isinstance(last, ItemList):
        start = last.items[-1].lines.start
    whole = "\n".join(cut.split("\n")[:start]).rstrip()
    if len(whole) >= len(cut) // 2:
        return whole
    if isinstance(last, CodeBlock) and last.fence:
        # An open fence would take the words after it for code.
        return f"{cut[: -len(last.fence) - 1]}\n{last.fence}"
    words, _, _ = cut.rpartition(" ")
    return words or cut
