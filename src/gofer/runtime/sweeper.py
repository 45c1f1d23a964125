"""The sweeper: enqueues unfinished runs that no worker has updated for a while.

Queue messages may be lost, and a frozen worker may overwrite heads; journals are never lost. A superfluous message only
costs a look at the run, so the sweeper enqueues without checking why.
"""

import asyncio
import logging
from dataclasses import dataclass

from gofer.journal.store import Store
from gofer.stores.queue import Queue
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock

BATCH = 100
"""The number of runs that are read at a time, the longest abandoned first."""

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
        """Enqueue every unfinished run that was not updated for `still` seconds; return their number.

        If there are more than `pages` batches, enqueue the longest abandoned ones.
        """
        before = int((self.clock.now() - still) * 1000)
        last = None
        count = 0
        for _ in range(self.pages):
            heads = await self.store.unfinished(before, BATCH, after=last)
            if not heads:
                break
            for head in heads:
                await self.queue.enqueue(head.run)
            last = heads[-1]
            count = count + len(heads)
        return count
