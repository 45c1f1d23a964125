"""The worker function: continues all conversations of one batch at the same time, until its deadline.

A run that needs longer is handed over with a new queue message, so a run of hours takes many invocations. Lambda
deletes the messages that are not reported as failed, but only after the whole batch. Until then SQS could deliver an
acknowledged message again. So the worker deletes each message when it is acknowledged, except the last one, which
Lambda deletes.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from gofer.engine.owned_run import Deadline
from gofer.runtime.worker import VISIBILITY_SECONDS, Worker
from gofer.stores.queue import DeadLetter, Queue, QueueMessage
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest, TemporaryError

_RUN = re.compile(r"[0-9a-f]{24}")
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages in one event of the queue."""

    queue_messages: Mapping[str, QueueMessage]
    """The queue messages, by the id that SQS gave them."""
    malformed: Mapping[str, str]
    """The receipts of messages that name no run, by id. These become dead letters, which the operator looks at."""


def read_batch(event: object) -> Batch:
    """Return the messages in an event. Raises BadRequest for an event that is not from SQS."""
    records = as_object(event).get("Records")
    if not isinstance(records, list):
        raise BadRequest(400, "This event is not from SQS.")
    queue_messages: dict[str, QueueMessage] = {}
    malformed: dict[str, str] = {}
    for record in map(as_object, as_list(as_object(event).get("Records"))):
        message = as_text(record.get("messageId"))
        queue_message = _queue_message(record)
        if queue_message is None:
            malformed[message] = as_text(record.get("receiptHandle"))
        else:
            queue_messages[message] = queue_message
    if "" in queue_messages or "" in malformed:
        raise BadRequest(400, "A record has no messageId.")
    return Batch(queue_messages, malformed)


def failures(messages: Sequence[str]) -> dict[str, object]:
    """Return the answer that makes Lambda return these messages to the queue."""
    return {"batchItemFailures": [{"itemIdentifier": message} for message in messages]}


def _queue_message(record: Mapping[str, object]) -> QueueMessage | None:
    try:
        run = as_text(as_object(decode(as_text(record.get("body")).encode())).get("run"))
    except BadRequest:
        return None
    receipt = as_text(record.get("receiptHandle"))
    receives = as_text(as_object(record.get("attributes")).get("ApproximateReceiveCount"))
    if not _RUN.fullmatch(run) or not receipt:
        return None
    if not _DIGITS.fullmatch(receives):
        return QueueMessage(run, receipt, 1)
    return QueueMessage(run, receipt, int(receives))


@dataclass(slots=True)
class BatchQueue(Queue):
    """The queue of a worker that answers one batch. It receives no further messages."""

    queue: Queue
    unanswered: set[str] = field(default_factory=set[str])
    """The receipts of messages that are not acknowledged yet."""

    @override
    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        await self.queue.enqueue(run, delay)

    @override
    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        return ()

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        await self.queue.extend(queue_message, visibility)

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        if self.unanswered - {queue_message.receipt}:
            await self.queue.acknowledge(queue_message)
        self.unanswered.discard(queue_message.receipt)

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        await self.queue.move_to_dead_letters(queue_message, reason)
        self.unanswered.discard(queue_message.receipt)

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return await self.queue.dead_letters(limit)

    @override
    async def purge_dead_letters(self, before: float) -> None:
        await self.queue.purge_dead_letters(before)


LEAVE = 8.0
"""Seconds before the deadline at which unfinished work is cancelled, so that the hand-over can still be recorded."""
NOW = 1.0
"""Seconds until another worker may receive the message of a cancelled conversation."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Working:
    """The worker function."""

    worker: Callable[[], Awaitable[Worker]]
    """Returns the worker for the present settings. Raises TemporaryError, ConfigError."""
    leave: float = LEAVE

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """Work on a batch for `seconds`, and return the messages that go back to the queue.

        Raises BadRequest for an event that is not from SQS.
        """
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
            # The deadline ends before the cancellation, so that cancelled work is recorded as handed over.
            deadline.end()
            for task in late:
                task.cancel()
            await asyncio.wait(late, timeout=self.leave / 2)
            _log.warning("conversations were cut off at the deadline", extra={"fields": {"count": len(late)}})

    async def _return_malformed(self, batch: Batch, queue: BatchQueue) -> None:
        for message, receipt in batch.malformed.items():
            _log.error("a message of the queue names no run", extra={"fields": {"message_id": message}})
            # The message is received again at once, so it soon becomes a dead letter, which raises the alarm.
            await _hide(queue, QueueMessage("", receipt, 1), 0.0)


def _over(worker: Worker, queue: BatchQueue) -> Worker:
    """Return the worker with the queue of one batch."""
    stores = replace(worker.services.stores, queue=queue)
    return replace(worker, services=replace(worker.services, stores=stores))


def _left(batch: Batch, queue: BatchQueue) -> dict[str, QueueMessage]:
    return {
        message: queue_message
        for message, queue_message in batch.queue_messages.items()
        if queue_message.receipt in queue.unanswered
    }


async def _hide(queue: BatchQueue, queue_message: QueueMessage, seconds: float) -> None:
    # If this fails, the message stays hidden too long. Then the sweeper enqueues another message for the run.
    with contextlib.suppress(TemporaryError):
        await queue.extend(queue_message, seconds)
