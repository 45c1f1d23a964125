"""The worker function with one batch: failures, redelivery and the deadline."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from gofer.app.functions.worker_batch import Working, read_batch
from gofer.journal.coordination import Head
from gofer.journal.entries import RunHandedOver
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.runtime.worker import Worker
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.queue import UNKNOWN, QueueLine, QueueMessage
from gofer.values.errors import BadRequest, TemporaryError
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import worker_over
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import SetClock, claimed, mention

pytestmark = pytest.mark.anyio


def run_id(number: int) -> str:
    return f"{number:024x}"


def record(run: str, message: str = "", receives: int = 1, body: str = "") -> dict[str, object]:
    return {
        "messageId": message or f"m-{run[-2:]}",
        "receiptHandle": f"r-{run[-2:]}",
        "body": body or f'{{"run":"{run}"}}',
        "attributes": {"ApproximateReceiveCount": str(receives), "SentTimestamp": "1795262400000"},
        "eventSource": "aws:sqs",
    }


class RecordingQueue(MemoryQueue):
    """A queue that records what was done with each queue message."""

    def __init__(self, clock: SetClock) -> None:
        super().__init__(clock)
        self.said: list[tuple[str, str]] = []
        self.enqueued: list[str] = []

    async def enqueue(self, run: str, delay: float = 0.0, *, line: QueueLine = UNKNOWN) -> None:
        self.enqueued.append(run)

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        self.said.append((queue_message.receipt, f"{visibility:g}"))

    async def acknowledge(self, queue_message: QueueMessage) -> None:
        self.said.append((queue_message.receipt, "deleted"))

    async def move_to_dead_letters(self, queue_message: QueueMessage, reason: str) -> None:
        self.said.append((queue_message.receipt, f"buried: {reason}"))


@dataclass
class Slow:
    """A slow model; `most` is how many questions it answered at once."""

    seconds: float
    now: int = 0
    most: int = 0

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        return says("Hello.")


@dataclass
class Function:
    memory_worker: MemoryWorker
    queue: RecordingQueue
    leave: float = 8.0
    worker: Worker = field(init=False)

    def __post_init__(self) -> None:
        self.worker = worker_over(self.memory_worker.worker, queue=self.queue)

    async def accept(self, number: int) -> str:
        """A run in a conversation of its own."""
        run = run_id(number)
        await claimed(self.memory_worker.store, run)
        conversation = mention(ts=f"{number}.0").conversation
        await self.memory_worker.store.create_head(Head(run, "answer-here", conversation, 1, private=False))
        return run

    async def answer(self, *records: dict[str, object], seconds: float = 900.0) -> list[str]:
        async def worker() -> Worker:
            return self.worker

        told = await Working(worker, self.queue, leave=self.leave).answer({"Records": list(records)}, seconds)
        items = told["batchItemFailures"]
        assert isinstance(items, list)
        return [item["itemIdentifier"] for item in items]


def function(model: Slow | ListModel) -> Function:
    made = memory_worker()
    made.worker = replace(made.worker, services=replace(made.worker.services, model=model))
    return Function(made, RecordingQueue(made.clock))


def test_conversations_of_a_batch_run_in_parallel() -> None:
    async def story() -> None:
        model = Slow(0.05)
        made = function(model)
        runs = [await made.accept(n) for n in range(1, 11)]
        assert await made.answer(*map(record, runs)) == []
        assert model.most == 10
        assert {(await made.memory_worker.store.head(run)).status for run in runs} == {"done"}

    in_virtual_time(VirtualLoop(), story())


async def test_finished_queue_message_is_deleted_at_once_unless_lambda_deletes_the_batch() -> None:
    made = function(Slow(0.01))
    runs = [await made.accept(n) for n in (1, 2)]
    assert await made.answer(*map(record, runs)) == []
    deleted = [receipt for receipt, what in made.queue.said if what == "deleted"]
    assert len(deleted) == 1
    assert {(f"r-{run[-2:]}", "120") for run in runs} <= set(made.queue.said)


async def test_malformed_queue_message_is_returned_and_the_others_are_worked_on() -> None:
    made = function(Slow(0))
    run = await made.accept(1)
    bad = [
        record(run_id(2), body="not json"),
        record(run_id(3), body='{"run":"../../x"}'),
        record(run_id(4), body='{"run":7}'),
        record(run_id(5), body="[]"),
    ]
    assert await made.answer(record(run), *bad) == ["m-02", "m-03", "m-04", "m-05"]
    assert (await made.memory_worker.store.head(run)).status == "done"
    assert ("r-02", "0") in made.queue.said


async def test_queue_message_of_an_unknown_run_is_acknowledged() -> None:
    assert await function(Slow(0)).answer(record(run_id(9))) == []


@pytest.mark.parametrize("event", [None, {}, {"Records": 1}, {"Records": [{}]}, {"Records": [{"body": "{}"}]}])
async def test_malformed_batch_fails_as_a_whole(event: object) -> None:
    with pytest.raises(BadRequest):
        read_batch(event)


async def test_run_past_the_deadline_is_handed_over_with_a_new_queue_message() -> None:
    made = function(Slow(60))
    made.leave = 899.8
    stuck = await made.accept(1)
    assert await made.answer(record(stuck)) == []
    assert made.queue.enqueued == [stuck]
    entries = [item.entry for item in await read_journal(stuck, made.memory_worker.store, made.memory_worker.blobs)]
    assert entries[-1] == RunHandedOver("interrupted")
    # The lease is free for the next owner.
    conversation = mention(ts="1.0").conversation
    assert await made.memory_worker.store.lease(conversation, "next", made.memory_worker.clock.now(), 60)


async def test_run_without_enough_time_is_handed_over_with_a_new_queue_message() -> None:
    made = function(ListModel([says("", ("slack_read_thread", {"link": "x"})), says("Hello.")]))
    run = await made.accept(1)
    rounds = 0
    while (await made.memory_worker.store.head(run)).status != "done":
        assert await made.answer(record(run), seconds=15.0) == []
        rounds += 1
        assert made.queue.enqueued[-1:] == [run] or (await made.memory_worker.store.head(run)).status == "done"
    assert rounds > 2
    assert made.memory_worker.posted == ["Hello."]


async def test_queue_message_is_replaced_by_a_later_one_when_the_store_is_away() -> None:
    class Away(type(memory_worker().store)):  # type: ignore[misc]
        async def head(self, run: str) -> Head | None:
            raise TemporaryError("away")

    made = function(Slow(0))
    made.worker = worker_over(made.worker, store=Away())
    assert await made.answer(record(run_id(1), receives=2)) == []
    assert made.queue.enqueued == [run_id(1)]
