"""The journals of the subagent runs of a run, at every depth."""

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
Lifetime = tuple[int, int]
"""When a run began and when its last frame was written, unix milliseconds."""


@dataclass(slots=True)
class SubagentJournals:
    """The journals of all subagent runs of one run, by run; without deleted ones and those that never began."""

    journals: dict[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])
    damaged: dict[str, str] = field(default_factory=dict[str, str])
    """Why a journal cannot be read, by run. The subagent runs of a damaged run are unknown."""


def subagent_runs(entries: Iterable[Recorded]) -> Sequence[str]:
    """Return the runs of the subagents that the entries name, each once."""
    named = [
        recorded.entry.run for recorded in entries if isinstance(recorded.entry, SubagentStarted) and recorded.entry.run
    ]
    return list(dict.fromkeys(named))


async def named_subagents(run: str, store: Store) -> Mapping[str, Lifetime]:
    """Return the direct subagent runs of a run, each with the lifetime of that run, for their deletion.

    Of a damaged journal only the frames that can be opened count. Raises TemporaryError.
    """
    opened = await _frames(run, store)
    started = [entry for frame in opened for entry in frame.entries if entry.get("kind") == STARTED]
    at = (0, 0)
    if opened:
        at = (opened[0].at, opened[-1].at)
    return {str(entry["run"]): at for entry in started if entry.get("run")}


async def running_subagents(run: str, store: Store) -> Sequence[str]:
    """Return the direct subagent runs of a run that have not answered. Raises TemporaryError."""
    running: dict[object, str] = {}
    entries = [entry for frame in await _frames(run, store) for entry in frame.entries]
    for entry in entries:
        if entry.get("kind") == STARTED:
            running[entry.get("call")] = str(entry.get("run", ""))
        elif entry.get("kind") == FINISHED:
            running.pop(entry.get("call"), None)
    return [child for child in running.values() if child]


async def has_inbox_items(run: str, subagents: Iterable[str], store: Store) -> bool:
    """Return whether the inbox of a run, or of one of its running subagents at any depth, holds an item.

    `subagents` are the direct subagents that have not answered. No owner reads the inbox of one that has answered.
    """
    if await store.items(run):
        return True
    for subagent in subagents:
        if await has_inbox_items(subagent, await running_subagents(subagent, store), store):
            return True
    return False


async def _frames(run: str, store: Store) -> Sequence[Frame]:
    try:
        seal = await seal_of(run, store)
    except (Gone, Corrupt):
        # The frames were emptied, or the key of the root is missing and nothing can be read.
        return ()
    frames: list[Frame] = []
    for n, raw in enumerate(await store.frames(run), start=1):
        with contextlib.suppress(Corrupt):
            frames.append(open_alone(n, raw, seal))
    return frames


async def read_subagents(entries: Iterable[Recorded], store: Store, blobs: Blobs) -> SubagentJournals:
    """Return the journals of all subagent runs of the run that wrote `entries`. Raises TemporaryError."""
    found = SubagentJournals()
    pending = list(subagent_runs(entries))
    known_frames = dict(_frames_of_finished(entries))
    for run in pending:
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
        if frames < known_frames.get(run, 0):
            found.damaged[run] = _truncated(run, frames, known_frames[run])
        elif journal:
            found.journals[run] = journal
            pending += subagent_runs(journal)
            known_frames |= _frames_of_finished(journal)
    return found


def _frames_of_finished(entries: Iterable[Recorded]) -> Mapping[str, int]:
    """Return the number of frames that each finished subagent had, by its run."""
    return {
        recorded.entry.run: recorded.entry.frames
        for recorded in entries
        if isinstance(recorded.entry, SubagentFinished)
    }


def _truncated(run: str, frames: int, known: int) -> str:
    return (
        f"Run {run} is damaged after frame {frames}: {known} frames were written and {frames} are there; restore them."
    )
