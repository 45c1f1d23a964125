"""What is an event about, as far as it does not say so itself?"""

from gofer.canonical import as_object
from gofer.engine.needed import SUBJECT, stopped
from gofer.engine.slack_context import slack_material
from gofer.engine.step import Outcome, Permitted, Step
from gofer.engine.surfaces import DATA, Material, surface
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
        said = await step.shorten(event.text, event.source, f"the {event.source} that began this run")
        return Material(_first_message(event, _quoted(said)), event.private is not False)
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
            told = f"{_quoted(event.text)}\n\n{read}".strip("\n")
            facts, properties = as_object(details.get("facts")), as_object(details.get("properties"))
            return Material(_first_message(event, told), private, facts, properties)
        case _:
            raise stopped(SUBJECT, outcome, system)


def _first_message(event: Event, read: str) -> str:
    return f"{surface(event).opening(event)}\n{DATA}\n\n{read}"


def _quoted(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
