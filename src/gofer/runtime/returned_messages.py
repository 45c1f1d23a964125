"""The return of a queue message whose run could not be continued: it comes back later, or becomes a dead letter."""

import contextlib

from gofer.runtime.slots import VISIBILITY_SECONDS
from gofer.stores.queue import Queue, QueueMessage
from gofer.values.errors import ConfigError, Corrupt, OtherVersion, TemporaryError


async def retry_later(queue: Queue, queue_message: QueueMessage, most: int, reason: str) -> None:
    """Let a message come back after a growing delay, or move it to the dead letters after too many receipts."""
    # If the queue cannot be written, the message comes back after its visibility time.
    with contextlib.suppress(TemporaryError, ConfigError):
        if queue_message.receives >= most:
            await queue.move_to_dead_letters(queue_message, reason)
        else:
            await queue.extend(queue_message, min(VISIBILITY_SECONDS, 2.0**queue_message.receives))


def plain_reason(error: TemporaryError | Corrupt) -> str:
    """Return why a message could not be processed, without names or contents in the error."""
    match error:
        case OtherVersion():
            return "another version of Gofer wrote its journal; finish the run with that version"
        case Corrupt():
            return "its journal is damaged"
        case TemporaryError():
            return "the store or the queue did not answer"
