"""The promises of every store of journals.

*The position is the fence*: frame `n` of a run is written once, and a second writer gets the existing frame. *A claim
has a key*: both exist or neither does. A deleted run keeps its positions, so that it never begins again. *Written is
durable*: the result of a call that returned survives the process. *Readers see a prefix*: never a gap, never a part of
a frame. The tests of the same names hold for every store (`tests/contracts/`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from gofer.journal.coordination import Head, InboxItem, Mark, Retention, Spent, Usage

PAGE = 1_000
"""The most runs of a page of `Store.listed`."""


class Store(Protocol):
    """Frames, and the coordination rows beside them.

    Every call may raise TemporaryError, or Corrupt for a damaged row; in both cases nothing was written. The lists
    `heads`, `unfinished` and `ended` log damaged rows and leave them out.
    """

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        """Write frame 1 and the key of a new run and return None, or write nothing and return the existing frame 1.

        `at` is the time of the claim in unix milliseconds. With 0, for unknown, the claim is never `unlisted`. An empty
        `key` is the claim of a subagent run, which has no key of its own.
        """
        ...

    async def key(self, run: str) -> bytes | None:
        """Return the key of a run, or None if it was destroyed or never existed."""
        ...

    async def keyless(self, runs: Sequence[str]) -> Sequence[str]:
        """Return those of some runs that have no key, in the same order."""
        ...

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        """Write frame `n` if its position is free and return None, or write nothing and return the existing frame.

        Raises ValueError for a gap, and so for frame 1, which only `claim` writes.
        """
        ...

    async def frames(self, run: str) -> Sequence[bytes]:
        """Return all frames of a run in order, with empty bytes for emptied frames; nothing if there is no such run."""
        ...

    async def create_head(self, head: Head) -> None:
        """Write the head of a new run; do nothing if it exists."""
        ...

    async def put_head(self, head: Head) -> None:
        """Replace the head of a run except its `retention`. Only the owner of the run calls this.

        The facts of a run that is being deleted get no tokens (`Head.retained`).
        """
        ...

    async def head(self, run: str) -> Head | None:
        """Return the head of a run, or None."""
        ...

    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        """Return the `limit` newest runs, the newest first.

        Private runs are left out without `private`, and always for a list that people see.
        """
        ...

    def listed(self, since: int, *, private: bool = False) -> AsyncIterator[Sequence[Head]]:
        """Yield pages of all runs that were accepted at `since` (unix ms) or later, private ones only with `private`.

        Each run is yielded once, in an order of the store. A page has at most PAGE runs and may be empty. A run that
        changes meanwhile may be yielded as it was before.
        """
        ...

    def marked(self, mark: Mark) -> AsyncIterator[Sequence[Head]]:
        """Yield pages of the ended runs with a mark (`Head.mark`) and contents, also private ones.

        The order is as in `listed`. The reads grow with the runs that have the mark, and not with the others.
        """
        ...

    async def oldest_runnable(self, conversation: str) -> Head | None:
        """Return the run of a conversation that acts next (by `accepted_at`, then by id), or None."""
        ...

    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        """Return the newest ended run of a workflow in a conversation accepted before `before` (unix ms), or None."""
        ...

    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        """Return runs that have not ended and were touched before `before` (unix ms), oldest first.

        The order is by `touched_at` and then by id; `after` is the last run of the previous page.
        """
        ...

    def open_runs(self, conversations: str) -> AsyncIterator[Sequence[Head]]:
        """Yield pages of the runs of a conversation that have not ended, in an order of the store.

        `conversations` is a token, or a pattern with `:*` at its end for all conversations of a place. Each run is
        yielded once. The reads grow neither with ended runs nor with runs of other places.
        """
        ...

    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        """Return runs that ended and were last written before `before` (unix ms), oldest first.

        With `private`, return private runs only. `after` is the last run of the previous page.
        """
        ...

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        """Take or extend the lease of a conversation for `seconds` from `now` (unix seconds).

        Return False while another owner holds it.
        """
        ...

    async def release(self, conversation: str, owner: str) -> None:
        """Release the lease of a conversation; do nothing if another owner holds it."""
        ...

    async def leased(self, conversation: str, now: float) -> bool:
        """Return whether an owner holds the lease of a conversation at `now` (unix seconds)."""
        ...

    async def drop_leases(self) -> None:
        """Release all leases. Call this only while no owner can be alive."""
        ...

    async def put_item(self, run: str, item: InboxItem) -> None:
        """Put an item into the inbox of a run; do nothing if an item with this id is in it."""
        ...

    async def items(self, run: str) -> Sequence[InboxItem]:
        """Return the items in the inbox of a run in the order of their ids."""
        ...

    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        """Remove items from the inbox of a run after they were journaled."""
        ...

    async def put_usage(self, rows: Sequence[Usage]) -> None:
        """Write the usage rows of runs. An existing row keeps its time, and its amount never decreases."""
        ...

    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        """Return the usage rows of a scope from `since` (unix ms) on, by time and then by run."""
        ...

    async def spent(self, scope: str, now: int) -> Sequence[Spent]:
        """Return the amounts of a scope in the day before `now` (unix ms) by the step of acceptance, oldest first.

        A step counts as a whole if its end is in the day; steps without costs may be missing.
        """
        ...

    async def drop_usage(self, run: str) -> None:
        """Remove the usage rows of a run that did not begin, also from the amounts of their scopes."""
        ...

    async def expire_usage(self, before: int) -> None:
        """Remove all usage rows from before `before` (unix ms).

        A store does nothing if its database removes such rows by itself.
        """
        ...

    async def put_memo(self, key: str, value: str, at: int) -> None:
        """Write a memo for later runs, in place of an earlier one: ids and hashes, never contents."""
        ...

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        """Write `value` if the memo is `was` (None: there is none), and return the memo afterwards.

        Of several concurrent calls with the same `was` exactly one succeeds, and every caller learns the value.
        """
        ...

    async def memo(self, key: str) -> str | None:
        """Return a memo, or None."""
        ...

    async def expire_memos(self, before: int) -> None:
        """Remove the memos that were last written before `before` (unix ms).

        A store does nothing if its database removes such memos by itself.
        """
        ...

    async def unlisted(self, before: int, limit: int) -> Sequence[str]:
        """Return runs that were claimed before `before` (unix ms) and never got a head, oldest first."""
        ...

    async def drop_orphans(self, before: int) -> None:
        """Destroy the keys written before `before` (unix ms) for runs that were never claimed."""
        ...

    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        """Change the retention of a run from `was` to `becomes`, and return its retention afterwards.

        A change to `deleting` removes the tokens of people and places from the facts (`Head.retained`). Do nothing if
        the retention is not `was`. Return None if there is no head.
        """
        ...

    async def hide(self, run: str) -> None:
        """Mark the head of a run as private and remove its facts; do nothing if there is no head."""
        ...

    async def destroy_key(self, run: str) -> None:
        """Destroy the key of a run, so that its stored data can never be read again."""
        ...

    async def empty(self, run: str) -> None:
        """Empty all frames of a run and remove its inbox; the positions of the frames stay taken."""
        ...

    async def forget(self, run: str) -> None:
        """Remove everything of a run, its head last. The same event would then start a new run."""
        ...

    async def scrub(self) -> None:
        """Remove all copies of deleted data from the files of the store. Raises TemporaryError if a copy is left."""
        ...
