"""What does a queue promise to a worker?

*Rung is heard*: a doorbell comes back until it is acknowledged by who holds it. *Content-free*: it carries a run id
only, so a lost, doubled or late one changes who looks, never what happens. *One is enough*: a ring does nothing when a
bell of that run is due no later and nobody holds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """One ring as one receiver holds it, out of sight of others for a while; then it is anybody's again."""

    run: str
    receipt: str
    receives: int
    """How often it was handed out, this time included."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A doorbell that was given up."""

    run: str
    at: float
    """When, unix seconds."""
    why: str
    """For people: the kind of trouble, without contents."""


class Queue(Protocol):
    """Rings that say: look at this run."""

    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        """Rings for a run, after `delay` seconds; nothing happens when a bell that nobody holds is due by then."""
        ...

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """Up to `limit` bells, hidden from others for `visibility` seconds; waits up to `wait` seconds for one."""
        ...

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """Hides a bell for `visibility` seconds from now; nothing happens when it is not the caller's any more."""
        ...

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """The bell was dealt with and will not come back, unless it is not the caller's any more."""
        ...

    async def bury(self, queue_message: QueueMessage, why: str) -> None:
        """The bell was heard too often: it will not come back, and is kept as a dead letter for people.

        Nothing happens when it is not the caller's any more.
        """
        ...

    async def buried(self, limit: int) -> Sequence[DeadLetter]:
        """The newest dead letters first."""
        ...

    async def forget_dead(self, before: float) -> None:
        """Removes the dead letters of before `before` (unix seconds)."""
        ...
