"""Answers in one comment on an issue, a page or a pull request."""

from gofer.sources.part_values import Composed
from gofer.sources.slack.parts import compose

COMMENT_LIMIT = 18_000
"""Characters of a comment at most; what takes comments takes that much of each, links included."""
_CUT = "_This is the beginning; the rest is too long for a comment._"


def one_comment(text: str) -> Composed:
    """Return an answer as one comment takes it; a long one loses its end, between two blocks."""
    if len(text) <= COMMENT_LIMIT:
        return Composed((text,))
    return Composed((f"{compose(text).messages[0]}\n\n{_CUT}",))
