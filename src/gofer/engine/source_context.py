"""The source context of an event: what it is about, as far as it does not say so itself."""

from dataclasses import replace

from gofer.engine.conditions import DoesNotMatch
from gofer.engine.own_calls import permitted
from gofer.engine.step import Step
from gofer.engine.unmet_needs import stopped
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import CONTEXT
from gofer.sources.part_values import Person, SourceContext
from gofer.sources.registry import source_of
from gofer.sources.subject import indented
from gofer.tools.definition import Provenance
from gofer.values.events import Event


async def read_source_context(step: Step, event: Event, person: Person, provenance: Provenance) -> SourceContext:
    """Read what an event is about.

    Raises DoesNotMatch when the object of the event is gone, RunStopped, Cancelled, OutOfTime.
    """
    source = source_of(event)
    reading = source.reading
    if reading is None or (asked := reading.call(event)) is None:
        told = source.told(event, person)
        if told.words:
            return replace(
                told, words=await step.shorten(told.words, event.source, f"the words of this {event.source}")
            )
        said = await step.shorten(told.read, event.source, f"the {event.source} that began this run")
        return replace(told, read=indented(said))
    outcome = await step.call(permitted(step, CONTEXT, asked), provenance)
    if isinstance(outcome, ToolResult):
        if gone := reading.gone(event, outcome):
            raise DoesNotMatch(gone)
        if outcome.status == "ok":
            return reading.read(event, person, outcome)
    raise stopped(reading.need(event), outcome, source.system)
