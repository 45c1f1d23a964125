"""What a replay takes from a recording: items of the inbox, and what the next owner reads."""

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


def test_next_owner_reads_branches_in_their_recorded_order() -> None:
    first, second = (e.ToolCall(call, "page", "keyed", {}) for call in ("0.1-0:page:a:1", "0.1-2:page:b:1"))
    entries = [
        recorded(1_000, 1, e.RunAccepted(mention(), "answer-here")),
        recorded(2_000, 2, e.RunOwned()),
        recorded(3_000, 3, first),
        recorded(3_000, 4, second),
        recorded(9_000, 5, e.RunOwned()),
    ]
    recording = Recording("run1", entries, ReplayProgress())
    recording.adopt(0)
    recording.take(e.RunOwned())
    recording.take(second)
    recording.take(first)
    recording.end_segment()
    assert recording.replayed == entries[:4]
