"""One run on the AWS stores in virtual time: all its requests to DynamoDB, S3 and SQS.

Three turns of a model and seven tool calls in 58 seconds, as the run of which one at a time costs 1,100 USD a million.
"""

import asyncio
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from aws_cost import Work

from gofer.models.language_model import Answer
from gofer.runtime.retention import DAYS, Purger
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import UNKNOWN, QueueLine, QueueMessage
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.values.outside import Clock
from support.aws.memory_table import MemoryTable
from support.engine.memory_run import ListModel, Said, says
from support.runtime.memory_worker import MemoryWorker
from support.runtime.worker_parts import over
from support.simulation.virtual_time import VirtualClock, VirtualLoop, play

SECONDS = 58.0
TURNS: Sequence[Sequence[str]] = (("look",) * 3, ("look", "write"), ("write", "write"))
"""The tool calls of each turn before the answer."""
DELETED = 99
"""The runs besides the first whose deletion is counted together, because a purge reads the same lists for all."""
REQUEST = 0.006
"""Seconds of a request to DynamoDB or S3 in the same Region."""
RESULT = 1_500
"""Characters of a tool's result."""
PROSE = " ".join((Path(__file__).parents[2] / "LICENSE").read_text().split())
"""English text, which compresses as the texts of real runs do. A thread and each result are different parts of it."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The requests of a run, and those of its deletion a month later."""

    run: Work
    requests: Counter[str]
    frames: int
    retention: Work
    milliseconds_of_retention: float
    """The time of deleting one of many runs, if each request takes REQUEST seconds."""


class CountedBlobs(MemoryBlobs):
    """Bodies in memory, as in a warm process: a body stored before is not stored again."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: Counter[str] = Counter()

    async def put(self, key: str, body: bytes) -> None:
        self.requests["S3 put"] += key not in self._bodies
        await super().put(key, body)

    async def get(self, key: str) -> bytes:
        self.requests["S3 get"] += 1
        return await super().get(key)

    async def drop(self, folder: str) -> None:
        self.requests["S3 list"] += 1
        await super().drop(folder)


class CountedQueue(MemoryQueue):
    """Queue messages in memory, each request counted."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.requests: Counter[str] = Counter()

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        self.requests["SQS send"] += 1
        await super().enqueue(run, delay, line=line)

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        self.requests["SQS receive"] += 1
        return await super().receive(limit, visibility, wait, machines=machines)

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        self.requests["SQS extend"] += 1
        await super().extend(queue_message, visibility)

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        self.requests["SQS delete"] += 1
        await super().acknowledge(queue_message)


class Delayed:
    """A table or bodies whose requests take a while."""

    def __init__(self, target: object) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        async def call(*arguments: object, **named: object) -> object:
            await asyncio.sleep(REQUEST)
            return await getattr(self._target, name)(*arguments, **named)

        return call


class SlowModel(ListModel):
    """A slow model."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        await asyncio.sleep((SECONDS - 5) / (len(TURNS) + 1))
        return await super().ask(body, timeout)


async def act(call: Call, said: Said) -> ToolResult:
    await asyncio.sleep(1.0)
    return ToolResult(_prose(said.text), "done")


async def thread(call: Call, arguments: Arguments) -> ToolResult:
    """Return the thread that Slack answers for each mention."""
    return ToolResult(_prose(call.key), "read", {"private": False})


def _prose(seed: str) -> str:
    start = zlib.crc32(seed.encode()) % (len(PROSE) - RESULT)
    return PROSE[start : start + RESULT]


@cache
def count() -> Counted:
    """Count the requests of the second run in a warm process."""
    loop = VirtualLoop()
    return play(loop, _count(VirtualClock(loop)))


async def _count(clock: VirtualClock) -> Counted:
    table, blobs, queue = MemoryTable(), CountedBlobs(), CountedQueue(clock)
    answers = [says("", *((tool, {"text": f"{tool} {i}"}) for i, tool in enumerate(turn))) for turn in TURNS]
    model = SlowModel([*answers, says(_prose("answer"))] * (1 + DELETED))
    made = MemoryWorker(model, clock, DynamoStore(table), blobs)  # type: ignore[arg-type]
    made.grant("look", "write")
    more = {name: Tool(name, name, effect, Said, act) for name, effect in (("look", "read"), ("write", "keyed"))}  # type: ignore[arg-type]
    known = made.worker.services.tools
    more["slack_read_thread"] = replace(known["slack_read_thread"], act=thread)
    services = replace(made.worker.services, tools={**known, **more})
    made.queue = queue  # type: ignore[assignment]
    made.worker = replace(made.worker, services=over(services, queue=queue))
    await _one(made, "warm", 1)
    began, before = clock.monotonic(), _counters(table, blobs, queue)
    await _one(made, "run1", 2)
    took = clock.monotonic() - began
    assert abs(took - SECONDS) < 2, took
    after = _counters(table, blobs, queue)
    frames = await made.store.frames("run1")
    for n in range(2, 1 + DELETED):
        await _one(made, f"run{n}", n + 1)
    await asyncio.sleep((DAYS + 1) * 86_400)
    stood = _counters(table, blobs, queue)
    slow = Stores(DynamoStore(Delayed(table)), Delayed(blobs), MemoryQueue(clock))  # type: ignore[arg-type]
    began = clock.monotonic()
    purged = await Purger(slow, clock).purge()
    milliseconds = (clock.monotonic() - began) * 1_000 / (1 + DELETED)
    assert (purged.deleted, purged.forgotten) == (1 + DELETED, 1 + DELETED)
    run, rest = after - before, _counters(table, blobs, queue) - stood
    return Counted(_work(run, 1, sum(map(len, frames))), run, len(frames), _work(rest, 1 + DELETED, 0), milliseconds)


async def _one(made: MemoryWorker, run: str, accepted_at: int) -> None:
    await made.accept(run, accepted_at, private=False)
    while await made.work_once():
        pass
    assert await made.status(run) == "done"


def _counters(table: MemoryTable, blobs: CountedBlobs, queue: CountedQueue) -> Counter[str]:
    units = {f"DynamoDB {name}": number for name, number in table.units.items()}
    return Counter({**units, **blobs.requests, **queue.requests})


def _work(found: Counter[str], runs: int, stored: int) -> Work:
    return Work(
        writes=found["DynamoDB write"] / runs,
        reads=found["DynamoDB read"] / runs,
        puts=(found["S3 put"] + found["S3 list"]) / runs,
        gets=found["S3 get"] / runs,
        messages=sum(number for name, number in found.items() if name.startswith("SQS")) / runs,
        stored_gb=stored / 1e9,
    )
