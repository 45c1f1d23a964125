"""A burst of mentions on AWS in virtual time: from signed deliveries of Slack to answers.

Real: the receiver code from the signature on, the store on DynamoDB's operations, the worker function with its slots,
offers and hand-overs, the engine, and the sweeper. Modelled: SQS (standard queue, visibility, receive counts, dead
letters), the event source mapping (batches, at most so many invocations, five pollers at first and five more each
second), cold starts, DynamoDB in memory without latency, Slack's tools, and a model that answers after an exponential
time. A message or an offer goes to one of those that wait for it at random, pollers and workers alike.
"""

import asyncio
import heapq
import itertools
import json
import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from aws_cost import Compute, Work, memory_mb, usd_per_million
from traffic import MENTION, SECRET, percentile

from gofer.app.functions.worker_batch import Working
from gofer.journal.coordination import UNFINISHED
from gofer.models.language_model import Answer
from gofer.runtime.receive import Ingress
from gofer.runtime.run_reports import Ended, Observers
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.sources.receiver import RawRequest
from gofer.sources.slack.receiver import SlackReceiver, sign
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.offers import Offers
from gofer.stores.one_place import Stores
from gofer.stores.queue import UNKNOWN, DeadLetter, Queue, QueueLine, QueueMessage, wait_for_message
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.aws.memory_table import MemoryTable
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import MemoryWorker
from support.runtime.worker_parts import worker_over
from support.simulation.virtual_time import VirtualClock, VirtualLoop, play
from support.stand_ins import KEY, make_outside

SLOTS = 10
INVOCATION = 900.0
WINDOW = 1.0
"""Seconds for which the mapping waits for a full batch where workers offer nothing."""
LONGEST = 290.0
"""Seconds of the longest run, because the workflow stops after five minutes."""
COLD = 2.0
"""Seconds until a new environment answers."""
HIDDEN = 5_400.0
RECEIVES = 5
POLLERS, MORE_POLLERS = 5, 5
"""Pollers of the event source mapping at first, and further ones each second."""


@dataclass(slots=True)
class _Message:
    run: str
    sent_at: float
    receives: int = 0
    visible_at: float = 0.0


class ModelledSqs(Queue):
    """A standard queue: each message is received at least once, by any of those that wait."""

    def __init__(self, clock: VirtualClock, chance: random.Random) -> None:
        self.requests: Counter[str] = Counter()
        self.waits: dict[str, float] = {}
        """Seconds from the first message of a run until a worker or the mapping received it."""
        self.dead: list[str] = []
        self._clock = clock
        self._chance = chance
        self._messages: dict[str, _Message] = {}
        self._due: list[tuple[float, str]] = []
        self._ids = itertools.count(1)
        self._waiting: list[asyncio.Event] = []

    @property
    def size(self) -> int:
        """The number of messages, hidden ones included."""
        return len(self._messages)

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        self.requests["send"] += 1
        now = self._clock.monotonic()
        name = str(next(self._ids))
        self._messages[name] = _Message(run, now)
        self._show(name, now + delay)
        if self._waiting and not delay:
            self._chance.choice(self._waiting).set()

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        self.requests["receive"] += 1
        taken = self._take(limit, visibility)
        if taken or not wait:
            return taken
        arrived = asyncio.Event()
        self._waiting.append(arrived)
        try:
            async with asyncio.timeout(wait):
                await arrived.wait()
        except TimeoutError:
            pass
        finally:
            self._waiting.remove(arrived)
        return self._take(limit, visibility)

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        self.requests["extend"] += 1
        if name := self._held(queue_message):
            self._show(name, self._clock.monotonic() + visibility)

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        self.requests["delete"] += 1
        self.delete(queue_message)

    def delete(self, queue_message: QueueMessage) -> None:
        """Delete a message, as Lambda does for its batch."""
        self._messages.pop(queue_message.receipt.partition(":")[0], None)

    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        self.dead.append(queue_message.run)
        self.delete(queue_message)

    async def dead_letters(self, limit: int) -> Sequence[DeadLetter]:
        return ()

    async def purge_dead_letters(self, before: float, runs: Collection[str] = ()) -> None:
        return

    def _show(self, name: str, at: float) -> None:
        self._messages[name].visible_at = at
        heapq.heappush(self._due, (at, name))

    def _held(self, queue_message: QueueMessage) -> str:
        name, _, receives = queue_message.receipt.partition(":")
        found = self._messages.get(name)
        if found is None or found.receives != int(receives) or found.visible_at <= self._clock.monotonic():
            return ""
        return name

    def _take(self, limit: int, visibility: float) -> list[QueueMessage]:
        now = self._clock.monotonic()
        taken: list[QueueMessage] = []
        while self._due and self._due[0][0] <= now and len(taken) < limit:
            at, name = heapq.heappop(self._due)
            found = self._messages.get(name)
            if found is None or found.visible_at != at:
                continue
            if found.receives >= RECEIVES:
                self.dead.append(found.run)
                del self._messages[name]
                continue
            found.receives += 1
            self.waits.setdefault(found.run, now - found.sent_at)
            taken.append(QueueMessage(found.run, f"{name}:{found.receives}", found.receives))
            self._show(name, now + visibility)
        return taken


class ModelledOffers(Offers):
    """The queue of offers, each of which goes to one of those that wait, at random."""

    def __init__(self, chance: random.Random) -> None:
        self.requests = 0
        self._chance = chance
        self._offered: list[QueueMessage] = []
        self._waiting: list[asyncio.Event] = []

    async def offer(self, queue_message: QueueMessage) -> None:
        self.requests += 1
        self._offered.append(queue_message)
        if self._waiting:
            self._chance.choice(self._waiting).set()

    async def take(self, limit: int, wait: float) -> Sequence[QueueMessage]:
        if wait and not self._offered:
            arrived = asyncio.Event()
            self._waiting.append(arrived)
            await wait_for_message(arrived, wait)
            self._waiting.remove(arrived)
        taken, self._offered = self._offered[:limit], self._offered[limit:]
        # One request to receive them, and one for each to delete it.
        self.requests += 1 + len(taken)
        return taken


@dataclass
class Functions:
    """The worker function and the event source mapping that invokes it."""

    queue: ModelledSqs
    offers: ModelledOffers | None
    worker: Worker
    workers: int
    """The most invocations at once."""
    running: int = 0
    idle: int = 0
    """Environments without an invocation."""
    most: int = 0
    invocations: int = 0
    billed: float = 0.0
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def serve(self) -> None:
        """Start pollers, each of which holds one of the invocations that are allowed at once."""
        started = 0
        while started < self.workers:
            for _ in range(min(POLLERS if not started else MORE_POLLERS, self.workers - started)):
                started += 1
                self.tasks.add(asyncio.create_task(self._poll()))
            await asyncio.sleep(1)

    async def _poll(self) -> None:
        while True:
            batch = list(await self.queue.receive(SLOTS, HIDDEN, 20))
            if not batch:
                continue
            if self.offers is None and len(batch) < SLOTS:
                await asyncio.sleep(WINDOW)
                batch += await self.queue.receive(SLOTS - len(batch), HIDDEN, 0)
            await self._invoke(batch)

    async def _invoke(self, batch: Sequence[QueueMessage]) -> None:
        if self.idle:
            self.idle -= 1
        else:
            await asyncio.sleep(COLD)
        self.running += 1
        self.invocations += 1
        self.most = max(self.most, self.running)
        began = asyncio.get_running_loop().time()
        event = {"Records": [_record(one) for one in batch]}
        told = await Working(self._made, self.queue, self.offers).answer(event, INVOCATION)
        self.billed += asyncio.get_running_loop().time() - began
        self.running -= 1
        self.idle += 1
        failed = {item["itemIdentifier"] for item in told["batchItemFailures"]}  # type: ignore[union-attr]
        for one in batch:
            if one.receipt not in failed:
                self.queue.delete(one)

    async def _made(self) -> Worker:
        return replace(self.worker, suspects=asyncio.Lock())


def _record(one: QueueMessage) -> dict[str, object]:
    counts = {"ApproximateReceiveCount": str(one.receives)}
    body = json.dumps({"run": one.run})
    return {"messageId": one.receipt, "receiptHandle": one.receipt, "body": body, "attributes": counts}


class ExponentialModel(ListModel):
    """A model whose answers take an exponential time."""

    def __init__(self, mean: float, chance: random.Random) -> None:
        super().__init__([])
        self._mean = mean
        self._chance = chance

    async def ask(self, body: bytes, timeout: float) -> Answer:
        await asyncio.sleep(min(LONGEST, self._chance.expovariate(1 / self._mean)))
        return says("Here you are.")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a burst."""

    accepted: int
    """Mentions of which a delivery got a 2xx."""
    deliveries: int
    ended: int
    """Runs with the status done."""
    unfinished: int
    answers: int
    """Messages that Gofer posted. Each run posts one and edits it."""
    dead: int
    waits: Sequence[float]
    """Seconds from the queue message of a run until a worker had it."""
    seconds: Sequence[float]
    """Seconds from the acceptance of a run to its end."""
    most: int
    """The most invocations of the worker at once."""
    invocations: int
    billed: float
    requests: Counter[str]
    units: Counter[str]
    lasted: float
    """Seconds until the last run ended."""

    def usd_per_million(self) -> float:
        """Return the USD of a million such runs without tokens and deletion."""
        runs = max(1, self.ended)
        units = self.units
        sent = sum(self.requests.values()) / runs
        work = Work(writes=units["write"] / runs, reads=units["read"] / runs, puts=0, gets=0, messages=sent)
        milliseconds = self.billed * 1_000 / runs
        compute = Compute(milliseconds, memory_mb("WorkerFunction"), self.invocations / runs)
        parts = usd_per_million(work, compute)
        # Each of the two deliveries of a mention is a request to the API and to a receiver.
        return sum(parts.values()) + parts["ingress"]

    def line(self) -> str:
        """Return the figures in one line."""
        waits = f"{percentile(self.waits, 50):5.1f} {percentile(self.waits, 95):6.1f} {max(self.waits):6.1f}"
        ends = f"{percentile(self.seconds, 50):6.1f} {percentile(self.seconds, 95):7.1f} {self.lasted:7.0f}"
        return f"{self.most:5} | {waits} | {ends} | {self.billed / self.ended:5.1f} | {self.usd_per_million():5.0f}"


@dataclass(frozen=True, slots=True)
class Load:
    """So many mentions within some seconds, and the workers for them."""

    mentions: int
    seconds: float
    mean: float
    """Seconds of a run on average."""
    workers: int
    """`WorkerConcurrency` of the template."""
    slots: int = SLOTS
    """GOFER_CONCURRENCY. With 1, a worker processes its batch and receives nothing more."""
    offers: bool = True
    """Whether new workers offer their messages to those at work."""


def burst(load: Load, seed: int = 7) -> Outcome:
    """Return what becomes of the mentions."""
    loop = VirtualLoop()
    return play(loop, _burst(VirtualClock(loop), load, random.Random(seed)))


async def _burst(clock: VirtualClock, load: Load, chance: random.Random) -> Outcome:
    mentions = load.mentions
    table = MemoryTable()
    queue = ModelledSqs(clock, chance)
    ended: list[float] = []

    def note(end: Ended) -> None:
        ended.append(end.seconds)

    made = MemoryWorker(ExponentialModel(load.mean, chance), clock, DynamoStore(table))  # type: ignore[arg-type]
    limits = WorkerLimits(load.slots, receives=RECEIVES)
    worker = replace(worker_over(made.worker, queue=queue), limits=limits, observers=Observers(note))
    stores = Stores(made.store, made.blobs, queue)
    outside = make_outside(clock)  # type: ignore[arg-type]
    routes = read_routes({"slack.mention": [("answer-here", {})]})
    ingress = Ingress({"/slack/events": SlackReceiver((Secret(SECRET),))}, routes, stores, KEY, outside)
    offers = None
    if load.offers:
        offers = ModelledOffers(chance)
    functions = Functions(queue, offers, worker, load.workers)
    others = [asyncio.create_task(functions.serve())]
    others.append(asyncio.create_task(Sweeper(stores.journals, queue, clock).serve()))
    arrivals = sorted(chance.uniform(0, load.seconds) for _ in range(mentions))
    replies = await asyncio.gather(*(_mention(ingress, clock, n, at, chance) for n, at in enumerate(arrivals)))
    while len(ended) < mentions or queue.size:
        await asyncio.sleep(1)
    for task in (*others, *functions.tasks):
        task.cancel()
    heads = await stores.journals.heads(mentions + 1, private=True)
    return Outcome(
        accepted=sum(200 in told for told in replies),
        deliveries=sum(map(len, replies)),
        ended=sum(head.status == "done" for head in heads),
        unfinished=sum(head.status in UNFINISHED for head in heads),
        answers=len([text for text in made.posted if "Here you are." in text]),
        dead=len(queue.dead),
        waits=list(queue.waits.values()),
        seconds=ended,
        most=functions.most,
        invocations=functions.invocations,
        billed=functions.billed,
        requests=queue.requests + Counter(offers=0 if offers is None else offers.requests),
        units=table.units,
        lasted=clock.monotonic(),
    )


async def _mention(ingress: Ingress, clock: VirtualClock, n: int, at: float, chance: random.Random) -> Sequence[int]:
    """Deliver a mention as Slack does: as `app_mention`, and within a tenth of a second as `message`."""
    await asyncio.sleep(at)
    statuses = []
    for kind in ("app_mention", "message"):
        statuses.append((await ingress.receive(_delivery(n, kind, clock))).status)
        await asyncio.sleep(chance.uniform(0, 0.1))
    return statuses


def _delivery(n: int, kind: str, clock: VirtualClock) -> RawRequest:
    ts = f"1795240812.{n:06}"
    event = {**MENTION["event"], "type": kind, "ts": ts, "event_ts": ts, "channel_type": "channel"}
    body = json.dumps({**MENTION, "event": event, "event_id": f"Ev{kind}{n:010}"}).encode()
    at = str(int(clock.now()))
    headers = [("x-slack-request-timestamp", at), ("x-slack-signature", sign(Secret(SECRET), at, body))]
    return RawRequest("POST", "/slack/events", headers, body)
