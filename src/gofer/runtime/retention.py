"""Retention: the contents of runs are deleted in time, in an order that a crash cannot harm.

Those of a private run at its end, those of others 30 days later; what a person keeps is left alone. The head is marked
first and the key destroyed next: from there on nothing can be read any more, and the rest is tidying. Each step can be
done twice, so a deletion that was killed, or that a reader of the log held up, goes on within seconds. The runs of its
subagents have the key and the bodies of their root, and so go with it; their frames are emptied right before its key is
destroyed, as only its journal names them. The head and the positions of the frames stay until the thirtieth day,
without contents: by them duplicates of what happened collapse, and owners that were frozen stay fenced.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from gofer.journal.child_runs import named_subagents
from gofer.journal.coordination import DAY_MS, Head, Retention
from gofer.journal.frame_counts import forget_frames
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections import progress
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone, TemporaryError
from gofer.values.outside import Clock

DAYS = 30
"""How long after its end the contents of a run stay, and the positions of its frames at least."""
USAGE_DAYS = 2
"""How long it is known what a run used of what its person and its workflow may use."""
ORPHAN_DAYS = 1
"""How long the key of a claim stays that never came to be."""
MEMO_DAYS = 366
"""How long runs remember what an earlier one saw or did, as ids and hashes."""
BATCH = 1_000
"""Runs looked at in one go."""
AGAIN = 2.0
"""Seconds between two looks for a deletion that came not to its end; twice as long after each attempt that failed."""
LONGEST = 60.0
"""Seconds between two such attempts at most."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Purged:
    """What one purge did, as numbers, because no count may say to which person a private run belonged."""

    deleted: int = 0
    """Runs without contents now."""
    forgotten: int = 0
    """Runs of which nothing is left at all."""


@dataclass(frozen=True, slots=True)
class Purger:
    """Deletes what is due."""

    stores: Stores
    clock: Clock
    every: float = 86_400.0
    """Seconds between two purges."""

    async def serve(self) -> None:
        """Purge at once and then daily, until it is cancelled; finish what was begun within seconds."""
        while True:
            trouble = await self._trouble(self.purge)
            await self._finish_until_next(trouble)

    async def _finish_until_next(self, trouble: str) -> None:
        """Go on with deletions that were begun, until the next purge is due; `trouble` is what was logged last."""
        left = self.every
        pause = AGAIN
        while left > pause:
            await asyncio.sleep(pause)
            left -= pause
            pause = min(pause * 2, LONGEST)
            trouble = await self._trouble(self.finish, trouble)
            if not trouble:
                pause = AGAIN
        await asyncio.sleep(left)

    async def _trouble(self, work: Callable[[], Awaitable[object]], told: str = "") -> str:
        """Why `work` came not to its end, logged unless it was `told`; empty when it did."""
        try:
            await work()
        except (TemporaryError, Corrupt) as error:
            if str(error) != told:
                _log.warning("not everything that is due was deleted: %s", error)
            return str(error)
        return ""

    async def finish(self) -> int:
        """Go on with deletions that were begun; gives how many runs there were. Raises TemporaryError, Damaged."""
        begun = await self.stores.journals.ended("deleting", self._ago(0), BATCH)
        return await delete([head.run for head in begun], self.stores)

    async def purge(self, days: int = DAYS) -> Purged:
        """Deletes the contents of everything that is due, with `days` after their end for runs that are not private."""
        deleted = 0
        forgotten = 0
        now_ms = int(self.clock.now() * 1000)
        await self.stores.journals.expire_usage(now_ms - USAGE_DAYS * DAY_MS)
        await self.stores.journals.expire_memos(now_ms - MEMO_DAYS * DAY_MS)
        await self.stores.journals.drop_orphans(now_ms - ORPHAN_DAYS * DAY_MS)
        await self.stores.queue.purge_dead_letters(self.clock.now() - DAYS * 86_400)
        while count := await self._delete_due(days):
            deleted += count
        while old := await self._forgettable():
            for run in old:
                await self.stores.blobs.drop(run)
                await self.stores.journals.forget(run)
            forgotten += len(old)
        if forgotten:
            await self.stores.journals.scrub()
        return Purged(deleted, forgotten)

    async def _delete_due(self, days: int) -> int:
        """Delete a batch of what is due; return how many there were."""
        due = await self.due(days)
        ended_before = self._ago(DAYS)
        outdated = {head.run for head in due if head.updated_at < ended_before}
        return await delete([head.run for head in due], self.stores, outdated)

    async def due(self, days: int = DAYS) -> Sequence[Head]:
        """Runs with contents that are to be deleted now, some of them when there are many."""
        found = [*await self._ended("deleting", 0), *await self._ended("due", days)]
        known = {head.run for head in found}
        private = await self._ended("due", 0, private=True)
        return [*found, *[head for head in private if head.run not in known and await self._over(head.run)]]

    async def _forgettable(self) -> Sequence[str]:
        """Deleted runs when their time is over, and claims as old that no worker received."""
        deleted = [head.run for head in await self._ended("deleted", DAYS)]
        return deleted or await self.stores.journals.unlisted(self._ago(DAYS), BATCH)

    def _ago(self, days: int) -> int:
        return int((self.clock.now() - days * 86_400) * 1000) + 1

    async def _ended(self, retention: Retention, days: int, *, private: bool = False) -> Sequence[Head]:
        return await self.stores.journals.ended(retention, self._ago(days), BATCH, private=private)

    async def _over(self, run: str) -> bool:
        """Whether its journal says that a private run ended. One that cannot be read here may be read elsewhere."""
        try:
            entries = await read_journal(run, self.stores.journals, self.stores.blobs)
        except Gone:
            return True
        except Corrupt:
            return False
        state = progress.project(entries)
        return state.finished is not None and state.private


async def delete(runs: Sequence[str], stores: Stores, outdated: Collection[str] = ()) -> int:
    """Delete the contents of runs that ended and that no person keeps; return how many there were.

    The frames of `outdated` runs are not emptied: they are forgotten with their positions next, and nothing opens them
    without their key. Raises TemporaryError when it came not to its end; it goes on with the next purge.
    """
    store = stores.journals
    marked = [run for run in runs if await store.retain(run, "due", "deleting") == "deleting"]
    for run in marked:
        await _empty_below(run, store)
        await store.destroy_key(run)
        await stores.blobs.drop(run)
        if run not in outdated:
            await store.empty(run)
    if marked:
        await store.scrub()
    for run in marked:
        await store.retain(run, "deleting", "deleted")
    return len(marked)


async def _empty_below(run: str, store: Store) -> None:
    """Empties the frames of the subagents of a run; those that stand lowest first, as only those above name them."""
    for below, (accepted, last) in (await named_subagents(run, store)).items():
        await _empty_below(below, store)
        await store.empty(below)
        await forget_frames(below, store)
        # By this its positions are forgotten with those of others, when no owner can come back to it any more.
        await store.create_head(
            Head(
                run=below,
                workflow="",
                conversation="",
                accepted_at=accepted,
                status="done",
                retention="deleted",
                updated_at=last,
            )
        )


async def keep(run: str, store: Store, *, wanted: bool) -> bool:
    """Keeps a run from being deleted, or no longer; False when it is too late."""
    if wanted:
        return await store.retain(run, "due", "kept") == "kept"
    return await store.retain(run, "kept", "due") == "due"
