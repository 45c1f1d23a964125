"""Counters of usage in DynamoDB: bounded reads, amounts counted once, and rows of an earlier version."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.coordination import DAY_MS, HOUR_MS, SPENT_MS, Spent, Usage, spent_until
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.table import EXPIRES, Key, Put, Refused, Update, Write
from gofer.stores.aws.usage import DynamoUsage
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import TemporaryError
from support.aws.memory_table import MemoryTable

pytestmark = pytest.mark.anyio

NOW = 20_000 * DAY_MS


def earlier_row(run: str, at: int, usd: float) -> Put:
    """Return the row of an earlier version, which counted nothing."""
    index = {"gsi_pk": "usage", "gsi_sk": f"{at:015d}#{run}#ada"}
    return Put({"pk": "usage#ada", "sk": f"{at:015d}#{run}", "run": run, "at": at, "usd": usd, **index})


async def total(store: DynamoUsage, now: int = NOW) -> float:
    return sum(part.usd for part in await store.spent("ada", now))


async def test_reads_of_the_amounts_of_a_day_stay_few_however_many_runs_there_were() -> None:
    read: list[float] = []
    for runs in (1_000, 10_000):
        table = MemoryTable()
        store = DynamoStore(table)
        await store.spent("ada", NOW - 3 * DAY_MS)
        for n in range(runs):
            await store.put_usage([Usage("ada", f"r{n}", NOW - DAY_MS + 1 + n * DAY_MS // runs, 0.0)])
            await store.put_usage([Usage("ada", f"r{n}", 0, 0.5)])
        before = table.units["read"]
        assert await total(store) == runs / 2
        read.append(table.units["read"] - before)
    assert max(read) <= 25


async def test_rows_of_an_earlier_version_count_for_the_day_after_the_update() -> None:
    table = MemoryTable()
    await table.write(earlier_row("old", NOW - HOUR_MS, 1.0))
    await table.write(earlier_row("open", NOW - HOUR_MS, 0.25))
    await table.write(Put({"pk": "run#open", "sk": "usage#ada", "at": NOW - HOUR_MS}))
    store = DynamoStore(table)
    assert await total(store) == 1.25
    # An owner of this version continues a run that an earlier version began.
    await store.put_usage([Usage("ada", "open", 5, 0.75)])
    assert await total(store) == 1.75
    # A late owner of the earlier version raises the amount beside it, and the next owner counts the rest.
    key = Key("usage#ada", f"{NOW - HOUR_MS:015d}#open")
    await table.write(Update(key, {"usd": 1.0}))
    assert await total(DynamoStore(table)) == 2.0
    await store.put_usage([Usage("ada", "open", 5, 1.25)])
    assert await total(store) == 2.25
    assert list(await store.spent("ada", NOW + DAY_MS)) == []


async def test_rows_are_not_read_for_amounts_a_day_after_the_update() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    await store.spent("ada", NOW)
    later = NOW + 2 * DAY_MS
    await table.write(earlier_row("unseen", later - HOUR_MS, 1.0))
    await store.put_usage([Usage("ada", "r", later - HOUR_MS, 0.5)])
    assert await total(store, later) == 0.5


class Lossy(MemoryTable):
    """A table that fails before or after some writes, so that a caller cannot tell."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__()
        self._faults = faults

    async def write(self, write: Write) -> Refused | None:
        return await self._lossy(super().write(write))

    async def transact(self, writes: list[Write]) -> Refused | None:  # type: ignore[override]
        return await self._lossy(super().transact(writes))

    async def _lossy(self, call) -> Refused | None:  # type: ignore[no-untyped-def]
        fault = self._faults.pop() if self._faults else ""
        if fault == "before":
            call.close()
            raise TemporaryError("lost")
        result: Refused | None = await call
        if fault == "after":
            raise TemporaryError("lost")
        return result


WRITES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.25, 0.5, 2.0])), max_size=8)


@given(WRITES, st.lists(st.sampled_from(["", "before", "after"]), max_size=12), st.sampled_from(["", *"abc"]))
def test_each_run_counts_once_with_its_highest_amount_despite_lost_responses(
    writes: list[tuple[str, float]], faults: list[str], dropped: str
) -> None:
    async def play() -> None:
        store, expected = DynamoStore(Lossy(faults)), MemoryStore()
        for run, usd in writes:
            usage = Usage("ada", run, NOW - ord(run) * SPENT_MS, usd)
            await expected.put_usage([usage])
            while not await _done(store, usage):
                continue
        if dropped:
            await expected.drop_usage(dropped)
            while not await _dropped(store, dropped):
                continue
        faults.clear()
        found = [part for part in await store.spent("ada", NOW) if part.usd]
        assert found == [part for part in await expected.spent("ada", NOW) if part.usd]

    asyncio.run(play())


async def _done(store: DynamoStore, usage: Usage) -> bool:
    try:
        await store.put_usage([usage])
    except TemporaryError:
        return False
    return True


async def _dropped(store: DynamoStore, run: str) -> bool:
    try:
        await store.drop_usage(run)
    except TemporaryError:
        return False
    return True


async def test_rows_and_counters_are_left_to_dynamodb_and_are_not_in_the_index() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    await store.put_usage([Usage("ada", "r", NOW, 0.5)])
    items = [item for partition in table._items.values() for item in partition.values()]
    assert len(items) == 3
    assert all(int(item[EXPIRES]) > NOW / 1000 + 86_400 for item in items)
    assert not any("gsi_pk" in item for item in items)
    assert list(await store.spent("ada", NOW)) == [Spent(spent_until(NOW), 0.5)]
