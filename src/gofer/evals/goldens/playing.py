"""The play of a golden: the replay of its recorded answers, which tests the code of Gofer and of tools.

`RecordedWorld` (`recorded_world.py`) lets a live model play the same case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.evals.goldens.golden_file import SeenByPerson
from gofer.evals.goldens.golden_reader import ReadGolden
from gofer.evals.goldens.replayed_case import Replaying
from gofer.evals.goldens.run_file import GoldenRun
from gofer.evals.goldens.seen import seen_in
from gofer.evals.plays import Play, PlayedTurn, Seen
from gofer.projections.progress import project
from gofer.replay.replay import Replay
from gofer.values.events import Event


@dataclass(frozen=True, slots=True)
class ReplayedGolden:
    """A golden that was played with its recorded answers."""

    play: Play
    replays: Sequence[Replay]
    """The replay of each turn."""

    @property
    def differs(self) -> str:
        """The first step that differs from the recording, for people and without contents; empty if none does."""
        for number, replay in enumerate(self.replays, 1):
            if replay.outcome in ("identical", "reworded"):
                continue
            if replay.first is None:
                return f"Turn {number}: {replay.reason or replay.outcome}."
            return f"Turn {number}: {replay.first.step} at {replay.first.address} has another {replay.first.field}."
        return ""


async def play_recorded(read: ReadGolden, replaying: Replaying) -> ReplayedGolden:
    """Replay every turn of a golden. No model and no system is asked."""
    replays = [await replaying(turn.recorded()) for turn in read.turns]
    turns = [_turn(turn, replay) for turn, replay in zip(read.turns, replays, strict=True)]
    evidence = read.golden.source.answers
    if evidence == "live":
        evidence = "recorded"
    latency_ms = sum(_duration_ms(turn) for turn in turns)
    return ReplayedGolden(Play(turns=turns, world={}, evidence=evidence, latency_ms=latency_ms), replays)


def _turn(turn: GoldenRun, replay: Replay) -> PlayedTurn:
    entries = replay.journals.get(turn.run) or turn.entries(turn.run)
    progress = project(entries)
    seen = [_seen(one) for one in seen_in(entries, progress)]
    return PlayedTurn(turn.run, entries, progress, turn.bundle(turn.run), seen)


def _seen(one: SeenByPerson) -> Seen:
    return Seen(one.kind, one.place, one.text)


def _duration_ms(turn: PlayedTurn) -> int:
    return turn.entries[-1].at - turn.entries[0].at


def events_of(read: ReadGolden) -> Sequence[Event]:
    """Return the event of each turn, to start new runs of the same conversation."""
    events = [project(turn.entries(turn.run)).event for turn in read.turns]
    return [event for event in events if event is not None]


def begins_at(read: ReadGolden) -> Sequence[float]:
    """Return when each turn began, in unix seconds, for the clock of a play."""
    return [turn.entries(turn.run)[0].at / 1000 for turn in read.turns]
