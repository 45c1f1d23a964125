"""The offers on an SQS standard queue of their own, which keeps a message for a minute."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from gofer.stores.aws.calls import Aws
from gofer.stores.aws.queue import BATCH_SIZE, SqsClient, group_of, line_in
from gofer.stores.offers import Offers
from gofer.stores.queue import QueueMessage
from gofer.values.canonical_json import as_object, as_text, decode, encode_text
from gofer.values.errors import BadRequest, ConfigError, TemporaryError

RETENTION = 60
"""Seconds for which SQS keeps an offer, its shortest time. A taken offer stays hidden for as long."""

_log = logging.getLogger(__name__)


class SqsOffers(Offers):
    """Offers in a standard queue. Each is deleted when it is taken."""

    def __init__(self, aws: Aws, client: SqsClient, url: str) -> None:
        self._aws = aws
        self._client = client
        self._url = url

    @override
    async def offer(self, queue_message: QueueMessage) -> None:
        content = {
            "run": queue_message.run,
            "receipt": queue_message.receipt,
            "receives": queue_message.receives,
            **group_of(queue_message.line),
        }
        body = encode_text(content)
        await self._aws.answer(self._client.send_message, QueueUrl=self._url, MessageBody=body)

    @override
    async def take(self, limit: int, wait: float) -> Sequence[QueueMessage]:
        response = await self._aws.answer(
            self._client.receive_message,
            QueueUrl=self._url,
            MaxNumberOfMessages=min(limit, BATCH_SIZE),
            VisibilityTimeout=RETENTION,
            WaitTimeSeconds=int(wait),
        )
        messages: Sequence[Mapping[str, Any]] = response.get("Messages", [])
        await asyncio.gather(*map(self._delete, messages))
        offered = [_offered(message["Body"]) for message in messages]
        return [queue_message for queue_message in offered if queue_message is not None]

    async def _delete(self, message: Mapping[str, Any]) -> None:
        """Delete a taken offer. If that fails, it stays hidden until SQS deletes it."""
        receipt = message["ReceiptHandle"]
        try:
            await self._aws.answer(self._client.delete_message, QueueUrl=self._url, ReceiptHandle=receipt)
        except (TemporaryError, ConfigError) as error:
            _log.warning("a taken offer was not deleted: %s", error)


def _offered(body: str) -> QueueMessage | None:
    """Return the message in an offer, or None if there is none: the queue still has the message itself."""
    content: Mapping[str, object] = {}
    with contextlib.suppress(BadRequest):
        content = as_object(decode(body.encode()))
    run = as_text(content.get("run"))
    receipt = as_text(content.get("receipt"))
    receives = content.get("receives")
    if not (run and receipt and isinstance(receives, int)):
        _log.error("an offer names no message of the queue, and is ignored")
        return None
    return QueueMessage(run, receipt, receives, line_in(content))
