"""The protocol of queues. A queue message carries the id of a run and nothing else.

Every message comes back until the worker that holds it acknowledges it. Content stays in the journal, so a lost,
doubled or late message changes who looks at a run and never what happens. One message is enough: `enqueue` does
nothing while a message of that run is due no later and no worker holds it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """One delivery of a message to a worker, hidden from other workers for a while."""

    run: str
    receipt: str
    receives: int
    """How often the message was delivered, this time included."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was delivered too often and is kept for the operator."""

    run: str
    at: float
    """When, unix seconds."""
    why: str
    """For people: the kind of trouble, without contents."""


class Queue(Protocol):
    """Messages that name runs to look at."""

    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        """Add a message for a run, due after `delay` seconds, unless one that no worker holds is due by then."""
        ...

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """Return up to `limit` messages, hidden from others for `visibility` seconds; wait `wait` seconds for one."""
        ...

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """Hide a message for `visibility` seconds from now; do nothing when the caller does not hold it any more."""
        ...

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """Remove a message; do nothing when the caller does not hold it any more."""
        ...

    async def bury(self, queue_message: QueueMessage, why: str) -> None:
        """Keep a message that was delivered too often as a dead letter, which never comes back.

        Do nothing when the caller does not hold it any more.
        """
        ...

    async def buried(self, limit: int) -> Sequence[DeadLetter]:
        """Return the newest dead letters first."""
        ...

    async def forget_dead(self, before: float) -> None:
        """Remove the dead letters of before `before` (unix seconds)."""
        ...


async def wait_for_message(arrived: asyncio.Event, seconds: float) -> None:
    """Return when this process enqueues a message, or after `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await arrived.wait()
    except TimeoutError:
        return
