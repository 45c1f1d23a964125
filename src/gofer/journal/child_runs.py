"""The journals below a run: those of its subagents, and of theirs."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.blob_store import Blobs
from gofer.journal.entries import Recorded, SubagentFinished, SubagentStarted
from gofer.journal.frames import Frame, open_alone
from gofer.journal.log import read_journal
from gofer.journal.seal import seal_of
from gofer.journal.store import Store
from gofer.values.errors import Corrupt, Gone

STARTED = "subagent.started"
FINISHED = "subagent.finished"
Span = tuple[int, int]
"""When the run above began and when its last frame was written, unix milliseconds."""


@dataclass(slots=True)
class SubagentJournals:
    """What stands below one run, by run. Those that were deleted, and those that never began, are left out."""

    journals: dict[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])
    damaged: dict[str, str] = field(default_factory=dict[str, str])
    """Why a journal cannot be read; the runs below that one are not known."""


def subagent_runs(entries: Iterable[Recorded]) -> Sequence[str]:
    """Return the runs of the subagents that a journal names, each once."""
    named = [one.entry.run for one in entries if isinstance(one.entry, SubagentStarted) and one.entry.run]
    return list(dict.fromkeys(named))


async def named_subagents(run: str, store: Store) -> Mapping[str, Span]:
    """Return the subagents that a run names, for its deletion: those in the frames that open of a damaged one.

    Raises TemporaryError.
    """
    opened = await _frames(run, store)
    started = [entry for frame in opened for entry in frame.entries if entry.get("kind") == STARTED]
    at = (0, 0)
    if opened:
        at = (opened[0].at, opened[-1].at)
    return {str(entry["run"]): at for entry in started if entry.get("run")}


async def running_subagents(run: str, store: Store) -> Sequence[str]:
    """Return the subagents of a run that have not answered. Raises TemporaryError."""
    running: dict[object, str] = {}
    entries = [entry for frame in await _frames(run, store) for entry in frame.entries]
    for entry in entries:
        if entry.get("kind") == STARTED:
            running[entry.get("call")] = str(entry.get("run", ""))
        elif entry.get("kind") == FINISHED:
            running.pop(entry.get("call"), None)
    return [child for child in running.values() if child]


async def has_inbox_items(run: str, below: Iterable[str], store: Store) -> bool:
    """Return whether the inbox of a run holds an item, or that of a running subagent below it, at any depth.

    `below` are its subagents that have not answered; no owner reads what comes for one that has.
    """
    if await store.items(run):
        return True
    for subagent in below:
        if await has_inbox_items(subagent, await running_subagents(subagent, store), store):
            return True
    return False


async def _frames(run: str, store: Store) -> Sequence[Frame]:
    try:
        seal = await seal_of(run, store)
    except (Gone, Corrupt):
        # Emptied already, or not to be determined: without the key of the root it is noise.
        return ()
    frames: list[Frame] = []
    for n, raw in enumerate(await store.frames(run), start=1):
        with contextlib.suppress(Corrupt):
            frames.append(open_alone(n, raw, seal))
    return frames


async def read_subagents(entries: Iterable[Recorded], store: Store, blobs: Blobs) -> SubagentJournals:
    """Return the journals of all subagents below the run that wrote some entries. Raises TemporaryError."""
    found = SubagentJournals()
    left = list(subagent_runs(entries))
    settled = dict(_settled(entries))
    for run in left:
        try:
            journal = await read_journal(run, store, blobs)
        except Gone:
            continue
        except Corrupt as error:
            found.damaged[run] = str(error)
            continue
        frames = 0
        if journal:
            frames = journal[-1].n
        if frames < settled.get(run, 0):
            found.damaged[run] = _cut(run, frames, settled[run])
        elif journal:
            found.journals[run] = journal
            left += subagent_runs(journal)
            settled |= _settled(journal)
    return found


def _settled(entries: Iterable[Recorded]) -> Mapping[str, int]:
    """Return how many frames the subagents had that a journal settled, by their runs."""
    return {one.entry.run: one.entry.frames for one in entries if isinstance(one.entry, SubagentFinished)}


def _cut(run: str, frames: int, known: int) -> str:
    return (
        f"Run {run} is damaged after frame {frames}: {known} frames were written and {frames} are there; restore them."
    )
