"""The source of schedules. A run starts at a time, and its answer is written nowhere."""

from gofer.sources.part_values import Person, SourceContext
from gofer.sources.source import Source
from gofer.values.events import Event


def _from_event(event: Event, person: Person) -> SourceContext:
    happened = f"{event.text} No person asked for this run: your prompt says what to do at this time."
    return SourceContext(happened, "", event.private is not False)


SCHEDULE = Source("schedule", "schedule", _from_event, trusted=True)
