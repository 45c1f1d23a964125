"""The items of the inbox that a replay takes from a recording."""

from gofer.journal import entries as e
from gofer.replay.recording import Recording, ReplayProgress
from support.stand_ins import mention


def recorded(at: int, n: int, entry: e.Entry) -> e.Recorded:
    return e.Recorded(n=n, i=0, at=at, owner="me", entry=entry)


def test_items_later_than_the_given_time_are_left_for_a_later_step() -> None:
    cancelled = e.RunCancelled("Ada", "a")
    entries = [
        recorded(1_000, 1, e.RunAccepted(mention(), "answer-here")),
        recorded(2_000, 2, e.RunOwned()),
        recorded(5_000, 3, cancelled),
        recorded(6_000, 4, e.RunConcluded("cancelled", "", "")),
    ]
    recording = Recording("run1", entries, ReplayProgress())
    recording.adopt(0)
    recording.take(e.RunOwned())
    assert recording.items(until=4_999) == []
    assert recording.items(until=5_000) == [cancelled]
    assert recording.items() == [cancelled]
