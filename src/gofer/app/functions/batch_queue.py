"""The queue of one invocation of the worker: it knows what Lambda deletes at its end, and takes offered messages.

Lambda deletes the messages of its batch that are not reported as failed, but only after the invocation. Until then SQS
could deliver an acknowledged message again. So each message is deleted when it is acknowledged, except the last one of
the batch if nothing else is in flight. Lambda knows nothing of the messages that the worker receives itself.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.stores.offers import Offers
from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage
from gofer.values.errors import ConfigError, TemporaryError

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class BatchQueue(Queue):
    """The queue of one invocation, which knows the messages that Lambda deletes at its end."""

    queue: Queue
    offers: Offers | None
    """The messages that other new workers offer; None for a stage without a queue for them."""
    batch: frozenset[str]
    """The receipts of the messages that Lambda passed."""
    unanswered: set[str]
    """The receipts of the messages that this invocation holds."""
    deferred: QueueMessage | None = None
    """The acknowledged message of the batch that is left to Lambda, because nothing else was in flight."""
    is_behind: bool = False
    """Whether the last look at the queue found messages, so that more may wait there than are offered."""

    @override
    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        await self.queue.enqueue(run, delay, line=line)

    @override
    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        received = await self._arrived(limit, visibility, wait)
        self.unanswered.update(queue_message.receipt for queue_message in received)
        if received and self.deferred is not None:
            # The invocation goes on, so Lambda would delete the message too late.
            with contextlib.suppress(TemporaryError, ConfigError):
                await self.queue.acknowledge(self.deferred)
            self.deferred = None
        return received

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        await self.queue.extend(queue_message, visibility)

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        receipt = queue_message.receipt
        if receipt in self.batch and not self.unanswered - {receipt}:
            self.deferred = queue_message
        else:
            await self.queue.acknowledge(queue_message)
        self.unanswered.discard(receipt)

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        await self.queue.move_to_dead_letters(queue_message, reason)
        self.unanswered.discard(queue_message.receipt)

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return await self.queue.dead_letters(limit)

    @override
    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        await self.queue.purge_dead_letters(before, runs)

    async def _arrived(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """Return offered messages, else those for which Lambda began no worker because of `WorkerConcurrency`."""
        if self.is_behind:
            wait = 0.0
        if taken := await self._taken(limit, wait):
            await asyncio.gather(*(hide(self.queue, one, visibility) for one in taken))
            return taken
        if self.offers is not None:
            wait = 0.0
        found = await self.queue.receive(limit, visibility, wait)
        self.is_behind = bool(found)
        return found

    async def _taken(self, limit: int, wait: float) -> Sequence[QueueMessage]:
        """Return offered messages that this invocation does not hold yet; none if the offers do not answer."""
        if self.offers is None:
            return ()
        try:
            taken = await self.offers.take(limit, wait)
        except TemporaryError as error:
            _log.warning("the offers of other workers did not answer: %s", error)
            await asyncio.sleep(wait)
            return ()
        except ConfigError as error:
            _log.error("the worker takes no offers of other workers: %s", error)
            self.offers = None
            return ()
        return [queue_message for queue_message in taken if queue_message.receipt not in self.unanswered]


async def hide(queue: Queue, queue_message: QueueMessage, seconds: float) -> None:
    """Hide a held message for `seconds` from now. Raises nothing.

    If it fails, the message comes back too early or too late. The sweeper finds a run whose message is late.
    """
    with contextlib.suppress(TemporaryError, ConfigError):
        await queue.extend(queue_message, seconds)
