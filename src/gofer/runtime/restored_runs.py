"""Runs that were unfinished in a backup: held after a restore, until an operator retries them.

Outside systems changed after the backup, and the journals did not. It is unknown what such a run did in that time, so
it starts nothing by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.journal.conversations import note_conversation
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections.progress import project
from gofer.runtime.concurrency import each
from gofer.runtime.restored_memo import mark_held, restored_from
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone
from gofer.values.outside import Clock
from gofer.values.row_tokens import Tokens

_EVER = 2**62
_ALL = 2**31
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Held:
    """The runs that a restore found unfinished or without a key."""

    heads: Sequence[Head]
    """The unfinished runs, which are held."""
    keyless: Sequence[str]
    """The runs without a key in the backup: they were deleted while the backup was made."""


@dataclass(frozen=True, slots=True)
class RestoreTimes:
    """The times of the backup and of the restore, unix milliseconds."""

    backup_at: int
    now: int

    @property
    def reason(self) -> str:
        """The reason of a held run in lists."""
        backup = moment(self.backup_at)
        return f"restored: what it did after the backup of {backup} is unknown; continue it with gofer retry"


async def hold_unfinished(stores: Stores, clock: Clock, tokens: Tokens, backup_at: int) -> Held:
    """Hold every run that was unfinished in the backup, and return their new heads.

    A run that lost its key while the backup was made is marked for deletion. If this was killed, another call with the
    same `backup_at` does the rest and returns all held runs. Raises TemporaryError.
    """
    store = stores.journals
    times = RestoreTimes(backup_at, int(clock.now() * 1000))
    keyless = await _mark_deleted(store, times.now)
    await _list_claims(stores, tokens, times.now)
    held = {head.run: head for head in await _held_before(store, backup_at)}

    async def settle(head: Head) -> Head:
        restored = await _restored_head(head, stores, times)
        if restored.status == "needs_attention":
            # The memo comes first, because after a write of the head another call no longer finds the run.
            await mark_held(head.run, store, backup_at=backup_at, now=times.now)
        await store.put_head(restored)
        return restored

    last: Head | None = None
    while page := await store.unfinished(_EVER, _BATCH, after=last):
        restored = await each(settle, page)
        held |= {head.run: head for head in restored if head.status == "needs_attention"}
        last = page[-1]
    return Held(list(held.values()), keyless)


async def _held_before(store: Store, backup_at: int) -> Sequence[Head]:
    """Return the runs that an earlier call held, which was killed."""
    held: list[Head] = []
    async for page in store.marked("abandoned"):
        times = await each(lambda head: restored_from(head.run, store), page)
        held += [head for head, at in zip(page, times, strict=True) if at == backup_at]
    return held


def moment(at: int) -> str:
    """Return a time in unix milliseconds for people."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M} UTC"


async def _mark_deleted(store: Store, now: int) -> Sequence[str]:
    """Mark every run without a key for deletion, and return their ids.

    Such a run was deleted between the copies of the database and of the keys.
    """
    keyless: list[str] = []

    async def mark(head: Head) -> None:
        if not head.ended:
            await store.put_head(head.now("done", now))
        await store.retain(head.run, head.retention, "deleting")

    async for page in store.listed(0, private=True):
        heads = {head.run: head for head in page if head.retention != "deleted"}
        found = await store.keyless(list(heads))
        await each(mark, [heads[run] for run in found])
        keyless += found
    return keyless


async def _list_claims(stores: Stores, tokens: Tokens, now: int) -> None:
    """Create the head of every claim that lacks one, because a second delivery of its event would begin the run."""
    store = stores.journals

    async def create_head(run: str) -> None:
        try:
            accepted = (await read_journal(run, store, stores.blobs))[:1]
        except (Corrupt, Gone):
            return
        for recorded in accepted:
            match recorded.entry:
                case RunAccepted(event=event, workflow=workflow):
                    private = event.private is not False
                    conversation = await note_conversation(event.conversation, tokens, store, lambda: now)
                    head = Head(
                        run=run,
                        workflow=workflow,
                        conversation=conversation,
                        accepted_at=recorded.at,
                        private=private,
                        frames=1,
                    )
                    await store.create_head(head)
                case _:
                    continue

    await each(create_head, await store.unlisted(_EVER, _ALL))


async def _restored_head(head: Head, stores: Stores, times: RestoreTimes) -> Head:
    """Return the head of a run after the restore: ended as in its journal, or held."""
    try:
        progress = project(await read_journal(head.run, stores.journals, stores.blobs))
    except Corrupt as error:
        return head.now("needs_attention", times.now, reason=_public(str(error), private=head.private))
    # Without a journal only the head says whether the run is private.
    private = progress.private or await is_hidden(head.run, stores.journals)
    if progress.event is None:
        private = head.private
    if (finished := progress.finished) is not None:
        reason = _public(finished.reason, private=private)
        return head.now(finished.status, progress.last_at, private=private, reason=reason)
    reason = _public(times.reason, private=private)
    return head.now("needs_attention", times.now, private=private, reason=reason)


def _public(reason: str, *, private: bool) -> str:
    if private:
        # The head of a private run outlives its contents, so it holds no reason.
        return ""
    return reason
