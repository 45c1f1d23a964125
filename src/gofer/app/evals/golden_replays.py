"""The plays of goldens that ask no model: each replays its recording, unless the files that it pins have changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.app.replay import Replayer
from gofer.evals.affected import Cause, affected_run
from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.playing import play_recorded
from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.grading.call_words import joined
from gofer.evals.plays import Play, PlayedTurn
from gofer.projections.progress import project
from gofer.workflows.bundle import Bundle

_BAD_ANSWER = "The recorded answer is the bad one, so only a model can give a better one."


@dataclass(frozen=True, slots=True)
class GoldenReplays:
    """The plays of the goldens of a folder without a model."""

    replayer: Replayer
    current: Mapping[str, Bundle]
    """The bundle with which a run of each workflow would begin now."""

    async def play(self, read: ReadGolden) -> Play:
        """Replay a golden. A regression, and a golden with changed requests, give no evidence."""
        changed = self._changed(read)
        if changed:
            return self._without_evidence(read, changed)
        if read.golden.purpose == "regression":
            return self._without_evidence(read, _BAD_ANSWER)
        played = await play_recorded(read, self.replayer.replay, self.replayer.services.tools)
        return played.play

    def _changed(self, read: ReadGolden) -> str:
        """Return what changed in the files since the recording, in one sentence; empty if no request changes."""
        for turn in read.turns:
            causes = self._causes(turn, self.current.get(read.golden.workflow))
            if causes:
                return _sentence(read.golden.workflow, causes)
        return ""

    def _causes(self, turn: GoldenRun, current: Bundle | None) -> Sequence[Cause]:
        before = turn.bundle(turn.run)
        if before is None:
            return ()
        affected = affected_run(turn.run, turn.entries(turn.run), before, current)
        return [cause for cause in affected.causes if _is_effective(cause, affected.requests)]

    def _without_evidence(self, read: ReadGolden, why: str) -> Play:
        """Return a play that was not played, with the workflow as it is now."""
        turn = PlayedTurn(read.turns[-1].run, (), project(()), self.current.get(read.golden.workflow))
        evidence = read.golden.source.answers
        if evidence == "live":
            evidence = "recorded"
        return Play(turns=[turn], world={}, evidence=evidence, latency_ms=0, no_evidence=why, systems=())


def _sentence(workflow: str, causes: Sequence[Cause]) -> str:
    titles = joined([cause.title for cause in causes])
    sentence = f"Changed since the recording, in {workflow}: {titles}."
    lines = causes[0].lines
    if lines:
        sentence = f"{sentence} First difference: {lines[0]}"
    return sentence


def _is_effective(cause: Cause, requests: int) -> bool:
    """Return whether a cause changes a recorded request, or what a script does."""
    return cause.kind in ("workflow", "script") or cause.first <= requests
