"""The queue on an SQS standard queue.

SQS does not compare messages: a run that is enqueued twice has two messages, and the second only costs a look at the
run. SQS delays a message by at most 900 s. A message that was received too often, or that names no run, moves to the
dead-letter queue, which has an alarm.
"""

import asyncio
import json
import logging
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, cast

from typing_extensions import override

from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage
from gofer.values.canonical_json import encode_text
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import Clock

LONGEST_DELAY = 900
"""The longest delay of a message on SQS, in seconds."""
_LONGEST_HOLD = 43_200
_MARGIN = 1.0
"""Seconds by which SQS may deliver a delayed message too early."""
_LONGEST_WAIT = 20
BATCH_SIZE = 10
"""The most messages in one ReceiveMessage request."""
_HIDDEN_SECONDS = 30
"""Seconds for which a message stays hidden while it moves to the dead letters, and a dead letter while it is read."""
_MOST_DEAD_LETTERS = 1_000
_NOT_HELD = (
    *("InvalidParameterValue", "ReceiptHandleIsInvalid", "MessageNotInflight"),
    *("AWS.SimpleQueueService.MessageNotInflight", "InvalidParameterValueException"),
)
"""The error codes of SQS for a receipt that is no longer valid."""
GROUP = "MessageGroupId"
"""The attribute that names the workflow of a machine's message. SQS serves other messages first while a group has a
large share of the messages in flight. Each message without a group counts as a group of its own."""
_LONGEST_GROUP = 128
_ATTRIBUTES = ["ApproximateReceiveCount", "SentTimestamp", GROUP]

Message = Mapping[str, Any]
"""A message in the response of ReceiveMessage."""

_log = logging.getLogger(__name__)


class SqsClient(Protocol):
    """The methods of boto3's SQS client that Gofer calls."""

    send_message: Operation
    receive_message: Operation
    change_message_visibility: Operation
    delete_message: Operation


class SqsQueue(Queue):
    """Queue messages in a standard queue, and dead letters in another one."""

    def __init__(self, aws: Aws, client: SqsClient, url: str, dead_letter_url: str, clock: Clock) -> None:
        self._aws = aws
        self._client = client
        self._url = url
        self._dead_letter_url = dead_letter_url
        self._clock = clock
        self._due: dict[str, float] = {}
        """When the delayed message of each run is due, unix seconds; only messages of this process."""

    @override
    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        seconds = min(max(0, math.ceil(delay)), LONGEST_DELAY)
        now = self._clock.now()
        # No worker can have received a message that is still delayed, so a second one would be superfluous.
        if now + _MARGIN < self._due.get(run, 0.0) <= now + seconds:
            return
        body = encode_text({"run": run})
        arguments = {"QueueUrl": self._url, "MessageBody": body, "DelaySeconds": seconds, **group_of(line)}
        await self._aws.answer(self._client.send_message, **arguments)
        if seconds:
            self._due = {waiting: due for waiting, due in self._due.items() if due > now} | {run: now + seconds}

    @override
    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        messages = await self._messages(self._url, limit, visibility, wait)
        received = [(message, _queue_message(message)) for message in messages]
        malformed = [message for message, queue_message in received if queue_message is None]
        await asyncio.gather(*map(self._reject, malformed))
        return [queue_message for _, queue_message in received if queue_message is not None]

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        await self._hide(self._url, queue_message.receipt, visibility)

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        await self._delete(self._url, queue_message.receipt)

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        # At least once: a crash between the two requests leaves the message and a dead letter of it.
        if not await self._hide(self._url, queue_message.receipt, _HIDDEN_SECONDS):
            return
        await self._send_dead_letter({"run": queue_message.run}, reason)
        await self._delete(self._url, queue_message.receipt)

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        # SQS keeps a message for 14 days at most, so older dead letters are gone.
        letters = [_dead_letter(message) for message in await self._read_dead_letters(-math.inf, ())]
        return sorted(letters, key=lambda letter: -letter.at)[:limit]

    @override
    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        await self._read_dead_letters(before, runs)

    async def _read_dead_letters(self, before: float, runs: Collection[str]) -> Sequence[Message]:
        """Return up to 1,000 dead letters; put back all but those from before `before` (unix s) and those of `runs`."""
        found: dict[str, Message] = {}
        wait = 1
        while messages := await self._messages(self._dead_letter_url, BATCH_SIZE, _HIDDEN_SECONDS, wait):
            found |= {message["MessageId"]: message for message in messages}
            if len(found) >= _MOST_DEAD_LETTERS:
                break
            wait = 0
        await asyncio.gather(*(self._put_back_or_delete(message, before, runs) for message in found.values()))
        return list(found.values())

    async def _put_back_or_delete(self, message: Message, before: float, runs: Collection[str]) -> None:
        receipt = message["ReceiptHandle"]
        letter = _dead_letter(message)
        if letter.at < before or letter.run in runs:
            await self._delete(self._dead_letter_url, receipt)
            return
        await self._hide(self._dead_letter_url, receipt, 0)

    async def _hide(self, url: str, receipt: str, seconds: float) -> bool:
        """Hide a message for `seconds` from now; return False when its receipt is no longer valid."""
        timeout = min(max(0, math.ceil(seconds)), _LONGEST_HOLD)
        arguments = {"QueueUrl": url, "ReceiptHandle": receipt, "VisibilityTimeout": timeout}
        response = await self._aws.ask(self._client.change_message_visibility, refusals=_NOT_HELD, **arguments)
        return not isinstance(response, Refusal)

    async def _reject(self, message: Message) -> None:
        """Move a message that names no run to the dead letters: no worker can process it. Raises nothing."""
        try:
            await self._send_dead_letter({"message": str(message["Body"])[:1_000]}, "it names no run")
            await self._delete(self._url, message["ReceiptHandle"])
        except (TemporaryError, ConfigError) as error:
            # The message comes back. The others that were received with it must not wait for that.
            _log.error("a message of the queue names no run, and is not a dead letter yet: %s", error)
            return
        _log.error("a message of the queue names no run; it is a dead letter now")

    async def _send_dead_letter(self, content: Mapping[str, str], reason: str) -> None:
        body = encode_text({**content, "at": self._clock.now(), "reason": reason})
        await self._aws.answer(self._client.send_message, QueueUrl=self._dead_letter_url, MessageBody=body)

    async def _messages(self, url: str, limit: int, visibility: float, wait: float) -> Sequence[Message]:
        response = await self._aws.answer(
            self._client.receive_message,
            QueueUrl=url,
            MaxNumberOfMessages=min(limit, BATCH_SIZE),
            VisibilityTimeout=min(math.ceil(visibility), _LONGEST_HOLD),
            WaitTimeSeconds=min(math.ceil(wait), _LONGEST_WAIT),
            MessageSystemAttributeNames=_ATTRIBUTES,
        )
        return response.get("Messages", [])

    async def _delete(self, url: str, receipt: str) -> None:
        await self._aws.ask(self._client.delete_message, refusals=_NOT_HELD, QueueUrl=url, ReceiptHandle=receipt)


def group_of(line: QueueLine) -> Mapping[str, str]:
    """Return the argument that puts a message into the group of a machine's workflow; none for a person's message."""
    if line.people:
        return {}
    return {GROUP: line.workflow[:_LONGEST_GROUP]}


def line_in(attributes: Mapping[str, object]) -> QueueLine:
    """Return the line of a message with these attributes."""
    workflow = attributes.get(GROUP)
    if isinstance(workflow, str) and workflow:
        return QueueLine(people=False, workflow=workflow)
    return UNKNOWN


def run_of(body: str) -> str | None:
    """Return the id of the run in the body of a message, or None if there is none."""
    run = _object(body).get("run")
    return run if isinstance(run, str) and run else None


def _queue_message(message: Message) -> QueueMessage | None:
    run = run_of(message["Body"])
    if run is None:
        return None
    return QueueMessage(run, message["ReceiptHandle"], _receives(message), line_in(message.get("Attributes", {})))


def _receives(message: Message) -> int:
    return int(message.get("Attributes", {}).get("ApproximateReceiveCount", 1))


def _dead_letter(message: Message) -> DeadLetter:
    """Parse a dead letter that Gofer sent, or a message that SQS itself moved after too many receipts."""
    content = _object(message["Body"])
    at = content.get("at")
    reason = content.get("reason")
    sent = int(message.get("Attributes", {}).get("SentTimestamp", 0)) / 1000
    if not isinstance(reason, str):
        reason = "it was received too often without an answer"
    if isinstance(at, int | float):
        sent = float(at)
    return DeadLetter(run_of(message["Body"]) or "", sent, reason)


def _object(body: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}
