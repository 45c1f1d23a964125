"""The workflows that an event starts by compiled routes."""

from gofer.sources.receivers import known
from gofer.values.events import Event
from gofer.workflows.routes import Routes


def started(routes: Routes, event: Event) -> list[str]:
    """Return the workflows that an event may start, each once, in the order of their names."""
    return sorted({route.workflow for route in routes.matching(event.kind, known(event))})
