"""The promises of any store of journals.

*The position is the fence*: frame `n` of a run is written once, and a second writer is shown the frame that is there.
*A claim has a key*: both are there or none, and what was deleted keeps its positions, so that no run begins anew.
*Written is durable*: a call that returned survives the process. *Readers see a prefix*: never a gap, never a part.
The tests of the same names hold for every store (`tests/contracts/`).
"""

from collections.abc import Sequence
from typing import Protocol

from gofer.journal.coordination import Head, InboxItem, Retention, Usage


class Store(Protocol):
    """Frames and the coordination rows beside them.

    Every call may raise TemporaryError, or Damaged for stored bytes that are no row: nothing was written. The lists
    `heads`, `unfinished` and `ended` leave such rows out and log them.
    """

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        """Writes frame 1 and the key of a new run: None. Otherwise writes nothing and gives the frame that stands.

        `at` is when, in unix milliseconds; 0 is unknown, and such a claim is never `unlisted`.
        """
        ...

    async def key(self, run: str) -> bytes | None:
        """The key of a run; None when it was destroyed or there is no such run."""
        ...

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        """Writes frame `n` if it is free: None. Otherwise writes nothing and gives the frame that stands there.

        Raises ValueError for a gap, and so for frame 1, which only `claim` writes.
        """
        ...

    async def frames(self, run: str) -> Sequence[bytes]:
        """All frames of a run in order, empty bytes for those that were emptied; none when there is no such run."""
        ...

    async def create_head(self, head: Head) -> None:
        """Writes the head of a new run; leaves one that is there as it is."""
        ...

    async def put_head(self, head: Head) -> None:
        """Replaces the head of a run, all but its `retention`; for its owner only."""
        ...

    async def head(self, run: str) -> Head | None:
        """The head of a run, or None."""
        ...

    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        """The newest runs first; private ones only when they are asked for, and never for a list people see."""
        ...

    async def oldest_runnable(self, conversation: str) -> Head | None:
        """The run of a conversation that is to act next, by `accepted_at` and then by id, or None."""
        ...

    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        """The newest ended run of a workflow in a conversation that was accepted before `before` (unix ms), or None."""
        ...

    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        """Runs that have not ended and whose `touched_at` is before `before` (unix ms), oldest first.

        Of one age in the order of their ids; `after` is the last one of the page before.
        """
        ...

    async def ended(self, retention: Retention, before: int, limit: int, *, private: bool = False) -> Sequence[Head]:
        """Runs that ended and were last written before `before` (unix ms), oldest first; or only private ones."""
        ...

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        """Takes or extends the lease of a conversation; False when another owner has it until later than `now`."""
        ...

    async def release(self, conversation: str, owner: str) -> None:
        """Gives the lease back; nothing happens when another owner has it by now."""
        ...

    async def drop_leases(self) -> None:
        """Frees every conversation; only for who knows that every holder is dead."""
        ...

    async def put_item(self, run: str, item: InboxItem) -> None:
        """Puts an item into the inbox of a run; one with the same id that is there stays as it is."""
        ...

    async def items(self, run: str) -> Sequence[InboxItem]:
        """What waits in the inbox of a run, in the order of the ids."""
        ...

    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        """Removes items that were journaled."""
        ...

    async def put_usage(self, rows: Sequence[Usage]) -> None:
        """Writes what a run used so far; a row that is there keeps its time and never shrinks."""
        ...

    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        """Rows of a scope from `since` (unix ms) on, by their time and then by run."""
        ...

    async def drop_usage(self, run: str) -> None:
        """Removes the rows of a run that did not begin."""
        ...

    async def expire_usage(self, before: int) -> None:
        """Removes all rows from before `before` (unix ms)."""
        ...

    async def put_memo(self, key: str, value: str, at: int) -> None:
        """Writes down what a later run has to know: ids and hashes, never contents; replaces what stands there."""
        ...

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        """Writes `value` if what stands there is `was`, None for nothing; gives what stands afterwards.

        Of many that exchange the same at once one succeeds, and all are told which.
        """
        ...

    async def memo(self, key: str) -> str | None:
        """What was written down last under a key, or None."""
        ...

    async def expire_memos(self, before: int) -> None:
        """Removes memos last written before `before` (unix ms)."""
        ...

    async def unlisted(self, before: int, limit: int) -> Sequence[str]:
        """Runs claimed before `before` (unix ms) whose head was never written, oldest first."""
        ...

    async def drop_orphans(self, before: int) -> None:
        """Destroy the keys written before `before` (unix ms) whose claim never came to be."""
        ...

    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        """Changes what becomes of a run, if it is `was` now; gives what it is afterwards, None without a head."""
        ...

    async def hide(self, run: str) -> None:
        """Marks the head of a run as private, and changes nothing else; does nothing where there is no head."""
        ...

    async def destroy_key(self, run: str) -> None:
        """Destroys the key of a run: nothing of it can be read from here on."""
        ...

    async def empty(self, run: str) -> None:
        """Empties all frames of a run, whose positions stay taken, and drops its inbox."""
        ...

    async def forget(self, run: str) -> None:
        """Removes everything that is left of a run, its head last: the same happening would be a new run."""
        ...

    async def scrub(self) -> None:
        """Leaves no copy of what was removed in the store's own files. Raises TemporaryError when one is left."""
        ...
