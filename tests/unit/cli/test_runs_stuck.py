"""`gofer runs --stuck`: stuck runs, and only the ids of private ones."""

from dataclasses import replace

import pytest

from gofer.app.operations import Operations
from gofer.cli.runs import STILL_MS, Stuck, find_stuck
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import Entry, RunAccepted, RunFinished, RunStarted
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, claim, open_journal
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from support.stand_ins import SetClock, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio


class Desk:
    """An operator's desk over stores in memory."""

    def __init__(self) -> None:
        self.clock = SetClock()
        self.store, self.blobs = memory_stores()
        self.outside = make_outside(self.clock)

    @property
    def now(self) -> int:
        return int(self.clock.now() * 1000)

    async def run(self, run: str, status: HeadStatus, *entries: Entry, private: bool = True, wakes_at: int = 0) -> None:
        """Store a run whose head was written now."""
        pen = Pen("worker", self.outside)
        event = replace(mention(), private=private)
        await claim(run, RunAccepted(event, "w"), pen, self.store, self.blobs)
        head = Head(run, "w", f"c:{run}", self.now, private=private, updated_at=self.now)
        await self.store.create_head(head)
        journal, _ = await open_journal(run, self.store, self.blobs, pen)
        for entry in entries:
            journal.add(entry)
        await journal.commit()
        await self.store.put_head(head.now(status, self.now, wakes_at=wakes_at))

    async def stuck(self) -> Stuck:
        return await find_stuck(Operations(Stores(self.store, self.blobs, MemoryQueue(self.clock)), self.clock))

    async def runs(self) -> tuple[list[str], list[str]]:
        found = await self.stuck()
        return [head.run for head in found.public], list(found.private)


async def test_unfinished_runs_without_a_new_frame_are_stuck() -> None:
    desk = Desk()
    await desk.run("b-private", "queued")
    await desk.run("a-private", "running")
    await desk.run("public", "running", private=False)
    await desk.run("parked", "parked", wakes_at=desk.now + 2 * STILL_MS)
    assert await desk.runs() == ([], [])
    desk.clock.advance(STILL_MS / 1000 + 1)
    assert await desk.runs() == (["public"], ["a-private", "b-private"])
    desk.clock.advance(2 * STILL_MS / 1000)
    assert await desk.runs() == (["public"], ["a-private", "b-private", "parked"])


async def test_running_run_with_a_recent_frame_is_not_stuck() -> None:
    desk = Desk()
    await desk.run("run1", "running")
    desk.clock.advance(2 * STILL_MS / 1000)
    journal, _ = await open_journal("run1", desk.store, desk.blobs, Pen("worker", desk.outside))
    journal.add(RunStarted("bundle", private=True))
    await journal.commit()
    assert await desk.runs() == ([], [])


async def test_abandoned_run_is_stuck_and_a_finished_run_that_needs_attention_is_not() -> None:
    desk = Desk()
    await desk.run("abandoned", "needs_attention")
    await desk.run("public", "needs_attention", private=False)
    await desk.run("ended", "needs_attention", RunFinished("needs_attention", "unknown"), private=False)
    assert await desk.runs() == (["public"], ["abandoned"])


async def test_abandoned_run_is_stuck_behind_many_newer_runs() -> None:
    desk = Desk()
    await desk.run("abandoned", "needs_attention", private=False)
    for n in range(1_500):
        at = desk.now + n
        await desk.store.create_head(Head(f"r{n}", "w", f"c:{n}", at, "done", private=False, updated_at=at))
    assert await desk.runs() == (["abandoned"], [])


async def test_run_with_an_unreadable_journal_is_stuck() -> None:
    desk = Desk()
    await desk.run("damaged", "needs_attention")
    await desk.store.destroy_key("damaged")
    assert await desk.runs() == ([], ["damaged"])


async def test_interrupted_deletion_is_stuck() -> None:
    desk = Desk()
    for run in ("due", "deleting", "hidden", "deleted"):
        await desk.run(run, "done", RunFinished("done"), private=run != "hidden")
    await hide("hidden", desk.store, desk.now)
    await desk.store.retain("deleting", "due", "deleting")
    await desk.store.retain("deleted", "due", "deleting")
    await desk.store.retain("deleted", "deleting", "deleted")
    assert await desk.runs() == ([], [])
    desk.clock.advance(STILL_MS / 1000 + 1)
    assert await desk.runs() == ([], ["deleting", "due"])
