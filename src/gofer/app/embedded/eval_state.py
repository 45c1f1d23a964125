"""The state of the runs of evals below GOFER_DATA, where they are read like other runs and deleted like other runs.

The runs of real people are never in this state, so no statistics, list, alarm or baseline mixes both. A play happens in
memory, with ids that are the same for each play of a case. Its runs are stored here with their grades, each under an id
of its own. The history of scores in the same folder has no contents, and outlives the runs.
"""

import contextlib
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gofer.app.embedded.integrity import DATABASE, check_no_restore
from gofer.app.embedded.runner import RunStores, folder_stores
from gofer.app.embedded.state import read_state
from gofer.app.embedded.worlds import EVALS
from gofer.evals.journaled_grades import journaled_grades
from gofer.evals.plays import Play, PlayedTurn
from gofer.evals.results import CaseRun
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head
from gofer.journal.copied_journal import write_copy
from gofer.journal.entries import Entry, Recorded, RunFinished, RunGraded, RunOwned
from gofer.journal.lineage import root_of
from gofer.projections import progress
from gofer.runtime.retention import Purger
from gofer.stores.one_place import Stores
from gofer.values.outside import Clock, Outside
from gofer.values.row_tokens import Tokens
from gofer.workflows.bundle import encode_bundle

_OWNER = "evals"
_RUN_ID = 24
_SHORT_RUN_ID = 8
"""The characters of the id of a run."""
_CUT_OFF = "the play of the case ended here"


@dataclass(frozen=True, slots=True)
class EvalState:
    """The open state of the runs of evals."""

    folder: Path
    """The folder of the state, which also holds the history of scores."""
    stores: RunStores
    outside: Outside

    async def keep(self, case: str, run: CaseRun, play: Play) -> CaseRun:
        """Store the runs of a play with their grades, and return the graded run with the ids of the stored runs.

        Runs of private places are not stored, and have no ids in the result. A run that the play did not end is ended
        in the copy, so that it is deleted in time. Raises TemporaryError.
        """
        public = [turn for turn in play.turns if turn.entries and not turn.progress.private]
        renamed = {turn.run: self._new_run("") for turn in public}
        if len(public) > 1:
            # Requests of later turns hold the short id of the run before, which a replay compares.
            renamed = {run: self._new_run(run[:_SHORT_RUN_ID]) for run in renamed}
        for number, turn in enumerate(play.turns, start=1):
            if turn.run in renamed:
                await self._store(turn, journaled_grades(case, run, number), renamed)
        return replace(run, runs=[renamed[turn.run] for turn in public])

    async def _store(self, turn: PlayedTurn, graded: RunGraded, renamed: dict[str, str]) -> None:
        stores = self.stores.stores
        if turn.bundle is not None:
            raw = encode_bundle(turn.bundle)
            await stores.blobs.put(blob_key(BUNDLES, raw), raw)
        entries = _ended_and_graded(turn.entries, graded)
        run = renamed[turn.run]
        # A file of an earlier turn is in the folder of that turn's copy.
        files = {body: content for body, content in turn.files.items() if body not in renamed}
        frames = await write_copy(run, entries, renamed, files, stores.journals, stores.blobs, self.outside)
        for subagent, journal in turn.subagents.items():
            copy = subagent.replace(root_of(subagent), run)
            await write_copy(copy, journal, renamed, {}, stores.journals, stores.blobs, self.outside)
        await stores.journals.create_head(self._head(run, entries, frames))

    def _head(self, run: str, entries: Sequence[Recorded], frames: int) -> Head:
        """Return the row of a stored run. Its times are those of the storing, because a play has a clock of its own."""
        state = progress.project(entries)
        now = int(self.outside.clock.now() * 1000)
        conversation = ""
        if state.event is not None:
            conversation = Tokens(self.stores.key).conversation(state.event.conversation)
        head = Head(run=run, workflow=state.workflow, conversation=conversation, accepted_at=now, private=False)
        if state.finished is None:
            return head
        return head.now(state.finished.status, now, reason=state.finished.reason, frames=frames)

    def _new_run(self, beginning: str) -> str:
        return (beginning + self.outside.new_id() + self.outside.new_id())[:_RUN_ID]


@contextlib.asynccontextmanager
async def open_eval_state(data: Path, outside: Outside) -> AsyncGenerator[EvalState]:
    """Hold the right to serve the state of evals below GOFER_DATA, and open it. Runs that are due are deleted first.

    No long-lived process serves this state. Raises ConfigError, also if another `gofer eval` has the state open, and
    TemporaryError, Corrupt.
    """
    check_no_restore(data)
    async with folder_stores(data / EVALS, outside.clock) as stores:
        await Purger(stores.stores, outside.clock).purge()
        yield EvalState(data / EVALS, stores, outside)


@contextlib.contextmanager
def eval_stores(data: Path, clock: Clock) -> Generator[Stores | None]:
    """Open the runs of evals below GOFER_DATA for reading; None if no eval was played. Raises ConfigError."""
    if not (data / EVALS / DATABASE).exists():
        yield None
        return
    with read_state(data / EVALS, clock) as state:
        yield state.stores


def _ended_and_graded(entries: Sequence[Recorded], graded: RunGraded) -> Sequence[Recorded]:
    """Return a journal with an end and its grades."""
    last = entries[-1]
    added: list[Sequence[Entry]] = [[graded]]
    if progress.project(entries).finished is None:
        added = [[RunOwned(), RunFinished("cancelled", _CUT_OFF)], [graded]]
    frames = [
        [Recorded(n=last.n + n, i=i, at=last.at, owner=_OWNER, entry=entry) for i, entry in enumerate(frame)]
        for n, frame in enumerate(added, start=1)
    ]
    return [*entries, *(recorded for frame in frames for recorded in frame)]
