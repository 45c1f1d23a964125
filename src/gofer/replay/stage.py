"""The parts that the replays of a run and of its subagent runs share."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from gofer.engine.permitted_call import Permitted
from gofer.journal import entries as e
from gofer.replay.changes import Changes
from gofer.replay.live_answers import LiveAnswers
from gofer.replay.recorded_rows import RecordedRows
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.recording import Recording
from gofer.replay.replay_progress import ReplayProgress
from gofer.replay.signatures import RecordedOutcomes
from gofer.tools.definition import AnyTool
from gofer.values.errors import Gone
from gofer.workflows.bundle import Bundle

_LONGEST_DELAY = 12
"""The most turns of the event loop by which another order delays a call."""


@dataclass(slots=True)
class Stage:
    """The parts that the replays of a run and of its subagent runs share."""

    recorded: RecordedRun
    rows: RecordedRows
    changes: Changes = field(default_factory=Changes)
    progress: ReplayProgress = field(default_factory=ReplayProgress)
    live: LiveAnswers = field(default_factory=LiveAnswers)
    recordings: dict[str, Recording] = field(default_factory=dict[str, Recording])

    was_stopped: bool = False
    """Whether the replay ended before its call `until`."""
    _delays: Random | None = None
    _outcomes: dict[str, RecordedOutcomes] = field(default_factory=dict[str, RecordedOutcomes])

    @property
    def root(self) -> Recording:
        """The recording of the run itself."""
        return self.recordings[self.recorded.run]

    def __post_init__(self) -> None:
        self.recordings[self.recorded.run] = Recording(self.recorded.run, self.recorded.entries, self.progress)
        self.progress.input_changed = self.changes.prompt is not None or self.changes.bundle is not None
        self._delays = self.changes.delays()

    def bundle(self, run: str) -> Bundle | None:
        """Return the bundle of a run; for the run itself, the files and the prompt of the replay."""
        bundle = self.recorded.bundles.get(run)
        if bundle is None or run != self.recorded.run:
            return bundle
        bundle = self.changes.bundle or bundle
        if self.changes.prompt is None:
            return bundle
        return replace(bundle, loaded=bundle.loaded.with_prompt(self.changes.prompt))

    def outcomes(self, run: str, tools: Mapping[str, AnyTool]) -> RecordedOutcomes:
        """Return the recorded outcomes of the calls of a run, by what was asked."""
        if run not in self._outcomes:
            self._outcomes[run] = RecordedOutcomes(self.recorded.journals.get(run, ()), tools)
        return self._outcomes[run]

    async def delay(self) -> None:
        """Let other branches go first, if the replay tries another order."""
        if self._delays is not None:
            for _ in range(self._delays.randrange(_LONGEST_DELAY)):
                await asyncio.sleep(0)

    def note_made_up(self, item: Permitted) -> None:
        """Note that the outcome of a call is made up."""
        self.progress.inconclusive = self.progress.inconclusive or f"{item.tool.name} ({item.call}) was not recorded"

    def begin(self, run: str, claim: e.RunAccepted, at: int) -> Recording:
        """Return a recording of a subagent run that the recorded run did not have."""
        first = e.Recorded(n=1, i=0, at=at, owner=self.root.owner, entry=claim)
        self.recordings[run] = Recording(run, [first], self.progress)
        return self.recordings[run]

    def journal(self, run: str) -> Sequence[e.Recorded]:
        """Return the entries of a run that the replay has repeated, or those of an earlier run. Raises Gone."""
        if recording := self.recording(run):
            return recording.replayed
        if run not in self.recorded.earlier:
            raise Gone(f"Run {run} is not part of the recording.")
        return self.recorded.earlier[run]

    def recording(self, run: str) -> Recording | None:
        """Return the recording of a run; None for a run without one."""
        if run not in self.recordings and run in self.recorded.journals:
            self.recordings[run] = Recording(run, self.recorded.journals[run], self.progress)
        return self.recordings.get(run)
