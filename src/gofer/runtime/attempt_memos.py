"""The memo of the owners of a run that crashed before they had read its journal."""

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.projections.attempts import Attempts
from gofer.values.outside import Clock


async def earlier_attempts(head: Head, receives: int, store: Store) -> Attempts:
    """Count the attempts at a run that its journal does not know. Raises TemporaryError.

    An owner that leaves a run writes its head, so a head with the status `running` belongs to a crashed owner. Receipts
    of a queue message are not enough: SQS may move a message to the dead letters by itself, and the next one starts at
    one.
    """
    unread = 0
    if head.status == "running":
        unread = int(await store.memo(_key(head)) or 0) + 1
    return Attempts(receives, unread)


async def note_attempts(head: Head, attempts: Attempts, store: Store, clock: Clock) -> None:
    """Record that another owner begins to read the journal. Raises TemporaryError."""
    if attempts.unread:
        await _put(head, attempts.unread, store, clock)


async def forget_attempts(head: Head, attempts: Attempts, store: Store, clock: Clock) -> None:
    """Reset the count, because an owner that leaves with a result has not crashed. Raises TemporaryError."""
    if attempts.unread:
        await _put(head, 0, store, clock)


async def _put(head: Head, unread: int, store: Store, clock: Clock) -> None:
    await store.put_memo(_key(head), str(unread), int(clock.now() * 1000))


def _key(head: Head) -> str:
    return f"unread-attempts:{head.run}"
