"""The worker function: continues the conversations of one batch, and receives further ones into its free slots.

A run that needs longer than the invocation is handed over with a new queue message, so a run of hours takes many
invocations. Lambda deletes the messages of its batch that are not reported as failed, but only after the invocation.
Until then SQS could deliver an acknowledged message again. So the worker deletes each message when it is acknowledged,
except a last one of the batch, which Lambda deletes. Lambda knows nothing of the messages that the worker receives
itself: the worker deletes them, or makes them visible again.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from gofer.engine.owned_run import Deadline
from gofer.runtime.slots import VISIBILITY_SECONDS, Slots
from gofer.runtime.worker import Worker
from gofer.stores.queue import DeadLetter, Queue, QueueMessage
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest, ConfigError, TemporaryError

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
    """The queue of one invocation, which knows the messages that Lambda deletes at its end."""

    queue: Queue
    batch: frozenset[str]
    """The receipts of the messages that Lambda passed."""
    unanswered: set[str] = field(default_factory=set[str])
    """The receipts of messages that are not acknowledged yet."""
    deferred: QueueMessage | None = None
    """The acknowledged message of the batch that is left to Lambda, because nothing else was in flight."""

    def __post_init__(self) -> None:
        self.unanswered |= self.batch

    @override
    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        await self.queue.enqueue(run, delay)

    @override
    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        received = await self.queue.receive(limit, visibility, wait)
        self.unanswered.update(queue_message.receipt for queue_message in received)
        if received and self.deferred is not None:
            # The invocation goes on, so Lambda would delete the message too late.
            await _quietly(self.queue.acknowledge(self.deferred))
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
    async def purge_dead_letters(self, before: float) -> None:
        await self.queue.purge_dead_letters(before)


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
    leave: float = LEAVE

    async def answer(self, event: object, seconds: float) -> dict[str, object]:
        """Work for at most `seconds` on a batch and on what arrives meanwhile; return what goes back to the queue.

        Raises BadRequest for an event that is not from SQS, and the errors of `worker`. After these, every message
        comes back in half a minute.
        """
        ends_at = asyncio.get_running_loop().time() + seconds
        batch = read_batch(event)
        messages = list(batch.queue_messages.values())
        # Before anything that can fail or hang, because Lambda received them for an hour and a half.
        await self._hide(messages, VISIBILITY_SECONDS)
        try:
            worker = await self.worker()
        except Exception:
            await asyncio.gather(*map(self._park, messages))
            await self._return_malformed(batch)
            raise
        queue = BatchQueue(self.queue, frozenset(queue_message.receipt for queue_message in messages))
        late = await self._work(_over(worker, queue), messages, ends_at)
        await self._hide([one for one in late if one.receipt in queue.unanswered], NOW)
        await self._return_malformed(batch)
        return failures([*_left(batch, queue), *batch.malformed])

    async def _work(
        self, worker: Worker, queue_messages: Sequence[QueueMessage], ends_at: float
    ) -> Sequence[QueueMessage]:
        """Continue conversations until none is left or the time is over; return the messages of cancelled ones."""
        loop = asyncio.get_running_loop()
        leaves_at = ends_at - self.leave
        slots = worker.slots(Deadline(worker.services.outside.clock, ends_at - loop.time()))
        slots.start(queue_messages)
        await slots.wait_for_all(max(0.0, min(LOOK, leaves_at - loop.time())))
        receives = True
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

    async def _hide(self, queue_messages: Sequence[QueueMessage], seconds: float) -> None:
        # If this fails, a message stays hidden too long. Then the sweeper enqueues another message for the run.
        await asyncio.gather(*(_quietly(self.queue.extend(one, seconds)) for one in queue_messages))

    async def _park(self, queue_message: QueueMessage) -> None:
        """Replace a message by a new one that is due later.

        Each new message starts counting its receives from one, so an outage of the settings makes no dead letters.
        """
        try:
            await self.queue.enqueue(queue_message.run, PARKED)
            await self.queue.acknowledge(queue_message)
        except (TemporaryError, ConfigError):
            await self._hide([queue_message], PARKED)

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


def _left(batch: Batch, queue: BatchQueue) -> Sequence[str]:
    """Return the ids of the messages of a batch that are not acknowledged."""
    return [message for message, one in batch.queue_messages.items() if one.receipt in queue.unanswered]


async def _quietly(request: Awaitable[None]) -> None:
    """Make a request to the queue. If it fails, a message only comes back later, or once more."""
    with contextlib.suppress(TemporaryError, ConfigError):
        await request
