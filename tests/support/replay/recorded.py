"""Recorded runs of tests, and their replays with the tools of the worker that made them."""

from collections.abc import Callable
from dataclasses import replace

from gofer.journal.entries import Entry, Recorded
from gofer.journal.log import read_journal
from gofer.projections.progress import project
from gofer.replay.changes import Changes
from gofer.replay.recorded_run import RecordedRun, recorded_run
from gofer.replay.replay import Replay, replay
from gofer.runtime.run_reader import OPERATOR, RunReader
from support.runtime.memory_worker import MemoryWorker
from support.runtime.worker_parts import catalog_of

UNCHANGED = Changes()


async def recorded_by(made: MemoryWorker, run: str = "run1") -> RecordedRun:
    """Return a public run of a worker as replay reads it."""
    services = made.worker.services
    entries = await read_journal(run, services.store, services.blobs)
    assert project(entries).event is not None
    record = await RunReader(services.stores, made.clock, {}).read(run, OPERATOR)
    assert record is not None
    return await recorded_run(record, services.stores)


async def replayed(made: MemoryWorker, recorded: RecordedRun, changes: Changes = UNCHANGED) -> Replay:
    """Replay a run with the tools and workflows of the worker that made it."""
    return await replay(recorded, made.worker.services, catalog_of(made.worker), changes)


def edited(recorded: RecordedRun, edit: Callable[[Entry], Entry | None]) -> RecordedRun:
    """Return a recording whose entries are edited; None removes an entry."""

    def edited_entry(one: Recorded) -> Recorded | None:
        entry = edit(one.entry)
        return replace(one, entry=entry) if entry is not None else None

    entries = [one for one in map(edited_entry, recorded.entries) if one is not None]
    return replace(recorded, journals={**recorded.journals, recorded.run: entries})
