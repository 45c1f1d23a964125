"""Startup after the clock was an hour ahead: runs and queue messages become due."""

from pathlib import Path

import pytest

from gofer.app.embedded.state import forgive_clock, open_state
from gofer.journal.coordination import Head
from gofer.runtime.sweeper import Sweeper
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio

HOUR = 3_600


async def test_run_accepted_an_hour_ahead_is_due_after_a_restart(tmp_path: Path) -> None:
    clock = SetClock(NOON + HOUR)
    with open_state(tmp_path, clock) as state:
        await state.store.create_head(Head("ahead", "w", "c", int(clock.now() * 1000)))
        await state.queue.enqueue("ahead")
    clock.advance(-HOUR)
    with open_state(tmp_path, clock) as state:
        now = int(clock.now() * 1000)
        assert await state.store.unfinished(now, 10) == []
        assert await state.queue.receive(10, 120, 0) == []
        await forgive_clock(state, clock)
        (head,) = await state.store.unfinished(now, 10)
        assert (head.run, head.touched_at) == ("ahead", now - 1)
        assert [queue_message.run for queue_message in await state.queue.receive(10, 120, 0)] == ["ahead"]


async def test_startup_sweep_enqueues_a_run_from_an_hour_ahead_without_a_queue_message(tmp_path: Path) -> None:
    clock = SetClock(NOON + HOUR)
    with open_state(tmp_path, clock) as state:
        await state.store.create_head(Head("ahead", "w", "c", int(clock.now() * 1000)))
        clock.advance(-HOUR)
        await forgive_clock(state, clock)
        assert await Sweeper(state.store, state.queue, clock).sweep(still=0) == 1
        clock.advance(181)
        assert await Sweeper(state.store, state.queue, clock).sweep(still=180) == 1


async def test_parked_run_and_delayed_queue_message_keep_waiting_after_a_clock_change(tmp_path: Path) -> None:
    """A queue message is delayed by 900 seconds at most, and a run may be parked for a day."""
    clock = SetClock()
    with open_state(tmp_path, clock) as state:
        parked = Head("parked", "w", "c", int(NOON * 1000), "parked", wakes_at=int(NOON * 1000) + 24 * HOUR * 1000)
        await state.store.create_head(parked)
        await state.queue.enqueue("parked", 900)
        await forgive_clock(state, clock)
        assert await state.store.head("parked") == parked
        assert await state.queue.receive(10, 120, 0) == []
        clock.advance(900)
        assert [queue_message.run for queue_message in await state.queue.receive(10, 120, 0)] == ["parked"]


async def test_queue_message_of_a_dead_process_is_due_when_hidden_too_long(tmp_path: Path) -> None:
    clock = SetClock(NOON + HOUR)
    with open_state(tmp_path, clock) as state:
        await state.queue.enqueue("held")
        assert len(await state.queue.receive(10, 120, 0)) == 1
        clock.advance(-HOUR)
        await forgive_clock(state, clock)
        assert [queue_message.run for queue_message in await state.queue.receive(10, 120, 0)] == ["held"]
