"""Which journals stand below a run: those of its subagents, and of theirs?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gofer.blobs.store import Blobs
from gofer.errors import Damaged, Gone
from gofer.journal.entries import Recorded, SubagentStarted
from gofer.journal.log import read_journal
from gofer.journal.store import Store


@dataclass(slots=True)
class Below:
    """What stands below one run, by run. Those that were deleted, and those that never began, are left out."""

    journals: dict[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])
    damaged: dict[str, str] = field(default_factory=dict[str, str])
    """Why a journal cannot be read; what stands below that one, nobody knows."""


def runs_below(entries: Iterable[Recorded]) -> Sequence[str]:
    """The runs of the subagents that a journal names, each once."""
    named = [one.entry.run for one in entries if isinstance(one.entry, SubagentStarted) and one.entry.run]
    return list(dict.fromkeys(named))


async def read_below(entries: Iterable[Recorded], store: Store, blobs: Blobs) -> Below:
    """The journals of all subagents below the run that wrote some entries. Raises TemporaryError."""
    found, left = Below(), list(runs_below(entries))
    for run in left:
        try:
            journal = await read_journal(run, store, blobs)
        except Gone:
            continue
        except Damaged as error:
            found.damaged[run] = str(error)
            continue
        if journal:
            found.journals[run] = journal
            left += runs_below(journal)
    return found
