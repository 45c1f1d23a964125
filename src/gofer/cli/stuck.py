"""Runs that are stuck: they have not moved for longer than they should, or what is due of them was not deleted.

Of a private run the id is given and nothing else, not even by the order: with it `gofer retry`, `gofer cancel` and
`gofer purge` do their part, and people of its place can be asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.app.operations import Operations
from gofer.journal.coordination import Head
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.projections.progress import project
from gofer.values.errors import Corrupt, Gone

STILL_MS = 900_000
"""Milliseconds without a frame after which a run is stuck: a sweep enqueues it every minute from the third on."""
_PAGE = 500
_NEWEST = 1_000
"""Runs that ended, of which those that need attention are looked for."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """What is stuck."""

    public: Sequence[Head]
    """The oldest first."""
    private: Sequence[str]
    """Ids, in their own order."""


async def find_stuck(opened: Operations) -> Stuck:
    """Return the runs that are stuck. Raises TemporaryError."""
    before = int(opened.clock.now() * 1000) - STILL_MS
    found = [head for head in await _unfinished(opened, before) if await _is_still(opened, head, before)]
    found += [head for head in await _abandoned(opened) if await _is_abandoned(opened, head)]
    found += await opened.stores.journals.ended("deleting", before, _NEWEST)
    found += [head for head in await _due(opened, before) if await _is_undeleted(opened, head)]
    known = {head.run: head for head in found}
    public = sorted((head for head in known.values() if not head.private), key=lambda head: head.accepted_at)
    return Stuck(public, sorted(head.run for head in known.values() if head.private))


async def _unfinished(opened: Operations, before: int) -> Sequence[Head]:
    """Return every run that has not ended and of which no row was written since."""
    found: list[Head] = []
    while page := await opened.stores.journals.unfinished(before, _PAGE, after=found[-1] if found else None):
        found += page
    return found


async def _abandoned(opened: Operations) -> Sequence[Head]:
    """Return the newest runs that need attention, private ones too."""
    heads = await opened.stores.journals.heads(_NEWEST, private=True)
    return [head for head in heads if head.status == "needs_attention" and head.retention in ("due", "kept")]


async def _due(opened: Operations, before: int) -> Sequence[Head]:
    """Return private runs that ended and of which nothing was deleted yet."""
    return await opened.stores.journals.ended("due", before, _NEWEST, private=True)


async def _is_still(opened: Operations, head: Head, before: int) -> bool:
    """Return whether no frame of a run was written since; one at work writes frames and no row."""
    journal = await _read(opened, head)
    return not journal or journal[-1].at < before


async def _is_abandoned(opened: Operations, head: Head) -> bool:
    """Return whether a run needs attention because no worker could end it, and not because it said so at its end."""
    journal = await _read(opened, head)
    return not journal or project(journal).finished is None


async def _is_undeleted(opened: Operations, head: Head) -> bool:
    """Return whether the contents of a run should be gone: those of one that became private stay their thirty days."""
    journal = await _read(opened, head)
    if not journal:
        return True
    return project(journal).private


async def _read(opened: Operations, head: Head) -> Sequence[Recorded]:
    """Return the journal of a run; nothing where it cannot be read."""
    try:
        return await read_journal(head.run, opened.stores.journals, opened.stores.blobs)
    except (Corrupt, Gone):
        return ()
