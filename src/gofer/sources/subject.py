"""Events about an issue, a page or a pull request: one call reads it, and one comment there answers."""

from collections.abc import Mapping

from gofer.journal.entries import ToolResult
from gofer.sources.markdown import outline
from gofer.sources.markdown_nodes import CodeBlock, ItemList
from gofer.sources.part_values import Composed, Need, SourceContext
from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.events import Event

SUBJECT = Need("what it is about could not be read", "read what this is about")
"""The issue, page or pull request of an event."""


def needs_subject(event: Event) -> Need:
    """Return what a run lacks when its subject could not be read."""
    return SUBJECT


def told(event: Event, opening: str) -> SourceContext:
    """Return the source context of an event that says all there is."""
    return SourceContext(opening, event.text, event.private is not False)


def subject_context(event: Event, result: ToolResult, opening: str, *, request: bool = False) -> SourceContext:
    """Return the source context that reading the subject gave; `request` when the event's words are one."""
    details = result.details or {}
    subject = as_object(details.get("subject"))
    changed = ""
    if not request:
        # An issue or a page may not say any more what was changed.
        changed = indented(event.text)
    return SourceContext(
        happened=f"{opening}{_which(subject)}",
        read=f"{changed}\n\n{result.text}".strip("\n"),
        # The more careful of two sources wins.
        private=event.private is True or details.get("private") is not False,
        words=as_text(subject.get("words")) or _kept(event),
        author="its author",
        facts=as_object(details.get("facts")),
        properties=as_object(details.get("properties")),
        header=as_text(subject.get("header")),
        addressed=opening,
    )


def indented(text: str) -> str:
    """Return what people wrote as material shows it."""
    return "\n".join(f"    {row}" for row in text.splitlines())


def _which(subject: Mapping[str, object]) -> str:
    """Return a sentence that names the comment of an event by its author and time; empty where it was not read."""
    if not (author := as_text(subject.get("author"))):
        return ""
    return f" The comment is by {encode_text(author)} at {as_text(subject.get('time'))}."


def _kept(event: Event) -> str:
    """Return what an event kept of the words of its comment, with a note where it kept a part."""
    words = as_text(event.facts.get("says"))
    if not event.place.get("cut"):
        return words
    return f"{words}\n[The text is cut here. The comment could not be read again, so ask its author for the rest.]"


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
    blocks = outline(cut)
    if not blocks:
        # Definitions of links are no blocks.
        return _words(cut)
    last = blocks[-1]
    start = last.lines.start
    if isinstance(last, ItemList):
        start = last.items[-1].lines.start
    whole = "\n".join(cut.split("\n")[:start]).rstrip()
    if len(whole) >= len(cut) // 2:
        return whole
    if isinstance(last, CodeBlock) and last.fence:
        # An open fence would take the words after it for code.
        return f"{cut[: -len(last.fence) - 1]}\n{last.fence}"
    return _words(cut)


def _words(cut: str) -> str:
    """Return the whole words of a text that was cut."""
    words, _, _ = cut.rpartition(" ")
    return words or cut
