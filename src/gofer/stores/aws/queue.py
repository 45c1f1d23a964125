"""A queue on SQS standard.

SQS does not compare messages, so a run that is enqueued twice has two messages, which costs a second look and nothing
else. SQS holds no message back for longer than 900 s. A message that was received too often, or that names no run, goes
to the dead-letter queue, where an alarm sees it.
"""

import asyncio
import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from typing_extensions import override

from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.stores.queue import DeadLetter, Queue, QueueMessage
from gofer.values.canonical_json import encode_text
from gofer.values.outside import Clock

LONGEST_DELAY = 900
"""Seconds that SQS holds a message back at most."""
_LONGEST_HOLD = 43_200
_MARGIN = 1.0
"""Seconds before it is due in which a message that was held back may be received already."""
_LONGEST_WAIT = 20
_AT_ONCE = 10
"""Messages that one request takes."""
_LEAF = 30
"""Seconds for which a message that is put away, or a dead letter that is read, is out of sight."""
_MOST_LETTERS = 1_000
_NOT_HELD = (
    *("InvalidParameterValue", "ReceiptHandleIsInvalid", "MessageNotInflight"),
    *("AWS.SimpleQueueService.MessageNotInflight", "InvalidParameterValueException"),
)
"""What SQS says when a message is not the caller's any more."""
_ATTRIBUTES = ["ApproximateReceiveCount", "SentTimestamp"]

Message = Mapping[str, Any]
"""As ReceiveMessage gives it."""

_log = logging.getLogger(__name__)


class SqsClient(Protocol):
    """What is used of boto3's client."""

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
        self._dead = dead_letter_url
        self._clock = clock
        self._due: dict[str, float] = {}
        """When a message that this process had held back is due, unix seconds, by its run."""

    @override
    async def enqueue(self, run: str, delay: float = 0.0) -> None:
        """A delay of more than 900 s is one of 900 s, and two calls are mostly two messages."""
        held_back = min(max(0, math.ceil(delay)), LONGEST_DELAY)
        now = self._clock.now()
        # No worker can have received what is still held back, so this one would be one too many.
        if now + _MARGIN < self._due.get(run, 0.0) <= now + held_back:
            return
        body = encode_text({"run": run})
        await self._aws.answer(self._client.send_message, QueueUrl=self._url, MessageBody=body, DelaySeconds=held_back)
        if held_back:
            self._due = {waiting: due for waiting, due in self._due.items() if due > now} | {run: now + held_back}

    @override
    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[QueueMessage]:
        """Up to ten at a time."""
        messages = await self._messages(self._url, limit, visibility, wait)
        heard = [(message, _bell(message)) for message in messages]
        await asyncio.gather(*(self._refuse(message) for message, queue_message in heard if queue_message is None))
        return [queue_message for _, queue_message in heard if queue_message is not None]

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        await self._hide(self._url, queue_message.receipt, visibility)

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        await self._delete(self._url, queue_message.receipt)

    @override
    async def bury(self, queue_message: QueueMessage, why: str) -> None:
        """It may be buried twice when this is lost in between, and never not at all."""
        if not await self._hide(self._url, queue_message.receipt, _LEAF):
            return
        await self._bury({"run": queue_message.run}, why)
        await self._delete(self._url, queue_message.receipt)

    @override
    async def buried(self, limit: int) -> Sequence[DeadLetter]:
        """Those of the last 14 days, as long as SQS keeps them, and a thousand of them at most."""
        letters = [_letter(message) for message in await self._leaf(before=-math.inf)]
        return sorted(letters, key=lambda letter: -letter.at)[:limit]

    @override
    async def forget_dead(self, before: float) -> None:
        await self._leaf(before)

    async def _leaf(self, before: float) -> Sequence[Message]:
        """Looks at all dead letters and puts them back, but for those from before `before` (unix seconds)."""
        found: dict[str, Message] = {}
        while messages := await self._messages(self._dead, _AT_ONCE, _LEAF, 1 if not found else 0):
            found |= {message["MessageId"]: message for message in messages}
            if len(found) >= _MOST_LETTERS:
                break
        await asyncio.gather(*(self._put_back(message, before) for message in found.values()))
        return list(found.values())

    async def _put_back(self, message: Message, before: float) -> None:
        receipt = message["ReceiptHandle"]
        if _letter(message).at < before:
            await self._delete(self._dead, receipt)
            return
        await self._hide(self._dead, receipt, 0)

    async def _hide(self, url: str, receipt: str, seconds: float) -> bool:
        """Hides a message from now on for so long; False when it is not the caller's any more."""
        timeout = min(max(0, math.ceil(seconds)), _LONGEST_HOLD)
        place = {"QueueUrl": url, "ReceiptHandle": receipt, "VisibilityTimeout": timeout}
        found = await self._aws.ask(self._client.change_message_visibility, refusals=_NOT_HELD, **place)
        return not isinstance(found, Refusal)

    async def _refuse(self, message: Message) -> None:
        """Puts away a message that names no run: no worker can answer it, and it must not be lost either."""
        _log.error("a message of the queue names no run; it is a dead letter now")
        await self._bury({"message": str(message["Body"])[:1_000]}, "it names no run")
        await self._delete(self._url, message["ReceiptHandle"])

    async def _bury(self, said: Mapping[str, str], why: str) -> None:
        body = encode_text({**said, "at": self._clock.now(), "reason": why})
        await self._aws.answer(self._client.send_message, QueueUrl=self._dead, MessageBody=body)

    async def _messages(self, url: str, limit: int, visibility: float, wait: float) -> Sequence[Message]:
        found = await self._aws.answer(
            self._client.receive_message,
            QueueUrl=url,
            MaxNumberOfMessages=min(limit, _AT_ONCE),
            VisibilityTimeout=min(math.ceil(visibility), _LONGEST_HOLD),
            WaitTimeSeconds=min(math.ceil(wait), _LONGEST_WAIT),
            MessageSystemAttributeNames=_ATTRIBUTES,
        )
        return found.get("Messages", [])

    async def _delete(self, url: str, receipt: str) -> None:
        await self._aws.ask(self._client.delete_message, refusals=_NOT_HELD, QueueUrl=url, ReceiptHandle=receipt)


def run_of(body: str) -> str | None:
    """The run that a message names; None when it names none."""
    run = _object(body).get("run")
    return run if isinstance(run, str) and run else None


def _bell(message: Message) -> QueueMessage | None:
    run = run_of(message["Body"])
    return QueueMessage(run, message["ReceiptHandle"], _receives(message)) if run else None


def _receives(message: Message) -> int:
    return int(message.get("Attributes", {}).get("ApproximateReceiveCount", 1))


def _letter(message: Message) -> DeadLetter:
    """A dead letter of ours, or a message that SQS buried by itself."""
    said = _object(message["Body"])
    at = said.get("at")
    why = said.get("reason")
    sent = int(message.get("Attributes", {}).get("SentTimestamp", 0)) / 1000
    if not isinstance(why, str):
        why = "it was received too often without an answer"
    if isinstance(at, int | float):
        sent = float(at)
    return DeadLetter(run_of(message["Body"]) or "", sent, why)


def _object(body: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}
