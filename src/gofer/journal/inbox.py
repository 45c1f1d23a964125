"""The inbox of a run: other processes put items into it, and the owner of the run reads them."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.codec import item_bytes, item_from_bytes
from gofer.journal.coordination import InboxItem
from gofer.journal.entries import Item
from gofer.journal.seal import Seal, seal_of
from gofer.journal.store import Store


async def put(store: Store, run: str, item_id: str, item: Item) -> None:
    """Put a sealed item into the inbox of a run; putting the same id again changes nothing.

    The caller must also enqueue the run, so that its owner looks at the inbox. Raises Gone when the run was deleted or
    never existed.
    """
    seal = await seal_of(run, store)
    await store.put_item(run, InboxItem(item_id, seal.close(_place_of(item_id), item_bytes(item))))


async def read(store: Store, seal: Seal) -> Sequence[Item]:
    """Return the items in the inbox of a run in the order of their ids, which are in their field `item`.

    Raises Corrupt.
    """
    return [
        replace(item_from_bytes(seal.open(_place_of(stored.id), stored.entry)), item=stored.id)
        for stored in await store.items(seal.run)
    ]


def _place_of(item_id: str) -> str:
    return f"item {item_id}"
