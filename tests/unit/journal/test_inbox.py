import pytest

from gofer.journal import inbox
from gofer.journal.codec import item_bytes
from gofer.journal.coordination import InboxItem
from gofer.journal.entries import MessageReceived, RunCancelled
from gofer.journal.seal import seal_of
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import Corrupt, Gone
from support.stand_ins import claimed

pytestmark = pytest.mark.anyio


async def test_inbox_returns_each_item_once_with_the_item_id() -> None:
    store = MemoryStore()
    await claimed(store)
    await inbox.put(store, "run1", "b", RunCancelled("somebody"))
    await inbox.put(store, "run1", "a", MessageReceived("wait"))
    await inbox.put(store, "run1", "a", MessageReceived("said twice"))
    read = await inbox.read(store, await seal_of("run1", store))
    assert read == [MessageReceived("wait", "a"), RunCancelled("somebody", "b")]


async def test_inbox_item_is_stored_encrypted() -> None:
    store = MemoryStore()
    await claimed(store)
    await inbox.put(store, "run1", "a", MessageReceived("a secret"))
    (stored,) = await store.items("run1")
    assert b"secret" not in stored.entry


async def test_moved_or_unsealed_inbox_item_is_reported_corrupt() -> None:
    store = MemoryStore()
    await claimed(store)
    await inbox.put(store, "run1", "a", MessageReceived("stop"))
    (stored,) = await store.items("run1")
    for entry in (stored.entry, item_bytes(MessageReceived("plain"))):
        await store.drop_items("run1", ["a", "b"])
        await store.put_item("run1", InboxItem("b", entry))
        with pytest.raises(Corrupt, match="Run run1 is damaged at item b"):
            await inbox.read(store, await seal_of("run1", store))


async def test_inbox_of_a_deleted_run_accepts_no_item() -> None:
    store = MemoryStore()
    await claimed(store)
    await store.destroy_key("run1")
    with pytest.raises(Gone):
        await inbox.put(store, "run1", "a", MessageReceived("too late"))
    assert list(await store.items("run1")) == []
