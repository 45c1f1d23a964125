"""The public runs that a change is compared with: ended, of the last days, and never private."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.evals.public_runs import DAYS, public_runs
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunAccepted, RunStarted
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, claim, open_journal
from gofer.runtime.run_reader import RunReader
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.events import Event
from gofer.workflows.bundle import encode_bundle
from support.engine.memory_run import memory_run
from support.stand_ins import SetClock, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio
_DAY_MS = 86_400_000


def no_runs() -> RunReader:
    """Return the reader of an empty place."""
    store, blobs = memory_stores()
    clock = SetClock()
    return RunReader(Stores(store, blobs, MemoryQueue(clock)), clock, {})


def on_github(place: Mapping[str, str]) -> Event:
    """Return an event of a repository."""
    return replace(mention(), source="github", kind="github.issue_opened", place=place)


async def stored(
    stores: Stores,
    run: str,
    status: HeadStatus = "done",
    *,
    event: Event | None = None,
    private: bool = False,
    listed: bool = True,
    at: int = 0,
) -> None:
    """Store a run with a claim and a start. `private` is what its journal says, `listed` what its head says."""
    accepted = RunAccepted(event or mention(), "answer-here")
    await claim(run, accepted, Pen("ingress", make_outside()), stores.journals, stores.blobs)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, Pen("me", make_outside()))
    raw = encode_bundle(memory_run().bundle())
    key = blob_key(BUNDLES, raw)
    await stores.blobs.put(key, raw)
    journal.add(RunStarted(key.rpartition("/")[2], private=private))
    await journal.commit()
    await stores.journals.create_head(Head(run, "w", f"c:{run}", at, status, private=not listed))


async def test_ended_public_runs_of_the_last_days_are_read_with_their_bundles() -> None:
    runs = no_runs()
    stores = runs.stores
    now = int(runs.clock.now() * 1000)
    await stored(stores, "aa01", at=now)
    await stored(stores, "aa02", "limited", at=now - (DAYS - 1) * _DAY_MS)
    await stored(stores, "bb01", at=now - (DAYS + 1) * _DAY_MS)
    await stored(stores, "bb02", "running", at=now)
    await stored(stores, "bb03", "ignored", at=now)
    await stored(stores, "bb04", at=now, private=True, listed=False)
    await stored(stores, "bb05", at=now, private=True)
    found = await public_runs(runs)
    assert {record.run for record in found} == {"aa01", "aa02"}
    assert all(record.bundle is not None for record in found)


async def test_runs_on_repositories_that_are_not_known_to_be_public_are_left_out() -> None:
    runs = no_runs()
    stores = runs.stores
    now = int(runs.clock.now() * 1000)
    await stored(stores, "aa01", at=now, event=on_github({"repo": "acme/docs", "visibility": "public"}))
    await stored(stores, "bb01", at=now, event=on_github({"repo": "acme/pay", "visibility": "private"}))
    await stored(stores, "bb02", at=now, event=on_github({"repo": "acme/pay"}))
    found = await public_runs(runs)
    assert [record.run for record in found] == ["aa01"]


async def test_runs_hidden_after_their_listing_are_left_out() -> None:
    runs = no_runs()
    stores = runs.stores
    now = int(runs.clock.now() * 1000)
    await stored(stores, "aa01", at=now)
    await stored(stores, "bb01", at=now)
    await hide("bb01", stores.journals, now)
    found = await public_runs(runs)
    assert [record.run for record in found] == ["aa01"]
