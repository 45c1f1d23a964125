"""The inbox of a run: other processes put items into it, and its owner reads them."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.codec import item_bytes, item_from_bytes
from gofer.journal.coordination import InboxItem
from gofer.journal.entries import Item
from gofer.journal.seal import Seal, seal_of
from gofer.journal.store import Store


async def put(store: Store, run: str, item_id: str, item: Item) -> None:
    """Put an item, sealed, into the inbox of a run; the same id again changes nothing.

    Raises Gone when the run was deleted or never was. No owner is told: the caller also enqueues the run.
    """
    seal = await seal_of(run, store)
    await store.put_item(run, InboxItem(item_id, seal.close(_place(item_id), item_bytes(item))))


async def read(store: Store, seal: Seal) -> Sequence[Item]:
    """Return what waits in a run's inbox, in the order of the ids; each says in `item` which one it is.

    Raises Corrupt.
    """
    return [
        replace(item_from_bytes(seal.open(_place(stored.id), stored.entry)), item=stored.id)
        for stored in await store.items(seal.run)
    ]


def _place(item_id: str) -> str:
    return f"item {item_id}"
