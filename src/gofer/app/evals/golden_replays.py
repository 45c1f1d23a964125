"""The plays of goldens that ask no model: each replays its recording, unless the files that it pins have changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.app.replay import Replayer
from gofer.evals.affected import Cause, FileVersion, affected_runs
from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.playing import play_recorded
from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.grading.call_words import joined
from gofer.evals.plays import Play, PlayedTurn
from gofer.projections.progress import project

_BAD_ANSWER = "The recorded answer is the bad one, so only a model can give a better one."


@dataclass(frozen=True, slots=True)
class GoldenReplays:
    """The plays of the goldens of a folder without a model."""

    replayer: Replayer
    current: FileVersion
    """The files with which runs would begin now."""

    async def play(self, read: ReadGolden) -> Play:
        """Replay a golden. A regression, and a golden with changed requests, give no evidence.

        A changed script is tried: it is no evidence only if it does something else than it did.
        """
        causes = self._causes(read)
        if any(cause.kind != "script" for cause in causes):
            return self._without_evidence(read, _sentence(read, causes))
        if read.golden.purpose == "regression":
            return self._without_evidence(read, _BAD_ANSWER)
        played = await play_recorded(read, self.replayer.replay, self.replayer.services.tools)
        if causes and played.differs:
            return self._without_evidence(read, f"{_sentence(read, causes)} {played.differs}")
        return played.play

    def _causes(self, read: ReadGolden) -> Sequence[Cause]:
        """Return what the files changed since the recording, for the first turn that they change."""
        turns = affected_runs([turn.recorded() for turn in read.turns], self.current)
        return next((turn.causes for turn in turns if turn.causes), ())

    def _without_evidence(self, read: ReadGolden, why: str) -> Play:
        """Return a play that was not played, with the workflow as it is now."""
        turn = PlayedTurn(read.turns[-1].run, (), project(()), self.current.bundles.get(read.golden.workflow))
        evidence = read.golden.source.answers
        if evidence == "live":
            evidence = "recorded"
        return Play(
            turns=[turn],
            world={},
            evidence=evidence,
            latency_ms=0,
            no_evidence=why,
            systems=(),
            recorded_turns=[_recorded(one) for one in read.turns],
        )


def _recorded(turn: GoldenRun) -> PlayedTurn:
    run = turn.recorded()
    below = {name: journal for name, journal in run.journals.items() if name != run.run}
    return PlayedTurn(run.run, run.entries, project(run.entries), run.bundles.get(run.run), subagents=below)


def _sentence(read: ReadGolden, causes: Sequence[Cause]) -> str:
    titles = joined([cause.title for cause in causes])
    sentence = f"Changed since the recording, in {read.golden.workflow}: {titles}."
    lines = causes[0].lines
    if lines:
        sentence = f"{sentence} First difference: {lines[0]}"
    return sentence
