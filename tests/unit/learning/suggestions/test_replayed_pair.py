"""A run, replayed without and with the edit: the first difference, and changes for the worse."""

import pytest

from gofer.learning.suggestions.replayed_pair import OneReplay, ReplayedPair
from gofer.replay.made_calls import MadeCall, first_difference

FIND = MadeCall("find", {"id": 1}, is_write=False)


def create(project: str, text: str = "t") -> MadeCall:
    return MadeCall("create", {"project": project, "text": text}, is_write=True)


def replay(*calls: MadeCall, status: str = "done", failed: tuple[str, ...] = ()) -> OneReplay:
    return OneReplay(outcome="diverged", status=status, calls=calls, failed_checks=failed)


def pair(without: OneReplay, with_edit: OneReplay) -> ReplayedPair:
    return ReplayedPair("r", is_good=True, recorded=[FIND, create("PAY")], without=without, with_edit=with_edit)


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ([FIND], [FIND], ""),
        ([create("PAY")], [create("SHOP")], "create project: PAY → SHOP"),
        ([create("PAY", "long text")], [create("OPS", "another long text")], "create project: PAY → OPS"),
        ([FIND], [create("PAY")], "create instead of find"),
        ([FIND], [FIND, create("PAY")], "create in addition"),
        ([FIND, create("PAY")], [FIND], "no create"),
        ([MadeCall("find", {}, is_write=False)], [FIND], "find id: nothing → 1"),
    ],
)
def test_first_difference_is_one_line(before: list[MadeCall], after: list[MadeCall], difference: str) -> None:
    assert first_difference(before, after) == difference


def test_equal_replays_keep_a_good_run() -> None:
    made = pair(replay(FIND, create("PAY")), replay(FIND, create("PAY")))
    assert (made.change, made.worse, made.is_kept) == ("", "", True)


def test_other_words_that_vary_anyway_are_not_worse() -> None:
    made = pair(replay(FIND, create("PAY", "one")), replay(FIND, create("PAY", "two")))
    assert (made.change, made.worse) == ("create text: one → two", "")


@pytest.mark.parametrize(
    ("after", "worse"),
    [
        (replay(FIND, create("OPS")), "create has another project"),
        (replay(FIND, create("PAY"), status="failed"), "the run ends as failed and not as done"),
        (replay(FIND, create("PAY"), failed=("loops",)), "the check loops fails"),
        (replay(FIND), "the run writes with nothing"),
        (replay(FIND, create("PAY"), create("PAY")), "the run writes with create, create"),
    ],
)
def test_good_run_that_changes_is_worse(after: OneReplay, worse: str) -> None:
    made = pair(replay(FIND, create("PAY")), after)
    assert (made.worse, made.is_kept) == (worse, False)


def test_replay_that_did_not_end_keeps_no_run() -> None:
    made = pair(replay(FIND, create("PAY")), replay(FIND, status=""))
    assert (made.worse, made.is_kept) == ("", False)
