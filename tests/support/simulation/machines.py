"""Machines that crash, freeze and lose responses, and stores and queues as such machines see them."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gofer.journal.coordination import Head, InboxItem, Retention, Spent, Usage
from gofer.journal.store import Store
from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage
from gofer.values.errors import TemporaryError

T = TypeVar("T")


@dataclass
class Faults:
    """The probability of each fault per boundary. All faults stop when `over` is set."""

    chance: random.Random
    crash: float = 0.012
    pause: float = 0.006
    throttle: float = 0.03
    lost: float = 0.03
    refused: float = 0.04
    late: float = 0.06
    absent: float = 0.15
    over: bool = False
    seen: Counter[str] = field(default_factory=Counter)
    limbo: list["asyncio.Future[None]"] = field(default_factory=list)
    """What dead machines wait for, kept so that nothing of them is collected, and so cleaned up, too early."""
    machines: int = 0
    when: dict[int, list[float]] = field(default_factory=dict)
    """Virtual times at which something went wrong, by the number of the machine it happened to."""


class Machine:
    """One process, which can be killed or frozen at any boundary between two of its outside calls."""

    def __init__(self, faults: Faults) -> None:
        faults.machines += 1
        self.number = faults.machines
        self.faults = faults
        self.dead = asyncio.Event()

    def suffers(self, what: str) -> bool:
        """Draw whether one kind of fault happens now."""
        faults = self.faults
        if faults.over or faults.chance.random() >= getattr(faults, what):
            return False
        self.notes(what)
        return True

    def notes(self, what: str) -> None:
        """Record a fault of this machine at this time."""
        self.faults.seen[what] += 1
        self.faults.when.setdefault(self.number, []).append(asyncio.get_running_loop().time())

    async def boundary(self) -> None:
        """Let time pass; the machine may freeze for minutes or die, and then no call of it returns."""
        if self.suffers("crash"):
            self.dead.set()
        if self.suffers("pause"):
            await asyncio.sleep(self.faults.chance.uniform(30, 400))
        await asyncio.sleep(self.faults.chance.uniform(0.001, 0.05))
        if self.dead.is_set():
            self.faults.limbo.append(asyncio.get_running_loop().create_future())
            await self.faults.limbo[-1]

    async def io(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make one call to a store as an SDK does: throttled calls and lost responses are retried blindly."""
        for attempt in range(6):
            await self.boundary()
            if self.suffers("throttle"):
                await asyncio.sleep(0.2 * 2**attempt)
                continue
            result = await call()
            if self.suffers("lost"):
                await asyncio.sleep(0.2)
                continue
            await self.boundary()
            return result
        raise TemporaryError("throttled")


class MachineStore:
    """A store as one machine sees it."""

    def __init__(self, machine: Machine, store: Store) -> None:
        self._io = machine.io
        self._store = store

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        return await self._io(lambda: self._store.claim(run, frame, key, at))

    async def key(self, run: str) -> bytes | None:
        return await self._io(lambda: self._store.key(run))

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        return await self._io(lambda: self._store.create(run, n, frame))

    async def frames(self, run: str) -> Sequence[bytes]:
        return await self._io(lambda: self._store.frames(run))

    async def create_head(self, head: Head) -> None:
        await self._io(lambda: self._store.create_head(head))

    async def put_head(self, head: Head) -> None:
        await self._io(lambda: self._store.put_head(head))

    async def head(self, run: str) -> Head | None:
        return await self._io(lambda: self._store.head(run))

    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        return await self._io(lambda: self._store.heads(limit, private=private))

    async def oldest_runnable(self, conversation: str) -> Head | None:
        return await self._io(lambda: self._store.oldest_runnable(conversation))

    async def previous(self, conversation: str, workflow: str, before: int) -> Head | None:
        return await self._io(lambda: self._store.previous(conversation, workflow, before))

    async def unfinished(self, before: int, limit: int, *, after: Head | None = None) -> Sequence[Head]:
        return await self._io(lambda: self._store.unfinished(before, limit, after=after))

    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        return await self._io(lambda: self._store.ended(retention, before, limit, private=private, after=after))

    async def open_runs(self, conversations: str) -> AsyncIterator[Sequence[Head]]:
        async def read() -> list[Sequence[Head]]:
            return [page async for page in self._store.open_runs(conversations)]

        for page in await self._io(read):
            yield page

    async def drop_leases(self) -> None:
        await self._io(self._store.drop_leases)

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        return await self._io(lambda: self._store.lease(conversation, owner, now, seconds))

    async def leased(self, conversation: str, now: float) -> bool:
        return await self._io(lambda: self._store.leased(conversation, now))

    async def release(self, conversation: str, owner: str) -> None:
        await self._io(lambda: self._store.release(conversation, owner))

    async def put_item(self, run: str, item: InboxItem) -> None:
        await self._io(lambda: self._store.put_item(run, item))

    async def items(self, run: str) -> Sequence[InboxItem]:
        return await self._io(lambda: self._store.items(run))

    async def drop_items(self, run: str, ids: Sequence[str]) -> None:
        await self._io(lambda: self._store.drop_items(run, ids))

    async def put_usage(self, rows: Sequence[Usage]) -> None:
        await self._io(lambda: self._store.put_usage(rows))

    async def usage(self, scope: str, since: int) -> Sequence[Usage]:
        return await self._io(lambda: self._store.usage(scope, since))

    async def spent(self, scope: str, now: int) -> Sequence[Spent]:
        return await self._io(lambda: self._store.spent(scope, now))

    async def drop_usage(self, run: str) -> None:
        await self._io(lambda: self._store.drop_usage(run))

    async def expire_usage(self, before: int) -> None:
        await self._io(lambda: self._store.expire_usage(before))

    async def put_memo(self, key: str, value: str, at: int) -> None:
        await self._io(lambda: self._store.put_memo(key, value, at))

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        return await self._io(lambda: self._store.exchange_memo(key, was, value, at))

    async def memo(self, key: str) -> str | None:
        return await self._io(lambda: self._store.memo(key))

    async def expire_memos(self, before: int) -> None:
        await self._io(lambda: self._store.expire_memos(before))

    async def unlisted(self, before: int, limit: int) -> Sequence[str]:
        return await self._io(lambda: self._store.unlisted(before, limit))

    async def drop_orphans(self, before: int) -> None:
        await self._io(lambda: self._store.drop_orphans(before))

    async def retain(self, run: str, was: Retention, becomes: Retention) -> Retention | None:
        return await self._io(lambda: self._store.retain(run, was, becomes))

    async def destroy_key(self, run: str) -> None:
        await self._io(lambda: self._store.destroy_key(run))

    async def empty(self, run: str) -> None:
        await self._io(lambda: self._store.empty(run))

    async def forget(self, run: str) -> None:
        await self._io(lambda: self._store.forget(run))

    async def scrub(self) -> None:
        await self._io(self._store.scrub)


class MachineQueue:
    """A queue as one machine sees it; sometimes two machines receive the same message."""

    def __init__(self, machine: Machine, queue: Queue) -> None:
        self._machine = machine
        self._queue = queue

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        await self._machine.io(lambda: self._queue.enqueue(run, delay, line=line))

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        await self._machine.boundary()
        queue_messages = await self._queue.receive(1, visibility, wait, machines=machines)
        await self._machine.boundary()
        return queue_messages

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        await self._machine.io(lambda: self._queue.extend(queue_message, visibility))

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        await self._machine.io(lambda: self._queue.acknowledge(queue_message))

    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        await self._machine.io(lambda: self._queue.move_to_dead_letters(queue_message, reason))

    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        await self._machine.io(lambda: self._queue.purge_dead_letters(before, runs))

    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return await self._machine.io(lambda: self._queue.dead_letters(limit))
