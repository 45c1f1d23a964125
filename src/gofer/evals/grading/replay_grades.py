"""The grade of the replay of a golden: every step equals the recording."""

from collections.abc import Iterator

from gofer.evals.grading.dimensions import MOST_WORDS
from gofer.evals.plays import Play
from gofer.evals.results import Grade
from gofer.projections.checks.check_settings import shortened

REPLAY = "replay"
"""The dimension of the replay of a golden."""


def replay_grades(play: Play) -> Iterator[Grade]:
    """Yield the grade of a replay; none for a play that is no replay."""
    if not play.is_replay:
        return
    found = play.difference
    if found is None:
        yield Grade(REPLAY, passed=True)
        return
    yield Grade(
        REPLAY,
        passed=False,
        expected=shortened(found.expected, MOST_WORDS),
        happened=shortened(found.happened, MOST_WORDS),
        step=found.step,
        turn=found.turn,
    )
