"""The public runs that a change is compared with: ended, of the last days, and never private."""

import pytest

from gofer.evals.public_runs import DAYS, public_runs
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunStarted
from gofer.journal.log import Pen, open_journal
from gofer.runtime.run_reader import RunReader
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import encode_bundle
from support.engine.memory_run import memory_run
from support.stand_ins import SetClock, claimed, make_outside, memory_stores

pytestmark = pytest.mark.anyio
_DAY_MS = 86_400_000


async def stored(
    stores: Stores, run: str, status: HeadStatus = "done", *, private: bool = False, listed: bool = True, at: int = 0
) -> None:
    """Store a run with a claim and a start. `private` is what its journal says, `listed` what its head says."""
    await claimed(stores.journals, run)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, Pen("me", make_outside()))
    raw = encode_bundle(memory_run().bundle())
    key = blob_key(BUNDLES, raw)
    await stores.blobs.put(key, raw)
    journal.add(RunStarted(key.rpartition("/")[2], private=private))
    await journal.commit()
    await stores.journals.create_head(Head(run, "w", f"c:{run}", at, status, private=not listed))


async def test_ended_public_runs_of_the_last_days_are_read_with_their_bundles() -> None:
    store, blobs = memory_stores()
    stores = Stores(store, blobs, MemoryQueue(SetClock()))
    clock = SetClock()
    now = int(clock.now() * 1000)
    await stored(stores, "aa01", at=now)
    await stored(stores, "aa02", "limited", at=now - (DAYS - 1) * _DAY_MS)
    await stored(stores, "bb01", at=now - (DAYS + 1) * _DAY_MS)
    await stored(stores, "bb02", "running", at=now)
    await stored(stores, "bb03", "ignored", at=now)
    await stored(stores, "bb04", at=now, private=True, listed=False)
    await stored(stores, "bb05", at=now, private=True)
    found = await public_runs(RunReader(stores, clock, {}))
    assert {record.run for record in found} == {"aa01", "aa02"}
    assert all(record.bundle is not None for record in found)
