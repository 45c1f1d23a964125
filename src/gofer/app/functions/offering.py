"""How a worker that Lambda just began passes its messages to workers with free slots."""

import asyncio
import logging
from collections.abc import Sequence

from gofer.stores.offers import Offers
from gofer.stores.queue import QueueMessage
from gofer.values.errors import ConfigError, TemporaryError

HEAD_START = 0.25
"""Seconds before the new worker looks for its own offers. Workers with free slots wait for offers already."""
PAUSE = 0.1
"""Seconds in which others can take an offer that the new worker took by mistake and offered again."""
AT_ONCE = 10
"""Offers for which a request asks, however few are missing, because in a burst most are of other new workers."""
LAST_LOOK = 1
"""Seconds for which the new worker waits for its own offers. A request that waits asks all servers of SQS."""

_log = logging.getLogger(__name__)


async def offer_to_others(offers: Offers, queue_messages: Sequence[QueueMessage]) -> Sequence[QueueMessage]:
    """Offer messages to other workers; return those that the caller processes itself. Raises nothing."""
    sent = await _offer(offers, queue_messages)
    unsent = [queue_message for queue_message in queue_messages if queue_message not in sent]
    return [*unsent, *await _untaken(offers, sent)]


async def _offer(offers: Offers, queue_messages: Sequence[QueueMessage]) -> Sequence[QueueMessage]:
    """Offer messages; return those that were offered, and log the others."""
    outcomes = await asyncio.gather(*map(offers.offer, queue_messages), return_exceptions=True)
    sent: list[QueueMessage] = []
    for queue_message, outcome in zip(queue_messages, outcomes, strict=True):
        match outcome:
            case None:
                sent.append(queue_message)
            case TemporaryError() | ConfigError():
                _log.warning("a message could not be offered to other workers: %s", outcome)
            case _:
                raise outcome
    return sent


async def _untaken(offers: Offers, sent: Sequence[QueueMessage]) -> Sequence[QueueMessage]:
    """Return the offered messages that are still there after the head start of other workers."""
    if not sent:
        return ()
    await asyncio.sleep(HEAD_START)
    try:
        back = await _take_back(offers, {queue_message.receipt for queue_message in sent})
    except (TemporaryError, ConfigError) as error:
        _log.warning("offers did not answer, so this worker processes messages that another may have taken: %s", error)
        return sent
    if left := len(sent) - len(back):
        _log.info("messages were left to other workers", extra={"fields": {"count": left}})
    return back


async def _take_back(offers: Offers, missing: set[str]) -> Sequence[QueueMessage]:
    """Take the offers with these receipts that are left. Raises TemporaryError, ConfigError."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + LAST_LOOK
    back: list[QueueMessage] = []
    while missing and (taken := await _take(offers)):
        own = [queue_message for queue_message in taken if queue_message.receipt in missing]
        back += own
        missing -= {queue_message.receipt for queue_message in own}
        # Workers with free slots have the first claim to the offers of other new workers. If an offer fails, its
        # message comes back to the queue.
        await _offer(offers, [one for one in taken if one not in own])
        if own:
            continue
        if loop.time() > ends_at:
            break
        await asyncio.sleep(PAUSE)
    return back


async def _take(offers: Offers) -> Sequence[QueueMessage]:
    """Take offers, and ask once more if there is no answer, because two workers might process a message otherwise."""
    try:
        return await offers.take(AT_ONCE, LAST_LOOK)
    except TemporaryError:
        return await offers.take(AT_ONCE, LAST_LOOK)
