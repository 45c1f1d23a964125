"""Corrupt rows of the run list: they are reported, and no other row is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.runtime.retention import Purged, Purger
from gofer.runtime.sweeper import Sweeper
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt
from support.stand_ins import NOON, SetClock, any_store

pytestmark = pytest.mark.anyio

AT = int(NOON * 1000)
DAMAGE = {
    "bytes in place of a text": "reason = x'05'",
    "a text in place of a number": "accepted_at = 'noon'",
    "a negative time": "updated_at = -1",
    "an undecodable text": "reason = CAST(x'ff6f' AS TEXT)",
    "an undecodable id": "run = CAST(x'62ff' AS TEXT)",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with any_store("sqlite", tmp_path) as made:
        yield made


async def damaged(store: Store, folder: Path, how: str, *, ended: bool) -> None:
    """Store three runs, and damage the row of the middle one."""
    for n, run in enumerate(("a", "b", "c")):
        await store.create_head(Head(run, "w", run, AT + n, "done" if ended else "queued", private=False))
    with closing(sqlite3.connect(folder / "gofer.db")) as connection, connection:
        connection.execute(f"UPDATE heads SET {DAMAGE[how]} WHERE run = 'b'")


@pytest.mark.parametrize("how", DAMAGE)
async def test_corrupt_list_row_is_logged_and_skipped_by_sweeper_and_run_list(
    store: Store, tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    await damaged(store, tmp_path, how, ended=False)
    clock = SetClock(NOON + 1_000)
    queue = MemoryQueue(clock)
    assert await Sweeper(store, queue, clock).sweep(180) == 2
    assert sorted(queue_message.run for queue_message in await queue.receive(9, 60, 0)) == ["a", "c"]
    assert [head.run for head in await store.heads(2)] == ["c", "a"]
    assert "The list row of run b" in caplog.text
    assert "is damaged; restore gofer.db from a backup." in caplog.text


@pytest.mark.parametrize("how", DAMAGE)
async def test_corrupt_list_row_is_skipped_by_the_retention_purge(store: Store, tmp_path: Path, how: str) -> None:
    await damaged(store, tmp_path, how, ended=True)
    purger = Purger(
        Stores(store, MemoryBlobs(), MemoryQueue(SetClock(NOON + 31 * 86_400))), SetClock(NOON + 31 * 86_400)
    )
    assert await purger.purge() == Purged(2, 2)
    assert await purger.purge() == Purged()


@pytest.mark.parametrize("how", list(DAMAGE)[:4])
async def test_lookup_of_a_corrupt_list_row_is_reported_corrupt(store: Store, tmp_path: Path, how: str) -> None:
    await damaged(store, tmp_path, how, ended=False)
    with pytest.raises(Corrupt):
        await store.head("b")
