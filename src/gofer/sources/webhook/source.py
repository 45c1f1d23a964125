"""The source of webhooks. A program of the company calls, and Gofer writes no answer back."""

from gofer.sources.part_values import Person, SourceContext
from gofer.sources.source import Source
from gofer.sources.subject import context_of_event
from gofer.values.events import Event


def _from_event(event: Event, person: Person) -> SourceContext:
    return context_of_event(event, f"A program called the webhook {event.place.get('hook', '')} with the body below.")


WEBHOOK = Source("webhook", "webhook", _from_event, trusted=True)
