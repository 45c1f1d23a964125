"""Whatever stands still is rung for, once, however much of it there is."""

from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.runtime.sweeper import BATCH, Sweeper
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio


async def standing_still(count: int) -> tuple[Sweeper, MemoryQueue]:
    """Runs of which several were accepted in the same millisecond."""
    store, clock = MemoryStore(), SetClock()
    queue = MemoryQueue(clock)
    for n in range(count):
        await store.create_head(Head(f"r{n:05}", "w", f"c{n}", int(NOON * 1000) - 200_000 + n // 7))
    return Sweeper(store, queue, clock), queue


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH + 3])
async def test_everything_that_stands_still_is_rung_for_once(count: int) -> None:
    sweeper, queue = await standing_still(count)
    for _ in range(3):
        assert await sweeper.sweep(180) == count
    queue_messages = await queue.receive(10_000, 120, 0)
    assert sorted(queue_message.run for queue_message in queue_messages) == [f"r{n:05}" for n in range(count)]


async def test_one_sweep_has_an_end_and_begins_with_what_stands_still_longest() -> None:
    sweeper, queue = await standing_still(3 * BATCH)
    assert await replace(sweeper, pages=2).sweep(180) == 2 * BATCH
    queue_messages = await queue.receive(10_000, 120, 0)
    assert sorted(queue_message.run for queue_message in queue_messages) == [f"r{n:05}" for n in range(2 * BATCH)]
