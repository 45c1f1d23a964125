"""Replays that end because the run waits for a person."""

import pytest

from gofer.replay.changes import Changes
from gofer.replay.replay_text import replay_json, replay_lines
from support.engine.approvals import FILE, approval_worker, waiting_for_approval
from support.engine.memory_run import says
from support.replay.recorded import recorded_by, replayed

pytestmark = pytest.mark.anyio
WAITS = "The run waits for approval of file_ticket by requester, and a replay asks no person."
BY_REQUESTER = {"tools": ["file_ticket"], "by": "requester"}


async def test_diverged_replay_says_for_which_approval_the_run_waits_and_ends_there() -> None:
    made = approval_worker(says("Hello."), approve=BY_REQUESTER).memory_worker
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    made.model.answers = [says("", FILE)]
    again = await replayed(made, recorded, Changes(live=True))
    assert (again.first is not None, again.waits) == (True, WAITS)
    assert f"  The replay ends here. {WAITS}" in list(replay_lines("run1", recorded.entries, again))
    assert replay_json("run1", again)["waits"] == WAITS


async def test_replay_of_a_waiting_run_names_its_approval() -> None:
    made = (await waiting_for_approval(approve=BY_REQUESTER)).memory_worker
    again = await replayed(made, await recorded_by(made))
    assert (again.outcome, again.waits) == ("incomplete", WAITS)


async def test_replay_of_an_ended_run_names_no_wait() -> None:
    made = approval_worker(says("Hello.")).memory_worker
    await made.accept("run1", private=False)
    await made.work_once()
    again = await replayed(made, await recorded_by(made))
    assert (again.outcome, again.waits) == ("identical", "")
