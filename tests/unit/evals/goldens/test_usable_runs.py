"""Runs about private repositories become no goldens."""

from collections.abc import Mapping

import pytest

from gofer.evals.goldens.usable_runs import usable_runs
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.runtime.run_reader import RunReader
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from gofer.values.events import Actor, Event
from support.stand_ins import SetClock, make_outside, memory_stores

pytestmark = pytest.mark.anyio


async def refusal(place: Mapping[str, str]) -> str:
    """Return why the run of an event of GitHub at a place becomes no golden."""
    store, blobs = memory_stores()
    stores = Stores(store, blobs, MemoryQueue(SetClock()))
    event = Event("github", "github.issue", ("a",), "github:1", Actor("ada"), "x", place, private=False)
    await claim("aa01", RunAccepted(event, "w"), Pen("me", make_outside()), store, blobs)
    await store.create_head(Head("aa01", "w", "github:1", 0, "done", private=False))
    with pytest.raises(ConfigError) as refused:
        await usable_runs(RunReader(stores, SetClock(), {}), "aa01", thread=False)
    return str(refused.value)


@pytest.mark.parametrize("visibility", ["private", "internal", ""])
async def test_run_about_a_private_repository_is_refused(visibility: str) -> None:
    assert "is about a private repository" in await refusal({"repository": "acme/web", "visibility": visibility})


async def test_run_about_a_public_repository_is_refused_only_for_other_reasons() -> None:
    assert "private repository" not in await refusal({"repository": "acme/web", "visibility": "public"})
