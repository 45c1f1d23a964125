"""The sweeper: enqueues every unfinished run whose head was not written lately.

Queue messages and heads may be lost or overwritten by a worker that was frozen; the journals are not. One more message
costs a look, so the sweeper never asks why.
"""

import asyncio
import logging
from dataclasses import dataclass

from gofer.journal.store import Store
from gofer.stores.queue import Queue
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock

BATCH = 100
"""Runs looked up at a time, those that stand still longest first."""

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
    """Seconds without a sign of life after which a run is enqueued."""
    pages: int = 100
    """How many times BATCH runs are enqueued in one sweep at most."""

    async def serve(self) -> None:
        """Sweeps until it is cancelled."""
        while True:
            try:
                await self.sweep(self.still)
            except (TemporaryError, Corrupt) as error:
                _log.warning("nothing was swept: %s", error)
            await asyncio.sleep(self.every)

    async def sweep(self, still: float) -> int:
        """Enqueue every unfinished run without a sign of life for `still` seconds; return how many there were.

        When there are more than fit into its pages, for those that stand still longest.
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
