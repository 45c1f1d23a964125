"""Events about an issue, a page or a pull request. One call reads the subject, and one comment on it is the answer."""

from collections.abc import Callable, Mapping

from gofer.journal.entries import ToolResult
from gofer.sources.markdown import outline
from gofer.sources.markdown_nodes import CodeBlock, ItemList
from gofer.sources.part_values import Composed, Need, SourceContext
from gofer.values.canonical_json import as_object, as_text, encode_text, indented
from gofer.values.events import Event
from gofer.workflows.schema import Reply

SUBJECT = Need("the issue, page or pull request could not be read", "read the issue, page or pull request")
"""The issue, page or pull request of an event."""
_GONE = "the comment, issue, page or pull request that it is about was deleted"


def needs_subject(event: Event) -> Need:
    """Return the need of a run for its subject."""
    return SUBJECT


def subject_gone(*deleted: str) -> Callable[[Event, ToolResult], str]:
    """Return the part `gone` of a reading, from the vendor's codes for a subject that was deleted.

    If the vendor still sends what was deleted, the details of the result say so.
    """

    def gone(event: Event, result: ToolResult) -> str:
        match result:
            case ToolResult(status="ok", details={"deleted": True}):
                return _GONE
            case ToolResult(status="error", details={"code": code}) if code in deleted:
                return _GONE
            case _:
                return ""

    return gone


def comment_there(event: Event, reply: Reply) -> str:
    """Return the sentence about an answer that is a comment on the subject, with each value of `reply`."""
    return "Your answer is a comment there."


def context_of_event(event: Event, opening: str) -> SourceContext:
    """Return the source context of an event that itself holds everything."""
    return SourceContext(opening, event.text, event.private is not False)


def subject_context(
    event: Event, result: ToolResult, opening: str, *, request: bool = False, above: str = ""
) -> SourceContext:
    """Return the source context from the call that read the subject.

    `request` says that the event's text asks Gofer, and `above` are lines that belong above that text.
    """
    details = result.details or {}
    subject = as_object(details.get("subject"))
    changed = ""
    if not request:
        # The issue or page may no longer show what was changed.
        changed = "\n".join([*filter(None, [above]), *indented(event.text)])
    return SourceContext(
        happened=f"{opening}{_comment_sentence(subject)}",
        read=f"{changed}\n\n{result.text}".strip("\n"),
        # The context is private if either the event or the subject is.
        private=event.private is True or details.get("private") is not False,
        words=as_text(subject.get("words")) or _stored_words(event),
        author="its author",
        facts=as_object(details.get("facts")),
        properties=as_object(details.get("properties")),
        header=as_text(subject.get("header")),
        addressed=opening,
    )


def _comment_sentence(subject: Mapping[str, object]) -> str:
    """Return a sentence with the author and time of the event's comment; empty if the comment was not read."""
    if not (author := as_text(subject.get("author"))):
        return ""
    return f" The comment is by {encode_text(author)} at {as_text(subject.get('time'))}."


def _stored_words(event: Event) -> str:
    """Return the comment's text that the event holds, with a note if it holds only a part."""
    words = as_text(event.facts.get("says"))
    if not event.place.get("cut"):
        return words
    return f"{words}\n[The text is cut here. The comment could not be read again, so ask its author for the rest.]"


COMMENT_LIMIT = 18_000
"""The most characters of a comment, links included. Every system that takes comments accepts this many."""
_CUT = "_This is the beginning; the rest is too long for a comment._"
_ROOM = COMMENT_LIMIT - len(_CUT) - 2


def one_comment(text: str) -> Composed:
    """Return an answer as one comment. A long answer is cut, between two blocks if possible."""
    if len(text) <= COMMENT_LIMIT:
        return Composed((text,))
    return Composed((f"{_beginning(text[:_ROOM])}\n\n{_CUT}",))


def _beginning(cut: str) -> str:
    """Return the whole blocks of a cut text, or its whole words if the blocks are less than half of it."""
    blocks = outline(cut)
    if not blocks:
        # A text of link definitions alone has no blocks.
        return _words(cut)
    last = blocks[-1]
    start = last.lines.start
    if isinstance(last, ItemList):
        start = last.items[-1].lines.start
    whole = "\n".join(cut.split("\n")[:start]).rstrip()
    if len(whole) >= len(cut) // 2:
        return whole
    if isinstance(last, CodeBlock) and last.fence:
        # An unclosed fence would turn the text after it into code.
        return f"{cut[: -len(last.fence) - 1]}\n{last.fence}"
    return _words(cut)


def _words(cut: str) -> str:
    """Return the whole words of a cut text."""
    words, _, _ = cut.rpartition(" ")
    return words or cut
