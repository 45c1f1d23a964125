"""The runs that feedback on another run, or its review, starts.

A run that such an event started starts none, so workflows cannot start each other in a circle.
"""

from collections.abc import Iterable

from gofer.engine.own_step import OwnStep
from gofer.journal.entries import FollowUp, Item
from gofer.runtime.claimed_start import start_run
from gofer.sources.receivers import known
from gofer.sources.registry import WORKPLACE
from gofer.sources.runs.follow_ups import SOURCE, SubjectRun, event_of
from gofer.workflows.load import Catalog
from gofer.workflows.routes import read_routes


async def start_following(step: OwnStep, entries: Iterable[Item], catalog: Catalog) -> None:
    """Start a run for each journaled entry and each workflow whose trigger matches it. Raises TemporaryError.

    The same entry starts the same runs however often it is given. All matching workflows run: they do not compete.
    """
    subject = _subject(step, catalog)
    if subject is None:
        return
    events = [event_of(entry, subject) for entry in entries if isinstance(entry, FollowUp)]
    if not any(events):
        return
    routes = read_routes(catalog.routes())
    services = step.services
    for event in filter(None, events):
        matching = routes.matching(event.kind, known(event))
        for workflow in sorted({route.workflow for route in matching}):
            await start_run(event, workflow, step.pen, services.stores, services.installation_key)


def _subject(step: OwnStep, catalog: Catalog) -> SubjectRun | None:
    """Return the run for events about it; None if nothing may start because of it."""
    event = step.progress.event
    if step.is_private or event is None or event.source == SOURCE:
        return None
    workflow = step.progress.workflow
    owner = ""
    if loaded := catalog.workflows.get(workflow):
        owner = loaded.workflow.owner
    links = step.services.links
    return SubjectRun(
        run=step.run,
        workflow=workflow,
        owner=owner,
        channel=WORKPLACE.channels.of(owner),
        link=links.run_url(step.run) if links.base_url else "",
        hops=event.hops,
    )
