"""Stores like those of AWS, in virtual time: a table with failing requests, and a queue that duplicates messages."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.stores.aws.items import FRAMES
from gofer.stores.aws.queue import LONGEST_DELAY
from gofer.stores.aws.table import KEY, Indexed, Item, Key, Put, Refused, Span, Table, Write
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.queue import UNKNOWN, QueueLine, QueueMessage
from gofer.values.outside import Clock
from support.aws.memory_table import MemoryTable
from support.simulation.machines import Faults, Machine
from support.simulation.virtual_time import VirtualClock

RECEIVES = 5
"""How often SQS delivers a message before it is a dead letter."""


class SharedTable(MemoryTable):
    """The table of a schedule. Its index lags, mostly by moments; frames are also copied to `copy`."""

    def __init__(self, faults: Faults, clock: VirtualClock) -> None:
        super().__init__(clock.monotonic, self._lagging)
        self._faults = faults
        self.copy = MemoryStore()

    async def write(self, write: Write) -> Refused | None:
        refused = await super().write(write)
        if refused is None and isinstance(write, Put) and write.key.sk.startswith(FRAMES):
            await self._copy(write.item)
        return refused

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        refused = await super().transact(writes)
        if refused is None:
            items = [write.item for write in writes if isinstance(write, Put)]
            key = next((item["key"] for item in items if item["sk"] == KEY), b"")
            assert isinstance(key, bytes)
            for item in items:
                if str(item["sk"]).startswith(FRAMES):
                    await self._copy(item, key)
        return refused

    async def _copy(self, item: Item, key: bytes = b"") -> None:
        run, n, frame = str(item["pk"]).removeprefix("run#"), int(str(item["sk"]).removeprefix(FRAMES)), item["frame"]
        assert isinstance(frame, bytes)
        await (self.copy.create(run, n, frame) if n > 1 else self.copy.claim(run, frame, key))

    def _lagging(self) -> float:
        chance = self._faults.chance
        return chance.uniform(1, 60) if not self._faults.over and chance.random() < 0.05 else chance.uniform(0, 0.5)


class MachineTable:
    """A table as one machine sees it: death or a lost response between any two requests of a method."""

    def __init__(self, machine: Machine, table: Table) -> None:
        self._io = machine.io
        self._table = table

    async def get(self, key: Key) -> Item | None:
        return await self._io(lambda: self._table.get(key))

    async def get_all(self, keys: Sequence[Key]) -> Sequence[Item]:
        return await self._io(lambda: self._table.get_all(keys))

    async def query(self, span: Span, *, limit: int = 0, newest: bool = False) -> Sequence[Item]:
        return await self._io(lambda: self._table.query(span, limit=limit, newest=newest))

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
        return await self._io(lambda: self._table.index(span, limit=limit, newest=newest))

    async def write(self, write: Write) -> Refused | None:
        return await self._io(lambda: self._table.write(write))

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        return await self._io(lambda: self._table.transact(writes))

    async def delete_all(self, keys: Sequence[Key]) -> None:
        await self._io(lambda: self._table.delete_all(keys))

    async def scan(self, sk: str) -> Sequence[Key]:
        return await self._io(lambda: self._table.scan(sk))


class StandardQueue(MemoryQueue):
    """A queue like SQS standard: each enqueue adds a message, delays are short, and receives are limited."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._enqueued = 0

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        self._enqueued += 1
        # Under a unique name, so that no waiting message is replaced by one of the same run.
        await super().enqueue(f"{self._enqueued}/{run}", min(delay, LONGEST_DELAY), line=line)

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        found = await super().receive(limit, visibility, wait, machines=machines)
        for queue_message in found:
            if queue_message.receives > RECEIVES:
                await self.move_to_dead_letters(queue_message, "it was received too often without an answer")
        kept = [queue_message for queue_message in found if queue_message.receives <= RECEIVES]
        return [replace(queue_message, run=queue_message.run.partition("/")[2]) for queue_message in kept]
