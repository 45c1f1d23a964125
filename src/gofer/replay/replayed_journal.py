"""The journal and the files of a replayed run: neither is stored, and both follow the recording."""

import asyncio
from collections.abc import Mapping, Sequence

from typing_extensions import override

from gofer.engine.owned_run import OwnedRun
from gofer.engine.run_files import RunFiles
from gofer.engine.services import Services
from gofer.journal import entries as e
from gofer.journal.log import Journal, Pen
from gofer.journal.seal import KEY_BYTES, Seal
from gofer.journal.workspace_entries import FileAdded
from gofer.replay.divergence import OwnerEnded
from gofer.replay.recording import Recording
from gofer.tools.definition import Call


class ReplayedJournal(Journal):
    """A journal that is not stored: its recording says which frame each entry belongs to."""

    def __init__(self, recording: Recording, services: Services) -> None:
        stores = services.stores
        pen = Pen("replay", services.outside)
        super().__init__(stores.journals, stores.blobs, pen, [b""], Seal(recording.run, bytes(range(KEY_BYTES))))
        self._recording = recording
        self._losers: set[asyncio.Task[object] | None] = set()
        """The branches with a step that the crash of the recorded owner left out of its journal."""

    @override
    def add(self, entry: e.Entry) -> e.Recorded:
        try:
            return self._recording.take(entry)
        except OwnerEnded:
            if not self._recording.owner_crashed:
                raise
            self._losers.add(asyncio.current_task())
            return self._recording.lose(entry)

    @property
    def has_lost(self) -> bool:
        """Whether the branch that asks has made a step that the recorded owner did not store."""
        return asyncio.current_task() in self._losers

    @property
    @override
    def frames(self) -> int:
        return self._recording.replayed[-1].n

    @property
    @override
    def drafted(self) -> bool:
        return False

    @override
    async def commit(self) -> bool:
        return False


class ReplayedFiles(RunFiles):
    """The files of a replayed run: recorded contents, and the files that the replay makes."""

    def __init__(self, journal: Journal, services: Services, run: OwnedRun, bodies: Mapping[str, bytes]) -> None:
        super().__init__(journal, services, run.workspace)
        self._bodies = bodies
        self._fetched: dict[str, FileAdded] = {}

    def note_fetched(self, entries: Sequence[e.Entry]) -> None:
        """Note the files that the recorded outcome of a call fetched, for the call that is made again."""
        self._fetched |= {one.file: one for one in entries if isinstance(one, FileAdded) and one.source and one.body}

    @override
    async def fetch(self, added: FileAdded, call: Call) -> FileAdded:
        recorded = self._fetched.get(added.file)
        if recorded is None or recorded.source != added.source:
            return await super().fetch(added, call)
        return recorded

    @override
    async def content(self, added: FileAdded) -> bytes:
        if added.body in self._bodies:
            return self._bodies[added.body]
        return await super().content(added)
