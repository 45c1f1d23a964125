"""The baseline of a workflow: its newest ended runs that a reader may see."""

from collections.abc import Sequence

import pytest
from typing_extensions import override

from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunStarted
from gofer.journal.log import Pen, open_journal
from gofer.projections.examination.anomalies import MOST_RUNS
from gofer.runtime.baseline import baseline
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import encode_bundle
from support.engine.memory_run import memory_run
from support.stand_ins import SetClock, claimed, make_outside, memory_stores

pytestmark = pytest.mark.anyio


async def stored(stores: Stores, run: str, status: HeadStatus, *, private: bool = False, workflow: str = "w") -> None:
    """Store a run with a claim and a start."""
    await claimed(stores.journals, run)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, Pen("me", make_outside()))
    raw = encode_bundle(memory_run().bundle())
    key = blob_key(BUNDLES, raw)
    await stores.blobs.put(key, raw)
    journal.add(RunStarted(key.rpartition("/")[2], private=private))
    await journal.commit()
    head = Head(run, workflow, f"c:{run}", 1, status, private=private)
    await stores.journals.create_head(head)


async def test_baseline_has_ended_public_runs_of_the_workflow_without_the_run_itself() -> None:
    store, blobs = memory_stores()
    stores = Stores(store, blobs, MemoryQueue(SetClock()))
    await stored(stores, "aa01", "done")
    await stored(stores, "aa02", "limited")
    await stored(stores, "aa03", "done", private=True)
    await stored(stores, "aa04", "running")
    await stored(stores, "aa05", "ignored")
    await stored(stores, "aa06", "done", workflow="another")
    runs = RunReader(stores, SetClock(), {})
    assert len(await baseline(runs, OPERATOR, "w", without="bb01")) == 2
    assert len(await baseline(runs, OPERATOR, "w", without="aa01")) == 1


class CountedLists(MemoryStore):
    """A store that keeps how many newest runs were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    @override
    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        self.asked.append(limit)
        return await super().heads(limit, private=private)


async def test_baseline_looks_further_back_only_for_a_rare_workflow() -> None:
    store = CountedLists()
    stores = Stores(store, MemoryBlobs(), MemoryQueue(SetClock()))
    await stored(stores, "aa01", "done", workflow="rare")
    for n in range(MOST_RUNS):
        await store.create_head(Head(f"r{n}", "busy", f"c:{n}", 2 + n, "done", private=False))
    runs = RunReader(stores, SetClock(), {})
    assert len(await baseline(runs, OPERATOR, "rare", without="bb01")) == 1
    assert store.asked == [MOST_RUNS, 10 * MOST_RUNS]
    store.asked.clear()
    assert list(await baseline(runs, OPERATOR, "busy", without="bb01")) == []
    assert store.asked == [MOST_RUNS]
