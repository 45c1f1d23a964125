"""The sweeper: each stalled run is enqueued once, in batches."""

from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.runtime.sweeper import BATCH, Sweeper
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio


async def stalled_runs(count: int) -> tuple[Sweeper, MemoryQueue]:
    """Store stalled runs, of which several were accepted in the same millisecond."""
    store, clock = MemoryStore(), SetClock()
    queue = MemoryQueue(clock)
    for n in range(count):
        await store.create_head(Head(f"r{n:05}", "w", f"c{n}", int(NOON * 1000) - 200_000 + n // 7))
    return Sweeper(store, queue, clock), queue


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH + 3])
async def test_sweeper_enqueues_each_stalled_run_once(count: int) -> None:
    sweeper, queue = await stalled_runs(count)
    for _ in range(3):
        assert await sweeper.sweep(180) == count
    queue_messages = await queue.receive(10_000, 120, 0)
    assert sorted(queue_message.run for queue_message in queue_messages) == [f"r{n:05}" for n in range(count)]


async def test_sweep_is_limited_and_begins_with_the_longest_stalled_runs() -> None:
    sweeper, queue = await stalled_runs(3 * BATCH)
    assert await replace(sweeper, pages=2).sweep(180) == 2 * BATCH
    queue_messages = await queue.receive(10_000, 120, 0)
    assert sorted(queue_message.run for queue_message in queue_messages) == [f"r{n:05}" for n in range(2 * BATCH)]
