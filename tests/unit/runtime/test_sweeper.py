"""The sweeper: each stalled run is enqueued once, in batches."""

from dataclasses import replace

import pytest

from gofer.journal.coordination import Head, HeadStatus
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


async def swept(*runs: tuple[str, str, HeadStatus], leased: str = "", now: float = 0.0) -> list[str]:
    """Return the runs that a sweep enqueues, of runs with a conversation and a status, in the order of acceptance."""
    store, clock = MemoryStore(), SetClock()
    queue = MemoryQueue(clock)
    for n, (run, conversation, status) in enumerate(runs):
        await store.create_head(Head(run, "w", conversation, int(NOON * 1000) - 400_000 + n, status))
    if leased:
        await store.lease(leased, "owner", NOON, 60)
    clock.advance(now)
    count = await Sweeper(store, queue, clock).sweep(180)
    found = [queue_message.run for queue_message in await queue.receive(1_000, 120, 0)]
    assert count == len(found)
    return sorted(found)


async def test_sweep_removes_the_dead_letters_of_runs_that_ended_well_only() -> None:
    store, clock = MemoryStore(), SetClock()
    queue = MemoryQueue(clock)
    ends: list[HeadStatus] = ["done", "limited", "failed", "needs_attention", "running"]
    for end in ends:
        await store.create_head(Head(end, "w", end, int(NOON * 1000), end))
        await queue.enqueue(end)
    for queue_message in await queue.receive(10, 60, 0):
        await queue.move_to_dead_letters(queue_message, "trouble")
    await Sweeper(store, queue, clock).sweep(180)
    assert sorted(letter.run for letter in await queue.dead_letters(10)) == ["failed", "needs_attention", "running"]


async def test_waiting_runs_of_a_conversation_get_one_message_together() -> None:
    runs: list[tuple[str, str, HeadStatus]] = [(f"r{n:03}", "c", "queued") for n in range(3 * BATCH)]
    assert await swept(*runs, ("other", "d", "queued")) == ["other", "r000"]


async def test_run_behind_a_leased_conversation_gets_a_message_only_after_the_end_of_the_lease() -> None:
    runs: list[tuple[str, str, HeadStatus]] = [("first", "c", "running"), ("next", "c", "queued")]
    assert await swept(*runs, leased="c", now=59.0) == []
    assert await swept(*runs, leased="c", now=60.0) == ["first"]


async def test_parked_run_gets_its_own_message_also_behind_a_lease() -> None:
    runs: list[tuple[str, str, HeadStatus]] = [("one", "c", "parked"), ("two", "c", "parked"), ("next", "c", "queued")]
    assert await swept(*runs, leased="c") == ["one", "two"]
    assert await swept(*runs) == ["next", "one", "two"]
