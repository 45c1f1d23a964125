"""Queue messages of runs that could not be continued: they come back later, or become dead letters."""

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


async def replace_message(queue: Queue, queue_message: QueueMessage, seconds: float) -> None:
    """Replace a message that the run is not to blame for by a new one that is due after some seconds.

    The new message counts its receipts from one, so that no outage, refusal or deadline makes a dead letter.
    """
    try:
        await queue.enqueue(queue_message.run, seconds, line=queue_message.line)
        await queue.acknowledge(queue_message)
    except (TemporaryError, ConfigError):
        # The message comes back after its visibility time if this fails too.
        with contextlib.suppress(TemporaryError, ConfigError):
            await queue.extend(queue_message, seconds)


def plain_reason(error: Corrupt) -> str:
    """Return why a message could not be processed, without names or contents in the error."""
    if isinstance(error, OtherVersion):
        return "another version of Gofer wrote its journal; finish the run with that version"
    return "its journal is damaged"
