"""The batch of queue messages in one event of the worker function, and the answer to it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gofer.stores.aws.queue import line_in
from gofer.stores.queue import QueueMessage
from gofer.values.canonical_json import as_list, as_object, as_text, decode
from gofer.values.errors import BadRequest

_RUN = re.compile(r"[0-9a-f]{24}")
_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages in one event of the queue."""

    queue_messages: Mapping[str, QueueMessage]
    """The queue messages, by the id that SQS gave them."""
    malformed: Mapping[str, str]
    """The receipts of messages that name no run, by id. These become dead letters, which the operator looks at."""

    def ids(self, receipts: Collection[str]) -> Sequence[str]:
        """Return the ids of the queue messages with these receipts."""
        return [message for message, one in self.queue_messages.items() if one.receipt in receipts]


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
    attributes = as_object(record.get("attributes"))
    receives = as_text(attributes.get("ApproximateReceiveCount"))
    if not _RUN.fullmatch(run) or not receipt:
        return None
    count = 1
    if _DIGITS.fullmatch(receives):
        count = int(receives)
    return QueueMessage(run, receipt, count, line_in(attributes))
