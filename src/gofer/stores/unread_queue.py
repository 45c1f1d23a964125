"""A queue of a process that continues each run at once: it keeps no message, because no worker would receive any.

A process that later serves the same state begins with a sweep, which enqueues every unfinished run.
"""

import asyncio
from collections.abc import Collection, Sequence

from typing_extensions import override

from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage


class UnreadQueue(Queue):
    """A queue that is always empty."""

    @override
    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        """Keep no message."""

    @override
    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        await asyncio.sleep(wait)
        return ()

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """Do nothing: no worker holds a message."""

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """Do nothing: no worker holds a message."""

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        """Do nothing: no worker holds a message."""

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return ()

    @override
    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        """Do nothing: there are none."""
