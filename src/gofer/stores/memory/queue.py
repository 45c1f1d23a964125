"""How does a queue work when nothing has to outlive the process? For tests and simulations."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.stores.queue import DeadLetter, Doorbell
from gofer.values.outside import Clock


@dataclass(slots=True)
class _Ring:
    run: str
    visible_at: float
    receives: int = 0

    def held(self, now: float) -> bool:
        return self.receives > 0 and self.visible_at > now


class MemoryQueue:
    """Doorbells in a dictionary; one asyncio loop only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rings: dict[str, _Ring] = {}
        self._count = 0
        self._dead: list[DeadLetter] = []
        self._rung = asyncio.Event()

    async def ring(self, run: str, delay: float = 0.0) -> None:
        """See Queue.ring."""
        now = self._clock.now()
        waiting = (ring for ring in self._rings.values() if ring.run == run and not ring.held(now))
        if not any(ring.visible_at <= now + delay for ring in waiting):
            self._count += 1
            self._rings[str(self._count)] = _Ring(run, now + delay)
        self._rung.set()

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[Doorbell]:
        """See Queue.receive."""
        if not (bells := self._take(limit, visibility)) and wait > 0:
            await wait_for_ring(self._rung, wait)
            bells = self._take(limit, visibility)
        return bells

    async def extend(self, bell: Doorbell, visibility: float) -> None:
        """See Queue.extend."""
        if ring := self._held(bell):
            ring.visible_at = self._clock.now() + visibility

    async def acknowledge(self, bell: Doorbell) -> None:
        """See Queue.acknowledge."""
        if self._held(bell):
            del self._rings[bell.receipt]

    async def bury(self, bell: Doorbell, why: str) -> None:
        """See Queue.bury."""
        if self._held(bell):
            del self._rings[bell.receipt]
            self._dead.append(DeadLetter(bell.run, self._clock.now(), why))

    async def buried(self, limit: int) -> Sequence[DeadLetter]:
        """See Queue.buried."""
        return list(reversed(self._dead))[:limit]

    async def forget_dead(self, before: float) -> None:
        """See Queue.forget_dead."""
        self._dead = [letter for letter in self._dead if letter.at >= before]

    def _held(self, bell: Doorbell) -> _Ring | None:
        """The bell, if it still is in the hands of who received it so."""
        ring = self._rings.get(bell.receipt)
        return ring if ring and ring.receives == bell.receives and ring.held(self._clock.now()) else None

    def _take(self, limit: int, visibility: float) -> list[Doorbell]:
        self._rung.clear()
        now = self._clock.now()
        due = [(receipt, ring) for receipt, ring in self._rings.items() if ring.visible_at <= now][:limit]
        for _, ring in due:
            ring.visible_at, ring.receives = now + visibility, ring.receives + 1
        return [Doorbell(ring.run, receipt, ring.receives) for receipt, ring in due]


async def wait_for_ring(rung: asyncio.Event, seconds: float) -> None:
    """Returns when somebody in this process rings, or after `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await rung.wait()
    except TimeoutError:
        return
