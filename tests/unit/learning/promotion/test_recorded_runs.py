"""The runs that a promotion reads: public, done, liked, decided by a model, and of the newest prompt first."""

from dataclasses import replace

import pytest

from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import FeedbackGiven, RunAccepted, RunStarted
from gofer.journal.log import Pen, claim, open_journal
from gofer.learning.promotion.recorded_runs import recorded_runs
from gofer.runtime.run_reader import RunReader
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import encode_bundle
from support.engine.memory_run import memory_run
from support.stand_ins import SetClock, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio


def no_runs() -> RunReader:
    """Return the reader of an empty place."""
    store, blobs = memory_stores()
    clock = SetClock()
    return RunReader(Stores(store, blobs, MemoryQueue(clock)), clock, {})


async def stored(
    runs: RunReader,
    run: str,
    at: int,
    *,
    status: HeadStatus = "done",
    workflow: str = "w",
    prompt: str = "new",
    coordinator: str = "llm",
    private: bool = False,
    verdict: str = "",
) -> None:
    """Store a run with its head, its bundle and the feedback of one person."""
    stores = runs.stores
    await claim(run, RunAccepted(mention(), workflow), Pen("in", make_outside()), stores.journals, stores.blobs)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, Pen("me", make_outside()))
    bundle = memory_run().bundle()
    changed = bundle.loaded.workflow.model_copy(update={"coordinator": coordinator})
    raw = encode_bundle(replace(bundle, loaded=replace(bundle.loaded, workflow=changed, system=prompt)))
    key = blob_key(BUNDLES, raw)
    await stores.blobs.put(key, raw)
    journal.add(RunStarted(key.rpartition("/")[2], private=private))
    if verdict in ("good", "bad"):
        journal.add(FeedbackGiven("bad" if verdict == "bad" else "good", "U1"))
    await journal.commit()
    await stores.journals.create_head(Head(run, workflow, f"c:{run}", at, status, private=private))


async def found(runs: RunReader, most: int = 10) -> list[str]:
    return [record.run for record in (await recorded_runs(runs, "w", most)).records]


async def test_done_public_runs_of_a_model_are_read_newest_first() -> None:
    runs = no_runs()
    await stored(runs, "aa01", 1)
    await stored(runs, "aa02", 2)
    await stored(runs, "bb01", 3, status="failed")
    await stored(runs, "bb02", 4, workflow="other")
    await stored(runs, "bb03", 5, private=True)
    await stored(runs, "bb04", 6, coordinator="script")
    assert await found(runs) == ["aa02", "aa01"]
    assert await found(runs, 1) == ["aa02"]


async def test_runs_of_the_newest_prompt_come_first() -> None:
    runs = no_runs()
    await stored(runs, "aa01", 1)
    await stored(runs, "aa02", 2, prompt="old")
    await stored(runs, "aa03", 3)
    assert await found(runs) == ["aa03", "aa01", "aa02"]


async def test_runs_with_bad_feedback_are_left_out_and_counted() -> None:
    runs = no_runs()
    await stored(runs, "aa01", 1, verdict="good")
    await stored(runs, "bb01", 2, verdict="bad")
    read = await recorded_runs(runs, "w", 10)
    assert ([record.run for record in read.records], read.with_bad_feedback) == (["aa01"], 1)
