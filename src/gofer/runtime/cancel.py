"""A person's request to a run to stop.

It is an item in the inbox of the run and a queue message. The owner journals it before it begins anything new.
Receivers load this module, so it projects no journal.
"""

from gofer.journal import inbox
from gofer.journal.entries import RunCancelled
from gofer.journal.store import Store
from gofer.runtime.restored_memo import restored_from
from gofer.stores.queue import Queue
from gofer.values.errors import Gone


async def cancel(run: str, wish: RunCancelled, store: Store, queue: Queue, item: str) -> bool:
    """Ask for a run to stop; `item` is the same for every repetition of the same wish.

    False when there is no such run or it has ended. A run that has decided on its answer delivers it all the same.
    A run that is held after a restore stops once an operator retries it. Raises TemporaryError when nothing was stored.
    """
    head = await store.head(run)
    if head is None or (head.ended and not await restored_from(run, store)):
        return False
    try:
        await inbox.put(store, run, item, wish)
    except Gone:
        return False
    await queue.enqueue(run)
    return True
