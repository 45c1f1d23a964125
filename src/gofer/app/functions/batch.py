"""The queue messages of one batch of SQS, and those of them that have to come back.

Lambda deletes those that are not named as failed, but only when the whole batch is done; until then an answered message
would be received again. So each is deleted when it is answered, except the last, which Lambda deletes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.stores.queue import DeadLetter, Queue, QueueMessage
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest

_RUN = re.compile(r"[0-9a-f]{24}")
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one event of the queue holds."""

    queue_messages: Mapping[str, QueueMessage]
    """By the id of their message."""
    malformed: Mapping[str, str]
    """Receipts of messages that are no doorbells, by id: they come back until they are dead letters, for people."""


def read_batch(event: object) -> Batch:
    """The doorbells in an event. Raises BadRequest when it is no event of SQS: then nothing can be named as failed."""
    records = as_object(event).get("Records")
    if not isinstance(records, list):
        raise BadRequest(400, "This is no event of SQS.")
    queue_messages: dict[str, QueueMessage] = {}
    malformed: dict[str, str] = {}
    for record in map(as_object, as_list(as_object(event).get("Records"))):
        message, queue_message = as_text(record.get("messageId")), _queue_message(record)
        if queue_message is None:
            malformed[message] = as_text(record.get("receiptHandle"))
        else:
            queue_messages[message] = queue_message
    if "" in queue_messages or "" in malformed:
        raise BadRequest(400, "A record has no messageId.")
    return Batch(queue_messages, malformed)


def failures(messages: Sequence[str]) -> dict[str, object]:
    """What Lambda is told: these messages come back."""
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
    return QueueMessage(run, receipt, int(receives) if _DIGITS.fullmatch(receives) else 1)


@dataclass(slots=True)
class BatchQueue:
    """The queue as the worker of one batch sees it."""

    queue: Queue
    under_way: set[str] = field(default_factory=set[str])
    """Receipts of messages that were not answered yet."""

    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        """See Queue.enqueue."""
        await self.queue.enqueue(run, delay)

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """See Queue.receive. Lambda receives the messages: there are none but those of the batch."""
        return ()

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        """See Queue.extend."""
        await self.queue.extend(queue_message, visibility)

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        """See Queue.acknowledge."""
        if self.under_way - {queue_message.receipt}:
            await self.queue.acknowledge(queue_message)
        self.under_way.discard(queue_message.receipt)

    async def bury(self, queue_message: QueueMessage, why: str) -> None:
        """See Queue.bury."""
        await self.queue.bury(queue_message, why)
        self.under_way.discard(queue_message.receipt)

    async def buried(self, limit: int) -> Sequence[DeadLetter]:
        """See Queue.buried."""
        return await self.queue.buried(limit)

    async def forget_dead(self, before: float) -> None:
        """See Queue.forget_dead."""
        await self.queue.forget_dead(before)
