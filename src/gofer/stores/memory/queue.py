"""The queue in the memory of one process."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage, Turns, wait_for_message
from gofer.values.outside import Clock


@dataclass(slots=True)
class _Queued:
    run: str
    visible_at: float
    line: QueueLine
    receives: int = 0

    def held(self, now: float) -> bool:
        return self.receives > 0 and self.visible_at > now


class MemoryQueue(Queue):
    """A queue in a dictionary, for one asyncio loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queued: dict[str, _Queued] = {}
        self._count = 0
        self._dead: list[DeadLetter] = []
        self._arrived = asyncio.Event()
        self._turns = Turns()

    @override
    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        now = self._clock.now()
        waiting = (queued for queued in self._queued.values() if queued.run == run and not queued.held(now))
        if not any(queued.visible_at <= now + delay and queued.line.people >= line.people for queued in waiting):
            self._count += 1
            self._queued[str(self._count)] = _Queued(run, now + delay, line)
        self._arrived.set()

    @override
    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        queue_messages = self._take(limit, visibility, machines)
        if queue_messages or wait <= 0:
            return queue_messages
        await wait_for_message(self._arrived, wait)
        return self._take(limit, visibility, machines)

    @override
    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        if queued := self._held(queue_message):
            queued.visible_at = self._clock.now() + visibility

    @override
    async def acknowledge(self, queue_message: QueueMessage) -> None:
        if self._held(queue_message):
            del self._queued[queue_message.receipt]

    @override
    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        if self._held(queue_message):
            del self._queued[queue_message.receipt]
            self._dead.append(DeadLetter(queue_message.run, self._clock.now(), reason))

    @override
    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return list(reversed(self._dead))[:limit]

    @override
    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        self._dead = [letter for letter in self._dead if letter.at >= before and letter.run not in runs]

    def _held(self, queue_message: QueueMessage) -> _Queued | None:
        """Return the stored message if the caller still holds this delivery of it."""
        queued = self._queued.get(queue_message.receipt)
        if queued is None or queued.receives != queue_message.receives or not queued.held(self._clock.now()):
            return None
        return queued

    def _take(self, limit: int, visibility: float, machines: int | None) -> list[QueueMessage]:
        self._arrived.clear()
        now = self._clock.now()
        due: dict[QueueLine, list[str]] = {}
        for receipt, queued in self._queued.items():
            if queued.visible_at <= now:
                due.setdefault(queued.line, []).append(receipt)
        taken: list[QueueMessage] = []
        for receipt in self._turns.take(due, limit, machines):
            queued = self._queued[receipt]
            queued.visible_at = now + visibility
            queued.receives += 1
            taken.append(QueueMessage(queued.run, receipt, queued.receives, queued.line))
        return taken
