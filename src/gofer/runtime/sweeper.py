"""The sweeper: enqueues unfinished runs that no worker has updated for a while.

Queue messages may be lost, and a frozen worker may overwrite heads; journals are never lost. A superfluous message only
costs a look at the run, so the sweeper enqueues in case of doubt. Two kinds of runs need no message. A worker that
holds the lease of a conversation looks for its next run after the release. And a message for any queued run of a
conversation continues the next one in turn, so one message is enough for all that wait there. A parked run always
gets its own message, because no worker looks for it.
"""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.stores.queue import Queue, line_of
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock

BATCH = 100
"""The number of runs that are read at a time, the longest abandoned first."""

WELL = ("done", "limited", "cancelled", "ignored")
"""The states of ended runs that no person has to look at."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Enqueues abandoned runs."""

    store: Store
    queue: Queue
    clock: Clock
    every: float = 60.0
    """Seconds between two sweeps."""
    still: float = 180.0
    """Seconds since the last write of the head after which a run counts as abandoned."""
    pages: int = 100
    """The most batches of runs that one sweep enqueues."""

    async def serve(self) -> None:
        """Sweep until cancelled."""
        while True:
            try:
                await self.sweep(self.still)
            except (TemporaryError, Corrupt) as error:
                _log.warning("the sweep for abandoned runs failed, and is repeated: %s", error)
            await asyncio.sleep(self.every)

    async def sweep(self, still: float) -> int:
        """Enqueue the unfinished runs that were not updated for `still` seconds and wait for no other run.

        Return their number. If there are more than `pages` batches, enqueue the longest abandoned ones. Dead letters of
        runs that ended well later, as after a storm, are removed, because no person has to look at them.
        """
        before = int((self.clock.now() - still) * 1000)
        last = None
        count = 0
        served = set[str]()
        for _ in range(self.pages):
            heads = await self.store.unfinished(before, BATCH, after=last)
            if not heads:
                break
            for head in await self._abandoned(heads, served):
                await self.queue.enqueue(head.run, line=line_of(head))
                count = count + 1
            last = heads[-1]
        await self._forget_letters()
        return count

    async def _forget_letters(self) -> None:
        runs = {letter.run for letter in await self.queue.dead_letters(BATCH)} - {""}
        heads = await asyncio.gather(*map(self.store.head, sorted(runs)))
        well = [head.run for head in heads if head is not None and head.status in WELL]
        if well:
            await self.queue.purge_dead_letters(-math.inf, well)

    async def _abandoned(self, heads: Sequence[Head], served: set[str]) -> Sequence[Head]:
        """Return the runs of a page that need a message; `served` are the conversations that need no further one."""
        waiting = {head.conversation: head for head in reversed(heads) if head.status != "parked"}
        unknown = [conversation for conversation in waiting if conversation not in served]
        now = self.clock.now()
        leased = await asyncio.gather(*(self.store.leased(conversation, now) for conversation in unknown))
        served.update(unknown)
        free = {conversation for conversation, held in zip(unknown, leased, strict=True) if not held}
        return [
            head
            for head in heads
            if head.status == "parked" or (head.conversation in free and waiting[head.conversation] is head)
        ]
