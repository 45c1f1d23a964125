"""Earlier runs of a conversation: whether a workflow answered there, and what a run that continues one inherits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gofer.engine.step import Step
from gofer.journal.coordination import Head
from gofer.journal.entries import Route
from gofer.journal.lineage import run_id
from gofer.journal.log import read_journal
from gofer.journal.workspace_entries import FileAdded, Todo
from gofer.projections import workspace
from gofer.projections.progress import project
from gofer.projections.recap import handles, recap
from gofer.sources.part_values import Person
from gofer.values.errors import Corrupt, Gone
from gofer.values.events import Event

_PAGE = 500
_EVER = 2**62
"""Unix milliseconds after everything."""
_INVITED = frozenset({"guest", "external"})
"""Kinds of people who read less of a workspace than its full members."""
_LOOKED_BACK = 50
"""Earlier runs of a conversation that are looked at, when none of those after them came to anything."""


@dataclass(frozen=True, slots=True)
class Past:
    """What an earlier run of the conversation left to the one that goes on from it."""

    run: str = ""
    told: str = ""
    """What is worth knowing of it."""
    files: Sequence[FileAdded] = ()
    plan: tuple[Todo, ...] = ()


async def earlier_run(step: Step, event: Event, workflow: str) -> Head | None:
    """Return the newest ended run of a workflow in the conversation that was let in, before this event."""
    conversation = step.services.tokens.conversation(event.conversation)
    before = step.progress.accepted_at
    same_event = run_id(step.services.installation_key, event, workflow)
    for _ in range(_LOOKED_BACK):
        head = await step.services.store.previous(conversation, workflow, before)
        if head is None or (head.status != "ignored" and head.run != same_event):
            return head
        before = head.accepted_at
    return None


async def answered_before(step: Step, event: Event, routes: Sequence[Route]) -> Collection[str]:
    """Return the workflows that ask whether they answered in this conversation before, and did or are about to."""
    asking = {route.workflow for route in routes if "followed" in route.where}
    answered = {name for name in asking if await earlier_run(step, event, name)}
    if answered == asking:
        return answered
    return answered | await _under_way(step, event, asking - answered)


async def _under_way(step: Step, event: Event, workflows: Collection[str]) -> set[str]:
    """Return which of the workflows have an earlier run of the conversation that has not ended."""
    store = step.services.store
    sought = step.services.tokens.conversation(event.conversation)
    found = set[str]()
    same_event = {run_id(step.services.installation_key, event, workflow) for workflow in workflows}
    page: Sequence[Head] = await store.unfinished(_EVER, _PAGE)
    while page:
        found |= {
            head.workflow
            for head in page
            if head.conversation == sought
            and head.workflow in workflows
            and head.accepted_at < step.progress.accepted_at
            and head.run not in same_event
        }
        page = await store.unfinished(_EVER, _PAGE, after=page[-1])
    return found


async def recall_of(step: Step, head: Head | None, person: Person, *, private: bool) -> Past:
    """What the run that this one goes on from left; nothing when there is none."""
    if head is None:
        return Past()
    try:
        journal = await read_journal(head.run, step.services.store, step.services.blobs)
    except (Corrupt, Gone):
        return Past()
    # Its head may lie; what it left in the journal counts.
    earlier = project(journal)
    if earlier.finished is None or earlier.started is None:
        return Past()
    if earlier.started.private and not private:
        # What was for some people only does not go to where everybody can look: neither files, nor what was read.
        return Past(head.run)
    if earlier.event is None or not _may_know(person, earlier.event):
        return Past(head.run)
    told = recap(head.run, journal)
    files = [file for file in handles(head.run, journal) if not _held(step, file)]
    return Past(head.run, told, files, workspace.project(journal).plan)


def _may_know(person: Person, earlier: Event) -> bool:
    """Return whether a person may know what an earlier run read: it read what the person who started it can read."""
    return person.kind not in _INVITED or person.id == earlier.actor.id


def _held(step: Step, file: FileAdded) -> bool:
    known = step.workspace.files.get(file.file)
    return known is not None and (known.fetched or not file.body)
