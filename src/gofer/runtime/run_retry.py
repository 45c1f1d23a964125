"""A person's request to make the next attempt of a run now.

A retried run continues from its journal by the rules of every owner: recorded steps are not repeated, and neither is a
call whose outcome cannot be determined. A finished run stays finished.
"""

from dataclasses import dataclass
from typing import assert_never

from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import RunCancelled, RunRetried, Status
from gofer.journal.hidden_runs import is_hidden, write_head
from gofer.journal.log import read_journal
from gofer.journal.seal import seal_of
from gofer.journal.store import Store
from gofer.projections.progress import Progress, project
from gofer.runtime.restored_memo import release, restored_from
from gofer.runtime.restored_runs import moment
from gofer.stores.one_place import Stores
from gofer.stores.queue import line_of
from gofer.values.errors import Gone, TemporaryError
from gofer.values.outside import Clock

_DOUBT = "It looks for its answer before it posts one; its tools may repeat changes that they made after the backup."
LEASE = 60.0
"""Seconds for which the conversation is leased, so that no worker writes the head at the same time."""


@dataclass(frozen=True, slots=True)
class Retried:
    """The result of a request to retry a run."""

    enqueued: bool
    """Whether a worker will look at the run."""
    message: str
    """One sentence for the person who asked."""


async def retry(run: str, stores: Stores, clock: Clock, owner: str) -> Retried:
    """Requeue an abandoned run, or make the next attempt of a parked run now. For a finished run, explain the options.

    Raises Gone when the run was deleted, Corrupt when it cannot be read, TemporaryError.
    """
    store = stores.journals
    head = await store.head(run)
    if head is None or head.retention in ("deleting", "deleted"):
        raise Gone(f"The contents of run {run} were deleted; it cannot be continued.")
    # Only the journal says reliably whether the run ended; the head may be wrong.
    progress = project(await read_journal(run, store, stores.blobs))
    if progress.finished is not None:
        # The reason of a private run is shown only in the place where the run began.
        reason = progress.finished.reason
        if progress.private or await is_hidden(run, store):
            reason = ""
        return Retried(False, f"Run {run} {_ended(progress.finished.status, reason)}")
    if head.ended and not await _reopen(run, head.conversation, store, clock, owner):
        raise TemporaryError(f"A worker is busy with the conversation of run {run}; try again in a minute.")
    backup_at = await restored_from(run, store)
    if progress.parked is not None or backup_at:
        # The item ends the wait of a parked run, and makes a run from a backup look for messages it has posted.
        await inbox.put(store, run, f"retry-{owner}", RunRetried("an operator", restored=bool(backup_at)))
    await stores.queue.enqueue(run, line=line_of(head, people=True))
    if backup_at:
        await release(run, store, clock)
    if await _is_cancelled(progress, run, store):
        return Retried(True, f"Run {run} is queued; it was cancelled, so it stops.")
    if backup_at:
        return Retried(True, f"Run {run} is queued; it continues from the backup of {moment(backup_at)}. {_DOUBT}")
    if progress.parked is not None:
        return Retried(True, f"Run {run} makes its next attempt now.")
    return Retried(True, f"Run {run} is queued; it continues where it stopped.")


async def _is_cancelled(progress: Progress, run: str, store: Store) -> bool:
    """Return whether the journal or the inbox of a run holds a cancellation that will stop it. Raises Corrupt, Gone."""
    if progress.concluded is not None:
        # The answer is fixed, and the run still delivers it.
        return False
    if progress.cancelled is not None:
        return True
    waiting = await inbox.read(store, await seal_of(run, store))
    return any(isinstance(item, RunCancelled) and progress.relevant_cancellation(item) is not None for item in waiting)


async def _reopen(run: str, conversation: str, store: Store, clock: Clock, owner: str) -> bool:
    """Make an abandoned run runnable; return False while a worker has the lease of its conversation."""
    if not await store.lease(conversation, owner, clock.now(), LEASE):
        return False
    try:
        head: Head | None = await store.head(run)
        if head is not None and head.ended:
            await write_head(head.now("queued", int(clock.now() * 1000)), store)
    finally:
        await store.release(conversation, owner)
    return True


def _ended(status: Status, reason: str) -> str:
    reason_given = ""
    if reason:
        reason_given = f" ({reason.rstrip('.')})"
    match status:
        case "done":
            return "is done; there is nothing to retry."
        case "ignored":
            return f"did not match{reason_given}. Correct the workflow, and let the event happen again."
        case "limited" | "failed" | "cancelled" | "needs_attention":
            advice = "Ask again in the same thread; the new run reads what this one found."
            return f"ended and cannot be continued{reason_given}. {advice}"
        case _:
            assert_never(status)
