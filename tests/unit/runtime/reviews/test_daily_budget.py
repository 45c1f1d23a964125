"""The money for the reviews of one day: its sum, its limit, and the days on which it was reached."""

import asyncio

import pytest

from gofer.journal.coordination import DAY_MS
from gofer.runtime.reviews import daily_budget
from gofer.stores.memory.journal import MemoryStore

pytestmark = pytest.mark.anyio
NOON = 20_000 * DAY_MS + DAY_MS // 2


async def test_reviews_of_a_day_stop_at_the_limit_and_go_on_the_next_day(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    await daily_budget.add(store, NOON, 0.75, "a")
    assert not await daily_budget.is_spent(store, NOON, 1.0)
    await daily_budget.add(store, NOON, 0.5, "b")
    assert await daily_budget.is_spent(store, NOON, 1.0)
    assert await daily_budget.is_spent(store, NOON, 1.0)
    assert not await daily_budget.is_spent(store, NOON + DAY_MS, 1.0)
    assert caplog.messages == ["no more reviews on 2024-10-04: they cost 1.25 of 1.00 USD a day"]
    assert await daily_budget.stopped_days(store, 0, NOON + DAY_MS) == ["2024-10-04"]


async def test_equal_costs_at_the_same_time_are_added_both() -> None:
    store = MemoryStore()
    memo = store.memo
    both_read = asyncio.Barrier(2)

    async def read_together(key: str) -> str | None:
        stored = await memo(key)
        await both_read.wait()
        return stored

    store.memo = read_together  # type: ignore[method-assign]
    await asyncio.gather(daily_budget.add(store, NOON, 0.5, "a"), daily_budget.add(store, NOON, 0.5, "b"))
    store.memo = memo  # type: ignore[method-assign]
    assert await daily_budget.is_spent(store, NOON, 1.0)


async def test_free_review_writes_no_memo() -> None:
    store = MemoryStore()
    await daily_budget.add(store, NOON, 0.0, "a")
    assert await store.memo("review-usd:2024-10-04") is None
