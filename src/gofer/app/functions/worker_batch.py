"""The worker function: continues all conversations of one batch at once, until its time is over.

A run that does not fit is handed over with a queue message of its own, so a run of hours is many invocations.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from gofer.app.functions.batch import Batch, BatchQueue, failures, read_batch
from gofer.engine.deadline import Deadline
from gofer.runtime.worker import VISIBILITY_SECONDS, Worker
from gofer.stores.queue import QueueMessage
from gofer.values.errors import TemporaryError

LEAVE = 8.0
"""Seconds before its deadline at which what is still under way is cut off, to be written down as left."""
NOW = 1.0
"""Seconds until another worker may take up what was cut off."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Working:
    """The worker as a function."""

    worker: Callable[[], Awaitable[Worker]]
    """With the workflows as they are now. Raises TemporaryError, ConfigError."""
    leave: float = LEAVE

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """Deals with a batch in so many seconds; says which messages come back. Raises BadRequest for no batch."""
        batch = read_batch(event)
        worker = await self.worker()
        queue = BatchQueue(worker.queue, {queue_message.receipt for queue_message in batch.queue_messages.values()})
        await asyncio.gather(
            *(_hide(queue, queue_message, VISIBILITY_SECONDS) for queue_message in batch.queue_messages.values())
        )
        await self._work(_over(worker, queue), list(batch.queue_messages.values()), seconds)
        await asyncio.gather(*(_hide(queue, queue_message, NOW) for queue_message in _left(batch, queue).values()))
        await self._return_malformed(batch, queue)
        return failures([*_left(batch, queue), *batch.malformed])

    async def _work(self, worker: Worker, queue_messages: Sequence[QueueMessage], seconds: float) -> None:
        deadline = Deadline(worker.services.outside.clock, seconds)
        tasks = [asyncio.create_task(worker.answer(queue_message, deadline)) for queue_message in queue_messages]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=max(0.0, seconds - self.leave))
        if late:
            # Ended first: only then what is cut off is written down as left.
            deadline.end()
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=self.leave / 2)
            _log.warning("conversations were cut off at the deadline", extra={"fields": {"count": len(late)}})

    async def _return_malformed(self, batch: Batch, queue: BatchQueue) -> None:
        for message, receipt in batch.malformed.items():
            _log.error("a message of the queue names no run", extra={"fields": {"message_id": message}})
            # Received again at once, so that it soon is a dead letter, which raises the alarm.
            await _hide(queue, QueueMessage("", receipt, 1), 0.0)


def _over(worker: Worker, queue: BatchQueue) -> Worker:
    """Return the worker over the queue of one batch."""
    stores = replace(worker.services.stores, queue=queue)
    return replace(worker, services=replace(worker.services, stores=stores))


def _left(batch: Batch, queue: BatchQueue) -> dict[str, QueueMessage]:
    return {
        message: queue_message
        for message, queue_message in batch.queue_messages.items()
        if queue_message.receipt in queue.under_way
    }


async def _hide(queue: BatchQueue, queue_message: QueueMessage, seconds: float) -> None:
    # A message that stays hidden longer than it should is late, and the sweeper enqueues another one.
    with contextlib.suppress(TemporaryError):
        await queue.extend(queue_message, seconds)
