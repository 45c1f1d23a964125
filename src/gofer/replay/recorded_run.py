"""A recorded run as replay reads it: the journals of the run and its subagents, their bundles, and their files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import Recorded, RunStarted, ToolCall
from gofer.journal.log import read_body, read_journal
from gofer.journal.workspace_entries import FileAdded
from gofer.runtime.run_record import RunRecord
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone
from gofer.workflows.bundle import Bundle


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run, complete enough to run it again without its store."""

    run: str
    journals: Mapping[str, Sequence[Recorded]]
    """The entries of the run and of its subagent runs at every depth, by run."""
    bundles: Mapping[str, Bundle] = field(default_factory=dict[str, Bundle])
    """The bundle of each run that started, by run."""
    bodies: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The contents of stored files, by the name of the body in `file.added`. A missing one counts as deleted."""
    earlier: Mapping[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])
    """The journal of the run that this run continues, by run; empty if it was deleted."""

    @property
    def entries(self) -> Sequence[Recorded]:
        """The entries of the run itself."""
        return self.journals[self.run]

    @property
    def calls(self) -> Sequence[str]:
        """The ids of the calls that the run itself made, in their order."""
        return list(
            dict.fromkeys(recorded.entry.call for recorded in self.entries if isinstance(recorded.entry, ToolCall))
        )


async def recorded_run(record: RunRecord, stores: Stores) -> RecordedRun:
    """Return a run that a reader may see, with its files and the run that it continues. Raises TemporaryError."""
    bodies = await stored_files(record.journals, stores)
    return RecordedRun(record.run, record.journals, record.bundles, bodies, await _earlier(record.entries, stores))


async def stored_files(journals: Mapping[str, Sequence[Recorded]], stores: Stores) -> Mapping[str, bytes]:
    """Return the contents of the files of these runs, by the name of the body; without deleted ones.

    Raises TemporaryError.
    """
    bodies: dict[str, bytes] = {}
    for run, entries in journals.items():
        for added in _stored_files(entries):
            home = added.run or run
            try:
                bodies[added.body] = await read_body(home, added.body, stores.journals, stores.blobs)
            except (Corrupt, Gone):
                continue
    return bodies


def _stored_files(entries: Sequence[Recorded]) -> Sequence[FileAdded]:
    return [recorded.entry for recorded in entries if isinstance(recorded.entry, FileAdded) and recorded.entry.body]


async def _earlier(entries: Sequence[Recorded], stores: Stores) -> Mapping[str, Sequence[Recorded]]:
    """Return the journal of the run that these entries continue."""
    continued = [recorded.entry.continues for recorded in entries if isinstance(recorded.entry, RunStarted)]
    found: dict[str, Sequence[Recorded]] = {}
    for run in filter(None, continued):
        try:
            found[run] = await read_journal(run, stores.journals, stores.blobs)
        except (Corrupt, Gone):
            continue
    return found
