"""A worker at work: it listens to its queue, and a sweeper and a purger look after the state meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Protocol

from gofer.runtime.retention import Purger
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker

GRACE = 5.0
"""Seconds that running work gets to be handed over when the process stops."""


class Serving(Protocol):
    """A part of the process that serves until it is cancelled."""

    async def serve(self) -> None:
        """Serve until cancelled."""
        ...


@contextlib.asynccontextmanager
async def working(worker: Worker, *others: Serving) -> AsyncGenerator[None]:
    """Serve with a worker, a sweeper, a purger and others, such as the clockwork of schedules, during the block.

    Unfinished runs of an earlier process are continued at once: the lock proves that it is dead.
    """
    stores = worker.services.stores
    clock = worker.services.outside.clock
    sweeper = Sweeper(stores.journals, stores.queue, clock)
    purger = Purger(stores, clock)
    await stores.journals.drop_leases()
    await sweeper.sweep(still=0)
    services: list[Serving] = [worker, sweeper, purger, *others]
    tasks = [asyncio.create_task(service.serve()) for service in services]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
