"""The source context of an event: what it is about, as far as it does not say so itself."""

from collections.abc import Mapping

from gofer.engine.asker import Person
from gofer.engine.first_message import indented, is_request
from gofer.engine.slack_context import slack_source_context
from gofer.engine.step import Outcome, Permitted, Step
from gofer.engine.surfaces import SourceContext, surface
from gofer.engine.unmet_needs import SUBJECT, stopped
from gofer.journal.entries import MATERIAL, ToolResult
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text, encode_text
from gofer.values.events import Event


async def read_source_context(step: Step, event: Event, person: Person, provenance: Provenance) -> SourceContext:
    """Reads the outside object of an event. Raises RunStopped, Cancelled, OutOfTime."""
    if event.source == "slack":
        return await slack_source_context(step, event, person, provenance)
    asked = surface(event).read(event)
    if asked is None:
        said = ""
        if event.source != "schedule":
            said = await step.shorten(event.text, event.source, f"the {event.source} that began this run")
        opening = surface(event).opening(event)
        private = event.private is not False
        if is_request(event, followed=False):
            return SourceContext(opening, "", private, words=said, author=as_text(event.facts.get("by")) or "a person")
        return SourceContext(opening, indented(said), private)
    name, arguments = asked
    tool = step.services.tools[name]
    permitted = Permitted(MATERIAL, tool, tool.parse(arguments), arguments)
    return _material(event, await step.call(permitted, provenance), tool.system)


def _material(event: Event, outcome: Outcome, system: str) -> SourceContext:
    match outcome:
        case ToolResult(status="ok", text=read, details=found):
            details = found or {}
            # The more careful of two sources wins.
            private = event.private is True or details.get("private") is not False
            # An issue or a page may not say any more what was changed.
            changed = indented(event.text) * (not is_request(event, followed=False))
            told = f"{changed}\n\n{read}".strip("\n")
            facts, properties = as_object(details.get("facts")), as_object(details.get("properties"))
            subject = as_object(details.get("subject"))
            opening = surface(event).opening(event)
            return SourceContext(
                happened=f"{opening}{_which(subject)}",
                read=told,
                private=private,
                words=as_text(subject.get("words")) or _kept(event),
                author="its author",
                facts=facts,
                properties=properties,
                header=as_text(subject.get("header")),
                addressed=opening,
            )
        case _:
            raise stopped(SUBJECT, outcome, system)


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
