"""Starts of runs while the installation key is rotated: each event starts one run, in whatever process it arrives."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.journal.coordination import Head
from gofer.journal.log import Pen
from gofer.runtime.claimed_start import start_run
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import TemporaryError
from gofer.values.installation_key import read_installation_key
from support.stand_ins import SetClock, make_outside, mention

pytestmark = pytest.mark.anyio

OLD, NEW = ("1" * 64, "2" * 64)
PHASES = (
    (OLD, OLD),
    (OLD, f"{OLD},{NEW}"),
    (f"{OLD},{NEW}", f"{NEW},{OLD}"),
    (f"{NEW},{OLD}", f"{NEW},{OLD}"),
)
"""The two settings that processes have at once during each step of the rotation in docs/deploy.md."""


class Interleaved(MemoryStore):
    """A store whose calls take turns as drawn, and in which the receiver of one delivery may crash before its head."""

    def __init__(self, pauses: Sequence[int]) -> None:
        super().__init__()
        self._pauses = iter(pauses)
        self.crashes = 0

    async def _pause(self) -> None:
        for _ in range(next(self._pauses, 0)):
            await asyncio.sleep(0)

    async def head(self, run: str) -> Head | None:
        await self._pause()
        return await super().head(run)

    async def frames(self, run: str) -> Sequence[bytes]:
        await self._pause()
        return await super().frames(run)

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        await self._pause()
        return await super().exchange_memo(key, was, value, at)

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        await self._pause()
        return await super().claim(run, frame, key, at)

    async def create_head(self, head: Head) -> None:
        await self._pause()
        if self.crashes:
            self.crashes -= 1
            raise TemporaryError("the receiver stopped here")
        await super().create_head(head)


Deliveries = Sequence[tuple[int, int]]
"""Deliveries of one event in order: the phase, and which of its two settings the receiver has."""


async def started(deliveries: Deliveries, pauses: Sequence[int], crashes: int) -> tuple[int, int]:
    """Deliver an event, those of one phase at once; return the numbers of runs and of heads."""
    clock = SetClock()
    store = Interleaved(pauses)
    store.crashes = crashes
    stores = Stores(store, MemoryBlobs(), MemoryQueue(clock))
    pen = Pen("ingress", make_outside(clock))
    for phase in range(len(PHASES)):
        keys = [read_installation_key(PHASES[at][side]) for at, side in deliveries if at == phase]
        starts = [start_run(mention(), "answer-here", pen, stores, key) for key in keys]
        await asyncio.gather(*starts, return_exceptions=True)
    # The sender repeats a refused delivery.
    store.crashes = 0
    last, side = max(deliveries)
    run = await start_run(mention(), "answer-here", pen, stores, read_installation_key(PHASES[last][side]))
    heads = await store.heads(100, private=True)
    assert {head.run for head in heads} == {run}
    return len({run, *await store.unlisted(2**62, 100)}), len(heads)


@example(deliveries=[(2, 0), (2, 1)], pauses=[1] * 12, crashes=0)
@example(deliveries=[(0, 0), (3, 0)], pauses=[], crashes=1)
@given(
    deliveries=st.lists(st.tuples(st.integers(0, len(PHASES) - 1), st.integers(0, 1)), min_size=2, max_size=6),
    pauses=st.lists(st.integers(0, 3), min_size=8, max_size=40),
    crashes=st.integers(0, 2),
)
def test_duplicates_start_one_run_under_any_order_of_keys(
    deliveries: Deliveries, pauses: Sequence[int], crashes: int
) -> None:
    assert asyncio.run(started(deliveries, pauses, crashes)) == (1, 1)


async def test_event_of_a_deleted_run_starts_no_run_after_a_rotation() -> None:
    clock = SetClock()
    store = MemoryStore()
    stores = Stores(store, MemoryBlobs(), MemoryQueue(clock))
    pen = Pen("ingress", make_outside(clock))
    run = await start_run(mention(), "answer-here", pen, stores, read_installation_key(OLD))
    head = await store.head(run)
    assert head is not None
    await store.put_head(head.now("done", 2))
    await store.retain(run, "due", "deleting")
    await store.destroy_key(run)
    await store.empty(run)
    assert await start_run(mention(), "answer-here", pen, stores, read_installation_key(f"{NEW},{OLD}")) == run
    assert await start_run(mention(), "answer-here", pen, stores, read_installation_key(NEW)) != run


async def test_start_with_one_key_reads_no_row_before_its_claim() -> None:
    class ClaimFirst(MemoryStore):
        async def head(self, run: str) -> Head | None:
            raise AssertionError(run)

        async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
            raise AssertionError(key)

    clock = SetClock()
    stores = Stores(ClaimFirst(), MemoryBlobs(), MemoryQueue(clock))
    pen = Pen("ingress", make_outside(clock))
    assert await start_run(mention(), "answer-here", pen, stores, read_installation_key(OLD))
