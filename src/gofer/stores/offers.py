"""The protocol of offers: messages that a new worker passes to workers with free slots.

An offer carries the receipt of a queue message. Its taker holds that message as if it had received it from the queue:
it renews and acknowledges the message, and if the taker is killed, the message comes back to the queue. An offer lasts
for a minute. A queue may deliver an offer twice. Then the second taker finds the conversation busy.
"""

from collections.abc import Sequence
from typing import Protocol

from gofer.stores.queue import QueueMessage


class Offers(Protocol):
    """Queue messages that their holders offer to others."""

    async def offer(self, queue_message: QueueMessage) -> None:
        """Offer a message that the caller holds. Raises TemporaryError, ConfigError."""
        ...

    async def take(self, limit: int, wait: float) -> Sequence[QueueMessage]:
        """Return up to `limit` offered messages, perhaps fewer than there are; wait up to `wait` seconds for the first.

        Raises TemporaryError, ConfigError.
        """
        ...
