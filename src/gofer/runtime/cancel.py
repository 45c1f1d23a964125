"""A person's request to stop a run.

The request is an item in the inbox of the run and a queue message. The owner journals it before it starts anything new.
Receivers import this module, so it reads no journal.
"""

from gofer.journal import inbox
from gofer.journal.entries import RunCancelled
from gofer.journal.store import Store
from gofer.runtime.restored_memo import restored_from
from gofer.stores.queue import Queue, line_of
from gofer.values.errors import Gone


async def cancel(run: str, cancellation: RunCancelled, store: Store, queue: Queue, item: str) -> bool:
    """Ask a run to stop; `item` is the same for every repetition of the same request.

    Return False if there is no such run or it has ended. A run with a fixed answer still delivers it. A run that is
    held after a restore stops when an operator retries it. Raises TemporaryError when nothing was stored.
    """
    head = await store.head(run)
    if head is None or (head.ended and not await restored_from(run, store)):
        return False
    try:
        await inbox.put(store, run, item, cancellation)
    except Gone:
        return False
    await queue.enqueue(run, line=line_of(head, people=True))
    return True
