"""The slots of a worker: the conversations that it works on at the same time, each for one queue message.

A worker of one process fills its free slots until it stops. A worker on Lambda fills them while its time lasts and a
conversation is in flight. Both receive one request at a time and wait for its result, because a message that arrives
after its request was abandoned stays hidden from every worker for its whole visibility time.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gofer.engine.owned_run import Deadline
from gofer.stores.queue import Queue, QueueMessage
from gofer.values.errors import ConfigError, Corrupt, TemporaryError, fault

VISIBILITY_SECONDS = 120.0
"""Seconds for which a received message stays hidden from other workers, unless its worker renews the time."""

PEOPLE_SECONDS = 0.25
"""Seconds between two looks for messages of people while machines have all their slots."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Slots:
    """The conversations of one worker, and the queue that fills its free slots."""

    answer: Callable[[QueueMessage, Deadline], Coroutine[Any, Any, None]]
    """Processes one queue message. Raises nothing."""
    queue: Queue
    deadline: Deadline
    concurrency: int
    """The most conversations at once."""
    pause: float
    """Seconds until the next request to a queue that failed."""
    busy: dict[asyncio.Task[None], QueueMessage] = field(default_factory=dict[asyncio.Task[None], QueueMessage])
    """The conversations in flight, with their messages."""

    @property
    def free(self) -> int:
        """The number of further conversations that fit."""
        return self.concurrency - len(self.busy)

    @property
    def free_for_machines(self) -> int:
        """The number of further conversations that machines may have: a quarter of the slots is for people only."""
        taken = sum(not queue_message.line.people for queue_message in self.busy.values())
        return min(self.free, self.concurrency - self.concurrency // 4 - taken)

    def start(self, queue_messages: Iterable[QueueMessage]) -> None:
        """Begin to process messages, each in its own slot."""
        for queue_message in queue_messages:
            self.busy[asyncio.create_task(self.answer(queue_message, self.deadline))] = queue_message

    async def fill(self, wait: float) -> None:
        """Receive for up to `wait` seconds. While machines have all their slots, receive for people only."""
        if self.free_for_machines > 0:
            await self.receive(wait)
        elif self.free > 0:
            await self.wait_for_one(PEOPLE_SECONDS)
            await self.receive(0.0)
        else:
            await self.wait_for_one()

    async def receive(self, wait: float) -> None:
        """Fill the free slots with messages that are due or arrive within `wait` seconds.

        Raises ConfigError, and an unexpected error only while no conversation is in flight that it would cut off.
        """
        try:
            machines = self.free_for_machines
            self.start(await self.queue.receive(self.free, VISIBILITY_SECONDS, wait, machines=machines))
        except (TemporaryError, Corrupt) as error:
            _log.warning("the queue did not answer: %s", error)
            await asyncio.sleep(self.pause)
        except Exception as error:
            if isinstance(error, ConfigError) or not self.busy:
                raise
            _log.error("the worker could not receive from its queue (%s), and tries again", fault(error))
            await asyncio.sleep(self.pause)
        self._clear()

    async def wait_for_one(self, seconds: float | None = None) -> None:
        """Wait until a conversation in flight ends, for at most `seconds`."""
        await asyncio.wait(self.busy, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self._clear()

    async def wait_for_all(self, seconds: float) -> None:
        """Wait until all conversations in flight end, for at most `seconds`."""
        if self.busy:
            await asyncio.wait(self.busy, timeout=seconds)
        self._clear()

    async def cut_off(self, seconds: float | None = None) -> Sequence[QueueMessage]:
        """Cancel the conversations in flight and wait at most `seconds` for their ends; return their messages."""
        late = dict(self.busy)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=seconds)
        return list(late.values())

    def _clear(self) -> None:
        """Free the slots of conversations that ended."""
        for task in [task for task in self.busy if task.done()]:
            del self.busy[task]
