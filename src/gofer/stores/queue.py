"""The protocol of queues. A queue message carries the id of a run and nothing else.

Every message comes back until the worker that holds it acknowledges it. Content stays in the journal, so a lost,
doubled or late message changes which worker continues a run and when, but never the result. One message is enough:
`enqueue` does nothing while a message of that run is due no later and no worker holds it.
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
    """The time at which the message became a dead letter, unix seconds."""
    reason: str
    """The kind of error, for people; without contents of the run."""


class Queue(Protocol):
    """Messages that name runs to look at."""

    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        """Add a message for a run, due after `delay` seconds, unless an unheld message of that run is due by then."""
        ...

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """Return up to `limit` due messages and hide them from other workers for `visibility` seconds.

        Wait up to `wait` seconds for the first message.
        """
        ...

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """Hide a message for `visibility` seconds from now; do nothing if the caller no longer holds it."""
        ...

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """Remove a message; do nothing if the caller no longer holds it."""
        ...

    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        """Keep a message that was delivered too often as a dead letter, which no worker receives again.

        Do nothing if the caller no longer holds the message.
        """
        ...

    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        """Return up to `limit` dead letters, the newest first."""
        ...

    async def purge_dead_letters(self, before: float) -> None:
        """Remove the dead letters that are older than `before` (unix seconds)."""
        ...


async def wait_for_message(arrived: asyncio.Event, seconds: float) -> None:
    """Wait until this process enqueues a message, for at most `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await arrived.wait()
    except TimeoutError:
        return
