"""The steps of a replay, one after the other: the words of each, its position, and whether it differs."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.projections.words.step_writer import steps
from gofer.projections.words.steps import ReadJournal, Step
from gofer.projections.words.transcript import transcript
from gofer.replay.divergence import Divergence
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.replay import Replay
from gofer.runtime.run_record import setup_of

_MARKS: Mapping[str, str] = {
    "reworded": "~ reworded",
    "added": "~ for people only",
    "read": "≠ another request",
    "different": "≠ different",
    "extra": "+ not recorded",
}


def step_lines(recorded: RecordedRun, replay: Replay) -> Iterator[Sequence[str]]:
    """Yield the lines of each step of the run itself: its position and mark, then its words."""
    entries = replay.journals.get(recorded.run, ())
    setup = None
    if recorded.run in replay.bundles:
        setup = setup_of(replay.bundles[recorded.run])
    written = steps(ReadJournal(recorded.run, entries, setup, ""), {})
    by_address = {one.address: one for one in replay.divergences if one.run == recorded.run}
    spoken = [(step, lines) for step in written if (lines := list(transcript([step])))]
    for position, (step, lines) in enumerate(spoken, start=1):
        yield [f"── {position} of {len(spoken)}   {_mark(step, by_address)}", *lines]


def _mark(step: Step, divergences: Mapping[str, Divergence]) -> str:
    found = divergences.get(step.entry)
    if found is None:
        return "= as recorded"
    return _MARKS.get(found.kind, found.kind)
