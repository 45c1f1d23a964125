"""The source context of an event: what it is about, as far as it does not say so itself."""

from gofer.canonical import as_object, as_text
from gofer.engine.first_message import indented, is_request
from gofer.engine.needed import SUBJECT, stopped
from gofer.engine.slack_context import slack_material
from gofer.engine.step import Outcome, Permitted, Step
from gofer.engine.surfaces import Material, surface
from gofer.engine.who import Person
from gofer.events import Event
from gofer.journal.entries import MATERIAL, ToolResult
from gofer.tools.tool import Provenance


async def read_material(step: Step, event: Event, person: Person, provenance: Provenance) -> Material:
    """Reads the outside object of an event. Raises RunStopped, Cancelled, OutOfTime."""
    if event.source == "slack":
        return await slack_material(step, event, person, provenance)
    asked = surface(event).read(event)
    if asked is None:
        said = ""
        if event.source != "schedule":
            said = await step.shorten(event.text, event.source, f"the {event.source} that began this run")
        return Material(surface(event).opening(event), indented(said), event.private is not False)
    name, arguments = asked
    tool = step.services.tools[name]
    permitted = Permitted(MATERIAL, tool, tool.parse(arguments), arguments)
    return _material(event, await step.call(permitted, provenance), tool.system)


def _material(event: Event, outcome: Outcome, system: str) -> Material:
    match outcome:
        case ToolResult(status="ok", text=read, details=found):
            details = found or {}
            # The more careful of two sources wins.
            private = event.private is True or details.get("private") is not False
            # An issue or a page may not say any more what was changed.
            changed = indented(event.text) * (not is_request(event, followed=False))
            told = f"{changed}\n\n{read}".strip("\n")
            facts, properties = as_object(details.get("facts")), as_object(details.get("properties"))
            words = as_text(event.facts.get("says"))
            return Material(surface(event).opening(event), told, private, words, "its author", facts, properties)
        case _:
            raise stopped(SUBJECT, outcome, system)
