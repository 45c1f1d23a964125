"""Retention: deletes the contents of runs in time, in an order that a crash cannot harm.

The contents of a private run are deleted at its end, those of other runs 30 days later, and those of a kept run never.
Those of a run with bad feedback wait for the owner of its workflow, for at most 90 days after the end.
The head is marked first. Then the frames of the subagent runs are emptied, because only the journal of the root names
them, and the key is destroyed. From then on nothing can be read, and the remaining steps only clean up. Each step can
be repeated, so a deletion that was killed, or that a reader of the log delayed, continues within seconds. Until 30 days
after the end, the head and the positions of the frames stay without contents: they reject duplicates of the event, and
keep frozen owners fenced. A run that is deleted later than that is removed completely at once.

Some runs are deleted at a time. What one call has no time for is still in the lists, so the next call continues there.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from gofer.journal.child_runs import named_subagents
from gofer.journal.coordination import DAY_MS, Head, Retention
from gofer.journal.frame_counts import forget_frames
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections import progress
from gofer.runtime.concurrency import each
from gofer.stores.one_place import Stores
from gofer.values.amounts import counted
from gofer.values.errors import ConfigError, Corrupt, Gone, TemporaryError
from gofer.values.outside import Clock

DAYS = 30
"""Days after its end for which the contents of a run are kept, and at least the positions of its frames."""
UNSEEN_DAYS = 90
"""Days after its end for which the contents of a run with bad feedback wait for the owner of its workflow."""
USAGE_DAYS = 2
"""Days for which the usage of a run is kept for usage limits."""
ORPHAN_DAYS = 1
"""Days for which a key without a claim is kept."""
MEMO_DAYS = 366
"""Days for which memos of runs, ids and hashes, are kept."""
BATCH = 1_000
"""The most runs that are read at a time."""
AGAIN = 2.0
"""Seconds until an unfinished deletion is continued; doubles after each failed attempt."""
LONGEST = 60.0
"""The longest such wait in seconds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Purged:
    """The result of a purge, as numbers only, because ids could show who used private runs."""

    deleted: int = 0
    """The number of runs whose contents were deleted."""
    forgotten: int = 0
    """The number of runs that were removed completely."""
    unseen: int = 0
    """The number of runs with bad feedback that wait for the owners of their workflows."""
    oldest_days: int = 0
    """The days since the oldest of them ended."""
    overlooked: int = 0
    """The number of runs with bad feedback that waited for UNSEEN_DAYS in vain."""

    def and_also(self, other: "Purged") -> "Purged":
        """Return the result with the deleted and forgotten runs of another one."""
        return replace(self, deleted=self.deleted + other.deleted, forgotten=self.forgotten + other.forgotten)

    @property
    def proposal(self) -> str:
        """The sentences about runs that wait for their owners, or waited in vain; empty if there are none."""
        told: list[str] = []
        if self.overlooked:
            runs = counted(self.overlooked, "run")
            told.append(f"after {UNSEEN_DAYS} days without a look at their bad feedback, {runs} will be deleted")
        age = counted(self.oldest_days, "day")
        if self.unseen == 1:
            told.append(f"1 run with bad feedback, {age} old, waits for its owner: gofer feedback")
        elif self.unseen:
            runs = f"{self.unseen:,} runs with bad feedback, the oldest {age} old"
            told.append(f"{runs}, wait for their owners: gofer feedback")
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class Purger:
    """The purger: deletes the contents of runs that are due."""

    stores: Stores
    clock: Clock
    every: float = 86_400.0
    """Seconds between two purges."""

    async def serve(self) -> None:
        """Purge now and then daily until cancelled; continue unfinished deletions within seconds."""
        while True:
            problem = await self._attempt(self.purge)
            await self._finish_until_next(problem)

    async def _finish_until_next(self, problem: str) -> None:
        """Continue unfinished deletions until the next purge is due; `problem` is the last logged error."""
        left = self.every
        pause = AGAIN
        while left > pause:
            await asyncio.sleep(pause)
            left -= pause
            pause = min(pause * 2, LONGEST)
            problem = await self._attempt(self.finish, problem)
            if not problem:
                pause = AGAIN
        await asyncio.sleep(left)

    async def _attempt(self, work: Callable[[], Awaitable[object]], logged: str = "") -> str:
        """Call `work` and return the text of its error, or an empty text. The error is logged unless it is `logged`."""
        try:
            purged = await work()
            if isinstance(purged, Purged) and purged.proposal:
                _log.info("%s", purged.proposal)
        except (TemporaryError, Corrupt) as error:
            if str(error) != logged:
                _log.warning("the purge was not completed, and is repeated: %s", error)
            return str(error)
        return ""

    async def finish(self) -> int:
        """Continue unfinished deletions; return the number of runs. Raises TemporaryError, Corrupt."""
        done = await self._delete(await self._ended("deleting", 0))
        return done.deleted

    async def catch_up(self, seconds: float) -> Purged:
        """Delete runs that became due since the last call, for about so many seconds; a later call does the rest.

        This leaves to `purge` what needs a look at journals or claims. Raises TemporaryError, Corrupt.
        """
        until = self.clock.monotonic() + seconds
        done = await self._delete(await self._ended("deleting", 0))
        while self.clock.monotonic() < until:
            batch = await self._delete(await self._ended("due", DAYS))
            old = [head.run for head in await self._ended("deleted", DAYS)]
            await self._forget(old)
            done = done.and_also(batch).and_also(Purged(forgotten=len(old)))
            if not batch.deleted and not old:
                break
        if done.forgotten:
            await self.stores.journals.scrub()
        return done

    async def purge(self, days: int = DAYS, *, seconds: float = math.inf) -> Purged:
        """Delete the contents of all runs that are due: private runs at once, other runs `days` after their end.

        After `seconds` no further batch begins; `catch_up` deletes the rest.
        """
        until = self.clock.monotonic() + seconds
        done = Purged()
        now_ms = int(self.clock.now() * 1000)
        await self.stores.journals.expire_usage(now_ms - USAGE_DAYS * DAY_MS)
        await self.stores.journals.expire_memos(now_ms - MEMO_DAYS * DAY_MS)
        await self.stores.journals.drop_orphans(now_ms - ORPHAN_DAYS * DAY_MS)
        await self.stores.queue.purge_dead_letters(self.clock.now() - DAYS * 86_400)
        waiting = await self._end_waits()
        while self.clock.monotonic() < until:
            batch = await self._delete(await self.due(days))
            if not batch.deleted:
                break
            done = done.and_also(batch)
        done = done.and_also(await self._delete_private(until))
        while self.clock.monotonic() < until and (old := await self._forgettable()):
            await self._forget(old)
            done = done.and_also(Purged(forgotten=len(old)))
        if done.forgotten:
            await self.stores.journals.scrub()
        return waiting.and_also(done)

    async def _end_waits(self) -> Purged:
        """Count the runs with bad feedback that wait for their owners, and end the waits of those that are too old.

        A run in a place that became private meanwhile is not listed, so its contents do not wait for a person either.
        """
        now = self._ago(0)
        waiting = Purged()
        async for page in ended_runs(self.stores.journals, "unseen", now):
            old = [head for head in page if not head.private and head.updated_at < self._ago(UNSEEN_DAYS)]
            over = [head.run for head in page if head.private or head in old]
            await each(lambda run: self.stores.journals.retain(run, "unseen", "due"), over)
            ages = [(now - head.updated_at) // DAY_MS for head in page if head.run not in over]
            waiting = Purged(
                unseen=waiting.unseen + len(ages),
                oldest_days=max(waiting.oldest_days, *ages, 0),
                overlooked=waiting.overlooked + len(old),
            )
        return waiting

    async def _delete_private(self, until: float) -> Purged:
        """Delete the private runs that ended. Runs that became private later stay until they are due."""
        done = Purged()
        async for page in ended_runs(self.stores.journals, "due", self._ago(0), private=True):
            have_ended = await each(self._has_ended, [head.run for head in page])
            ended = [head for head, has_ended in zip(page, have_ended, strict=True) if has_ended]
            done = done.and_also(await self._delete(ended))
            if self.clock.monotonic() >= until:
                break
        return done

    async def _delete(self, heads: Sequence[Head]) -> Purged:
        """Delete the contents of ended runs, and remove those completely that ended long enough ago."""
        ended_before = self._ago(DAYS)
        outdated = {head.run for head in heads if head.updated_at < ended_before}
        deleted = await _delete([head.run for head in heads], self.stores, outdated)
        return Purged(len(deleted), len(outdated.intersection(deleted)))

    async def _forget(self, runs: Sequence[str]) -> None:
        async def forget(run: str) -> None:
            await self.stores.blobs.drop(run)
            await self.stores.journals.forget(run)

        await each(forget, runs)

    async def due(self, days: int = DAYS) -> Sequence[Head]:
        """Return runs with contents that are due for deletion, at most a batch of each kind."""
        return [*await self._ended("deleting", 0), *await self._ended("due", days)]

    async def _forgettable(self) -> Sequence[str]:
        """Return deleted runs after DAYS, or else claims of the same age without a head."""
        deleted = [head.run for head in await self._ended("deleted", DAYS)]
        return deleted or await self.stores.journals.unlisted(self._ago(DAYS), BATCH)

    def _ago(self, days: int) -> int:
        return int((self.clock.now() - days * 86_400) * 1000) + 1

    async def _ended(self, retention: Retention, days: int) -> Sequence[Head]:
        return await self.stores.journals.ended(retention, self._ago(days), BATCH)

    async def _has_ended(self, run: str) -> bool:
        """Return whether the journal of a private run says that it ended; False if this process cannot read it."""
        try:
            entries = await read_journal(run, self.stores.journals, self.stores.blobs)
        except Gone:
            return True
        except Corrupt:
            return False
        state = progress.project(entries)
        return state.finished is not None and state.private


async def ended_runs(
    store: Store, retention: Retention, before: int, *, private: bool = False
) -> AsyncIterator[Sequence[Head]]:
    """Yield all pages of `Store.ended`."""
    last: Head | None = None
    while page := await store.ended(retention, before, BATCH, private=private, after=last):
        yield page
        last = page[-1]


async def delete_or_leave(run: str, stores: Stores) -> None:
    """Delete a run that ended, or leave the rest to the next purge if a store is away or refuses."""
    try:
        await delete([run], stores)
    except (TemporaryError, ConfigError) as error:
        _log.warning("run %s was not deleted completely; the next purge continues: %s", run, error)


async def delete(runs: Sequence[str], stores: Stores) -> int:
    """Delete the contents of ended runs that are not kept; return their number.

    Raises TemporaryError when it could not finish; the next purge continues.
    """
    return len(await _delete(runs, stores, ()))


async def _delete(runs: Sequence[str], stores: Stores, outdated: Collection[str]) -> Sequence[str]:
    """Delete the contents of runs, remove `outdated` ones completely, and return those that were not kept."""
    store = stores.journals

    async def destroy(run: str) -> bool:
        if await store.retain(run, "due", "deleting") != "deleting":
            return False
        await _empty_subagents(run, store, outdated=run in outdated)
        await store.destroy_key(run)
        await stores.blobs.drop(run)
        if run not in outdated:
            await store.empty(run)
        return True

    async def conclude(run: str) -> None:
        if run in outdated:
            await store.forget(run)
        else:
            await store.retain(run, "deleting", "deleted")

    destroyed = await each(destroy, runs)
    deleted = [run for run, was_due in zip(runs, destroyed, strict=True) if was_due]
    if deleted:
        await store.scrub()
        await each(conclude, deleted)
    return deleted


async def _empty_subagents(run: str, store: Store, *, outdated: bool) -> None:
    """Empty the frames of the subagent runs of a run, the deepest first, because only the runs above name them.

    Those of an `outdated` run are removed.
    """
    for subagent, (accepted, last) in (await named_subagents(run, store)).items():
        await _empty_subagents(subagent, store, outdated=outdated)
        await forget_frames(subagent, store)
        if outdated:
            await store.forget(subagent)
            continue
        await store.empty(subagent)
        # With this head the frames of the subagent run are removed after DAYS, like those of other runs.
        await store.create_head(
            Head(
                run=subagent,
                workflow="",
                conversation="",
                accepted_at=accepted,
                status="done",
                retention="deleted",
                updated_at=last,
            )
        )


async def keep(run: str, store: Store, *, wanted: bool) -> bool:
    """Protect a run from deletion, or end the protection if not `wanted`; return False if it is too late.

    Bad feedback on a run that a person keeps counts as seen.
    """
    if not wanted:
        return await store.retain(run, "kept", "due") in ("due", "unseen")
    if await store.retain(run, "unseen", "kept") == "kept":
        return True
    return await store.retain(run, "due", "kept") == "kept"


async def end_waiting(run: str, store: Store) -> bool:
    """Let the contents of a run with bad feedback be deleted when they are due, because its owner has looked.

    Return False if the run did not wait for its owner.
    """
    head = await store.head(run)
    return head is not None and head.retention == "unseen" and await store.retain(run, "unseen", "due") == "due"
