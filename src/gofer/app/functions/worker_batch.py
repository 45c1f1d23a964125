"""The worker function: continues the conversations of one batch, and receives further ones into its free slots.

Lambda begins a worker for each message that its pollers receive, also beside workers with free slots, and each worker
is paid for. So a worker first offers its batch to those, and processes only the rest.

A run that needs longer than the invocation is handed over with a new queue message, so a run of hours takes many
invocations. At the end of its time the worker replaces the messages that it could not acknowledge by new ones.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gofer.app.functions.batch_queue import BatchQueue, hide
from gofer.app.functions.event_batch import Batch, failures, read_batch
from gofer.app.functions.offering import offer_to_others
from gofer.engine.owned_run import Deadline
from gofer.runtime.returned_messages import replace_message
from gofer.runtime.slots import VISIBILITY_SECONDS, Slots
from gofer.runtime.worker import Worker
from gofer.stores.offers import Offers
from gofer.stores.queue import Queue, QueueMessage
from gofer.values.errors import ConfigError

LEAVE = 8.0
"""Seconds before the deadline at which unfinished work is cancelled, so that the hand-over can still be recorded."""
ROOM = 360.0
"""Seconds that a worker must have left to receive another message; most runs need less and are not handed over."""
LOOK = 1.0
"""Seconds until a worker begins to receive. A batch that only needs a look at its runs ends sooner."""
WAIT = 1.0
"""Seconds for which a request waits for a message, and so the most for which a worker stays awake for nothing."""
NOW = 1.0
"""Seconds until another worker may receive the message of a cancelled conversation."""
PARKED = 30.0
"""Seconds until a message comes back that no worker could process, because the settings could not be read."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Working:
    """The worker function."""

    worker: Callable[[], Awaitable[Worker]]
    """Returns the worker for the present settings. Raises TemporaryError, ConfigError."""
    queue: Queue
    offers: Offers | None = None
    """The queue of offers; None for a stage without one, whose workers process every batch."""
    leave: float = LEAVE

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """Work for at most `seconds` on a batch and on what arrives meanwhile; return what goes back to the queue.

        Raises BadRequest for an event that is not from SQS, and the errors of `worker`. After these, every message that
        no other worker took comes back in half a minute.
        """
        ends_at = asyncio.get_running_loop().time() + seconds
        batch = read_batch(event)
        messages = list(batch.queue_messages.values())
        # Before anything that can fail or hang, because Lambda received them for an hour and a half.
        await self._hide(messages, VISIBILITY_SECONDS)
        kept = await self._kept(messages)
        receipts = {queue_message.receipt for queue_message in kept}
        given = {queue_message.receipt for queue_message in messages} - receipts
        unanswered = set[str]()
        try:
            if kept:
                unanswered = await self._process(kept, ends_at)
        finally:
            await self._return_malformed(batch)
        # Other workers hold the given ones, so Lambda must not delete them.
        return failures([*batch.ids(given | unanswered), *batch.malformed])

    async def _kept(self, queue_messages: Sequence[QueueMessage]) -> Sequence[QueueMessage]:
        """Offer the messages of a batch to other workers; return those to process here.

        A message that came back is not offered. The worker that had it may have died of it, and another one would take
        its other conversations with it.
        """
        fresh = [queue_message for queue_message in queue_messages if queue_message.receives == 1]
        if self.offers is None or not fresh:
            return queue_messages
        returned = [queue_message for queue_message in queue_messages if queue_message.receives > 1]
        return [*returned, *await offer_to_others(self.offers, fresh)]

    async def _process(self, kept: Sequence[QueueMessage], ends_at: float) -> set[str]:
        """Process messages and what arrives meanwhile; return the receipts of those that nobody acknowledged."""
        try:
            worker = await self.worker()
        except Exception:
            await asyncio.gather(*(replace_message(self.queue, one, PARKED) for one in kept))
            raise
        receipts = frozenset(queue_message.receipt for queue_message in kept)
        queue = BatchQueue(self.queue, self.offers, batch=receipts, unanswered=set(receipts))
        late = await self._work(_over(worker, queue), kept, ends_at)
        held = [queue_message for queue_message in late if queue_message.receipt in queue.unanswered]
        await asyncio.gather(*(replace_message(queue, one, NOW) for one in held))
        return queue.unanswered

    async def _work(
        self, worker: Worker, queue_messages: Sequence[QueueMessage], ends_at: float
    ) -> Sequence[QueueMessage]:
        """Continue conversations until none is left or the time is over; return the messages of cancelled ones."""
        loop = asyncio.get_running_loop()
        leaves_at = ends_at - self.leave
        slots = worker.slots(Deadline(worker.services.outside.clock, ends_at - loop.time()))
        slots.start(queue_messages)
        await slots.wait_for_all(max(0.0, min(LOOK, leaves_at - loop.time())))
        # A message that came back may end this worker as well, so it takes no further conversations with it.
        receives = all(queue_message.receives == 1 for queue_message in queue_messages)
        while slots.busy and (left := leaves_at - loop.time()) > 0:
            # A run that was handed over needs another worker, and this one must not receive it again.
            receives = receives and ends_at - loop.time() > ROOM and not slots.deadline.handed_over
            if receives and slots.free > 0:
                receives = await _receive(slots)
            else:
                await slots.wait_for_one(left)
        if not slots.busy:
            return ()
        # The deadline ends before the cancellation, so that cancelled work is recorded as handed over.
        slots.deadline.end()
        late = await slots.cut_off(self.leave / 2)
        _log.warning("conversations were cut off at the deadline", extra={"fields": {"count": len(late)}})
        return late

    async def _hide(self, queue_messages: Iterable[QueueMessage], seconds: float) -> None:
        await asyncio.gather(*(hide(self.queue, one, seconds) for one in queue_messages))

    async def _return_malformed(self, batch: Batch) -> None:
        for message, receipt in batch.malformed.items():
            _log.error("a message of the queue names no run", extra={"fields": {"message_id": message}})
            # The message is received again at once, so it soon becomes a dead letter, which raises the alarm.
            await self._hide([QueueMessage("", receipt, 1)], 0.0)


async def _receive(slots: Slots) -> bool:
    """Fill the free slots; return whether the worker may receive again."""
    try:
        await slots.receive(WAIT)
    except ConfigError as error:
        # The conversations in flight must not end because of it.
        _log.error("the worker receives no further messages: %s", error)
        return False
    return True


def _over(worker: Worker, queue: BatchQueue) -> Worker:
    """Return the worker with the queue of one invocation."""
    stores = replace(worker.services.stores, queue=queue)
    return replace(worker, services=replace(worker.services, stores=stores))
