"""The runs that a suggestion reads: public and ended ones of the last days, with the current prompt first."""

from dataclasses import replace

import pytest

from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import DAY_MS, Head, HeadStatus
from gofer.journal.entries import RunAccepted, RunFinished, RunStarted
from gofer.journal.head_facts import HeadFacts, encode
from gofer.journal.log import Pen, claim, open_journal
from gofer.learning.suggestions.ended_runs import EndedRuns, ended_runs
from gofer.runtime.run_reader import RunReader
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.workflows.bundle import Bundle, encode_bundle
from support.engine.memory_run import memory_run
from support.stand_ins import SetClock, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio


def no_runs() -> RunReader:
    """Return the reader of an empty place."""
    store, blobs = memory_stores()
    clock = SetClock()
    return RunReader(Stores(store, blobs, MemoryQueue(clock)), clock, {})


def bundle(prompt: str, *, coordinator: str = "llm") -> Bundle:
    made = memory_run().bundle()
    workflow = made.loaded.workflow.model_copy(update={"coordinator": coordinator})
    return replace(made, loaded=replace(made.loaded, name="w", workflow=workflow, system=prompt, prompt_span=None))


async def stored(
    runs: RunReader,
    run: str,
    days_ago: float = 0.0,
    *,
    status: HeadStatus = "done",
    workflow: str = "w",
    prompt: str = "new",
    coordinator: str = "llm",
    private: bool = False,
    facts: HeadFacts | None = None,
) -> None:
    """Store a run with its head and its bundle."""
    stores = runs.stores
    await claim(run, RunAccepted(mention(), workflow), Pen("in", make_outside()), stores.journals, stores.blobs)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, Pen("me", make_outside()))
    raw = encode_bundle(bundle(prompt, coordinator=coordinator))
    key = blob_key(BUNDLES, raw)
    await stores.blobs.put(key, raw)
    journal.add(RunStarted(key.rpartition("/")[2], private=private))
    journal.add(RunFinished("done"))
    await journal.commit()
    at = int(runs.clock.now() * 1000 - days_ago * DAY_MS)
    head = Head(run, workflow, f"c:{run}", at, status, private=private)
    if facts is not None:
        head = replace(head, facts=encode(facts))
    await stores.journals.create_head(head)


async def found(runs: RunReader, days: int = 30) -> EndedRuns:
    return await ended_runs(runs, bundle("new").loaded, days)


def names(ended: EndedRuns) -> list[str]:
    return [record.run for record in ended.records]


async def test_runs_with_the_current_prompt_come_first() -> None:
    runs = no_runs()
    await stored(runs, "old1", 1, prompt="old")
    await stored(runs, "new1", 3)
    await stored(runs, "new2", 2)
    ended = await found(runs)
    assert (names(ended), ended.current) == (["new2", "new1", "old1"], 2)


async def test_other_runs_are_left_out() -> None:
    runs = no_runs()
    await stored(runs, "early", 31)
    await stored(runs, "other", workflow="x")
    await stored(runs, "hidden", private=True)
    await stored(runs, "ignored", status="ignored")
    await stored(runs, "running", status="running")
    await stored(runs, "script", coordinator="script")
    await stored(runs, "counted")
    assert names(await found(runs)) == ["counted"]


async def test_reviews_count_by_their_agreement_over_all_workflows() -> None:
    runs = no_runs()
    assert "0 of at least 20" in (await found(runs)).reviews_do_not_count
    for number in range(10):
        await stored(runs, f"g{number}", workflow="x", facts=HeadFacts(good=1, effective=True))
        await stored(runs, f"b{number}", workflow="y", facts=HeadFacts(bad=1, effective=False))
    assert (await found(runs)).reviews_do_not_count == ""
