"""The source context of an issue, a page or a pull request: one call reads it."""

from collections.abc import Mapping

from gofer.journal.entries import ToolResult
from gofer.sources.part_values import Need, SourceContext
from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.events import Event

SUBJECT = Need("what it is about could not be read", "read what this is about")
"""The issue, page or pull request of an event."""


def needs_subject(event: Event) -> Need:
    """Return what a run lacks whose subject could not be read."""
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
