"""What a replay takes from a recording: items of the inbox, and what the next owner reads."""

from gofer.journal import entries as e
from gofer.replay.recording import Recording
from gofer.replay.replay_progress import ReplayProgress
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


def of_owner(owner: str, at: int, n: int, entry: e.Entry) -> e.Recorded:
    return e.Recorded(n=n, i=0, at=at, owner=owner, entry=entry)


def begun(entries: list[e.Recorded], progress: ReplayProgress) -> Recording:
    """Return a recording whose first entry is adopted."""
    recording = Recording("run1", entries, progress)
    recording.adopt(0)
    return recording


def test_steps_of_a_subagent_run_that_follow_lost_steps_are_taken_as_recorded() -> None:
    progress = ReplayProgress()
    accepted = of_owner("me", 1_000, 1, e.RunAccepted(mention(), "answer-here"))
    root = begun(
        [accepted, *(of_owner(name, at, at, e.RunOwned()) for name, at in (("a", 2_000), ("c", 4_000)))], progress
    )
    # The owner `b` of the root run stored nothing there.
    owners = [of_owner(name, at, at, e.RunOwned()) for name, at in (("a", 2_100), ("b", 3_000), ("c", 4_100))]
    child = begun([accepted, *owners], progress)
    for _ in range(2):
        root.take(e.RunOwned())
    child.adopt_crashed_owners(root)
    assert child.replayed == [accepted, *owners[:2]]
    assert child.next_owner == owners[2]


def test_owner_that_parked_the_run_lost_no_step() -> None:
    parked = e.RunParked("approval", 9_000)
    entries = [
        recorded(1_000, 1, e.RunAccepted(mention(), "answer-here")),
        recorded(2_000, 2, e.RunOwned()),
        recorded(3_000, 3, parked),
        recorded(4_000, 4, e.RunOwned()),
        recorded(5_000, 5, e.RunOwned()),
    ]
    recording = begun(entries, ReplayProgress())
    recording.take(e.RunOwned())
    assert not recording.owner_crashed
    assert (recording.parked("approval"), recording.parked("earlier_run")) == (parked, None)
    recording.take(parked)
    recording.take(e.RunOwned())
    assert recording.owner_crashed
