"""The worker function in virtual time, over a queue and offers in memory."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.app.functions.worker_batch import Working
from gofer.journal.coordination import Head
from gofer.models.language_model import Answer
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.offers import Offers
from gofer.stores.queue import Queue, QueueMessage, wait_for_message
from gofer.values.outside import Clock
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import MemoryWorker
from support.runtime.worker_parts import worker_over
from support.simulation.virtual_time import VirtualClock, VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import claimed

LIFE = 900.0


def run_id(number: int) -> str:
    return f"{number:024x}"


class WatchedQueue(MemoryQueue):
    """A queue that records its requests, with their times, and may fail."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.receives: list[float] = []
        self.acknowledged: list[str] = []
        self.fails: list[Exception] = []
        """Errors of the next requests to receive."""

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        self.receives.append(self.clock.monotonic())
        if self.fails:
            raise self.fails.pop(0)
        return await super().receive(limit, visibility, wait, machines=machines)

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        self.acknowledged.append(queue_message.run)
        await super().acknowledge(queue_message)


@dataclass
class Timed:
    """A model whose answers take given numbers of seconds, one after the other."""

    seconds: list[float]
    asked_at: list[float] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.asked_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.seconds.pop(0))
        return says("Hello.")


class Mortal:
    """A store or a queue as a process reaches it: once the process was killed, no call of it returns."""

    def __init__(self, reached: object) -> None:
        self._reached = reached
        self.killed = False

    def __getattr__(self, name: str) -> Callable[..., Coroutine[None, None, object]]:
        async def call(*arguments: object, **named: object) -> object:
            if self.killed:
                await asyncio.Event().wait()
            return await getattr(self._reached, name)(*arguments, **named)

        return call


class MemoryOffers(Offers):
    """Offers in memory; the worker that has waited longest gets the next one, or the last one with `newest_first`."""

    def __init__(self) -> None:
        self.offered: list[QueueMessage] = []
        self.newest_first = False
        self.chance: random.Random | None = None
        """The order in which requests find offers, as SQS has none; None for the oldest first."""
        self.most = 10
        """The most offers that one request returns, as SQS may return fewer than there are."""
        self.made = 0
        """The number of offers until now."""
        self.fails: list[Exception | None] = []
        """The outcomes of the next requests: an error, or None for success."""
        self._waiting: list[asyncio.Event] = []

    async def offer(self, queue_message: QueueMessage) -> None:
        self._fail()
        self.made += 1
        self.offered.append(queue_message)
        if self._waiting:
            self._waiting[-1 if self.newest_first else 0].set()

    async def take(self, limit: int, wait: float) -> Sequence[QueueMessage]:
        self._fail()
        if wait and not self.offered:
            arrived = asyncio.Event()
            self._waiting.append(arrived)
            await wait_for_message(arrived, wait)
            self._waiting.remove(arrived)
        limit = min(limit, self.most)
        if self.chance is not None:
            self.chance.shuffle(self.offered)
        taken, self.offered = self.offered[:limit], self.offered[limit:]
        return taken

    def _fail(self) -> None:
        if self.fails and (error := self.fails.pop(0)):
            raise error


class Function:
    """The worker function over a queue in memory, in virtual time."""

    def __init__(
        self,
        clock: VirtualClock,
        model: Timed,
        *,
        slots: int = 10,
        store: MemoryStore | None = None,
        offers: Offers | None = None,
    ) -> None:
        self.clock = clock
        self.offers = offers
        self.queue = WatchedQueue(clock)
        self.reached: Queue = self.queue
        made = MemoryWorker(ListModel([]), clock, store or MemoryStore())  # type: ignore[arg-type]
        self.made = made
        services = replace(made.worker.services, model=model)
        limits = WorkerLimits(slots, receives=5)
        self.worker = worker_over(replace(made.worker, services=services, limits=limits), queue=self.queue)
        self.refuses: list[Exception] = []
        """Errors with which the settings cannot be read."""
        self.billed: list[float] = []

    async def accept(self, number: int) -> str:
        run = run_id(number)
        await claimed(self.made.store, run)
        await self.made.store.create_head(Head(run, "answer-here", f"conversation {number}", number, private=False))
        await self.queue.enqueue(run)
        return run

    async def work(self, number: int, seconds: float) -> asyncio.Task[list[str]]:
        """Begin a worker on one run, and let it work for some seconds; return its invocation."""
        await self.accept(number)
        working = asyncio.create_task(self.invoke())
        await asyncio.sleep(seconds)
        return working

    async def invoke(self, seconds: float = LIFE) -> list[str]:
        """Pass the due messages to the worker; delete those that it does not return, as Lambda does."""
        taken = await MemoryQueue.receive(self.queue, 10, 5_400, 0)
        if not taken:
            return []
        records = [
            {
                "messageId": f"m{queue_message.receipt}",
                "receiptHandle": queue_message.receipt,
                "body": f'{{"run":"{queue_message.run}"}}',
                "attributes": {"ApproximateReceiveCount": str(queue_message.receives)},
            }
            for queue_message in taken
        ]
        began = self.clock.monotonic()
        try:
            told = await Working(self._worker, self.reached, self.offers).answer({"Records": records}, seconds)
        finally:
            self.billed.append(self.clock.monotonic() - began)
        items = told["batchItemFailures"]
        assert isinstance(items, list)
        failed = {str(item["itemIdentifier"]) for item in items}
        for queue_message in taken:
            if f"m{queue_message.receipt}" not in failed:
                await MemoryQueue.acknowledge(self.queue, queue_message)
        return sorted(failed)

    async def _worker(self) -> Worker:
        if self.refuses:
            raise self.refuses.pop(0)
        return self.worker

    async def status(self, run: str) -> str:
        return await self.made.status(run)

    def waiting(self) -> Mapping[str, float]:
        """Return the seconds until each message is visible, by its run."""
        return {queued.run: queued.visible_at - self.clock.now() for queued in self.queue._queued.values()}


def play(story: Callable[[VirtualClock], Coroutine[None, None, None]]) -> None:
    loop = VirtualLoop()
    in_virtual_time(loop, story(VirtualClock(loop)))
