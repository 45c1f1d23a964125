"""The contract of `stores/queue.py`, for every queue."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.stores.queue import SHARE, Queue, QueueLine, QueueMessage
from support.aws.moto_server import all_stores, new_clock
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite", "aws"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def clock(kind: str) -> SetClock:
    return new_clock(kind)


@pytest.fixture
def queue(kind: str, tmp_path: Path, clock: SetClock) -> Iterator[Queue]:
    with all_stores(kind, tmp_path, clock) as (_, made):
        yield made


one_message_per_run = pytest.mark.parametrize("kind", ["memory", "sqlite"], indirect=True)
"""SQS cannot merge two messages name one run: docs/decisions/0017-sqs-may-hold-several-messages-for-one-run.md."""


async def received(queue: Queue, limit: int = 10) -> list[tuple[str, int]]:
    return [(queue_message.run, queue_message.receives) for queue_message in await queue.receive(limit, 120, 0)]


async def test_queue_message_is_received_again_until_acknowledged(queue: Queue, clock: SetClock) -> None:
    await queue.enqueue("r")
    assert await received(queue) == [("r", 1)]
    assert await received(queue) == []
    clock.advance(121)
    (queue_message,) = await queue.receive(10, 120, 0)
    assert (queue_message.run, queue_message.receives) == ("r", 2)
    await queue.acknowledge(queue_message)
    clock.advance(1000)
    assert await received(queue) == []


async def test_each_enqueued_run_is_received_within_the_limit(queue: Queue) -> None:
    for run in ("a", "b", "c", "d"):
        await queue.enqueue(run)
    first = await received(queue, 3)
    second = await received(queue, 3)
    assert len(first) == 3
    assert sorted(first + second) == [("a", 1), ("b", 1), ("c", 1), ("d", 1)]


@one_message_per_run
async def test_repeated_enqueues_of_a_run_are_one_queue_message(queue: Queue, clock: SetClock) -> None:
    for _ in range(3):
        await queue.enqueue("r")
    await queue.enqueue("r", delay=30)
    assert await received(queue) == [("r", 1)]
    # Visible again, with its count of receives.
    clock.advance(121)
    await queue.enqueue("r")
    assert await received(queue) == [("r", 2)]


async def test_delayed_queue_message_does_not_delay_an_earlier_one(queue: Queue, clock: SetClock) -> None:
    await queue.enqueue("r", delay=60)
    await queue.enqueue("r", delay=30)
    clock.advance(30)
    assert await received(queue) == [("r", 1)]
    clock.advance(30)
    assert await received(queue) == [("r", 1)]


async def test_enqueue_while_a_message_is_held_survives_the_acknowledgement(queue: Queue) -> None:
    await queue.enqueue("r")
    (held,) = await queue.receive(10, 120, 0)
    await queue.enqueue("r")
    await queue.acknowledge(held)
    assert await received(queue) == [("r", 1)]


IMPORTS = QueueLine(people=False, workflow="imports")
REPORTS = QueueLine(people=False, workflow="reports")
ASKED = QueueLine(people=True, workflow="answer")


async def test_received_message_has_its_line(queue: Queue) -> None:
    await queue.enqueue("import", line=IMPORTS)
    (queue_message,) = await queue.receive(1, 120, 0)
    assert queue_message.line == IMPORTS
    await queue.enqueue("question", line=ASKED)
    (queue_message,) = await queue.receive(1, 120, 0)
    assert queue_message.line.people


@one_message_per_run
async def test_people_come_first_and_each_workflow_of_machines_has_turns(queue: Queue) -> None:
    for i in range(50):
        await queue.enqueue(f"import{i}", line=IMPORTS)
    await queue.enqueue("report", line=REPORTS)
    for i in range(SHARE):
        await queue.enqueue(f"question{i}", line=ASKED)
    order = [run for run, _ in await received(queue, SHARE + 4)]
    questions = [f"question{i}" for i in range(SHARE)]
    assert order == [*questions[:-1], "import0", questions[-1], "report", "import1", "import2"]


@one_message_per_run
async def test_receiver_without_room_for_machines_gets_people_only(queue: Queue) -> None:
    for i in range(5):
        await queue.enqueue(f"import{i}", line=IMPORTS)
    await queue.enqueue("question", line=ASKED)
    assert [message.run for message in await queue.receive(10, 120, 0, machines=0)] == ["question"]
    assert [message.run for message in await queue.receive(10, 120, 0, machines=2)] == ["import0", "import1"]


@one_message_per_run
async def test_act_of_a_person_on_a_run_does_not_wait_in_the_line_of_machines(queue: Queue) -> None:
    for i in range(3):
        await queue.enqueue(f"import{i}", line=IMPORTS)
    await queue.enqueue("import2", line=QueueLine(people=True, workflow="imports"))
    await queue.enqueue("import2", line=IMPORTS)
    assert [run for run, _ in await received(queue)] == ["import2", "import0", "import1", "import2"]


@one_message_per_run
@pytest.mark.parametrize("late", ["acknowledge", "move_to_dead_letters", "extend"])
async def test_expired_receipt_cannot_remove_a_redelivered_queue_message(
    queue: Queue, clock: SetClock, late: str
) -> None:
    await queue.enqueue("r")
    (mine,) = await queue.receive(10, 120, 0)
    clock.advance(121)
    await queue.enqueue("r")
    await deal_with(queue, mine, late)
    (theirs,) = await queue.receive(10, 120, 0)
    assert theirs.receives == 2
    await deal_with(queue, mine, late)
    clock.advance(121)
    assert await received(queue) == [("r", 3)]
    assert list(await queue.dead_letters(10)) == []


async def test_old_dead_letters_are_deleted(queue: Queue, clock: SetClock) -> None:
    for run in ("old", "new"):
        await queue.enqueue(run)
        for queue_message in await queue.receive(10, 60, 0):
            await queue.move_to_dead_letters(queue_message, "trouble")
        clock.advance(100)
    await queue.purge_dead_letters(NOON + 100)
    assert [letter.run for letter in await queue.dead_letters(10)] == ["new"]


async def test_dead_letters_of_named_runs_are_deleted(queue: Queue) -> None:
    for run in ("ended", "other"):
        await queue.enqueue(run)
        for queue_message in await queue.receive(10, 60, 0):
            await queue.move_to_dead_letters(queue_message, "trouble")
    await queue.purge_dead_letters(0, ["ended", "unknown"])
    assert [letter.run for letter in await queue.dead_letters(10)] == ["other"]


async def deal_with(queue: Queue, queue_message: QueueMessage, how: str) -> None:
    match how:
        case "acknowledge":
            await queue.acknowledge(queue_message)
        case "move_to_dead_letters":
            await queue.move_to_dead_letters(queue_message, "too often")
        case _:
            await queue.extend(queue_message, 1_000)


async def test_delayed_queue_message_is_received_after_the_delay(queue: Queue, clock: SetClock) -> None:
    await queue.enqueue("r", delay=30)
    clock.advance(29)
    assert await received(queue) == []
    clock.advance(1)
    assert await received(queue) == [("r", 1)]


async def test_extended_queue_message_stays_invisible_longer(queue: Queue, clock: SetClock) -> None:
    await queue.enqueue("r")
    (queue_message,) = await queue.receive(10, 120, 0)
    clock.advance(100)
    await queue.extend(queue_message, 120)
    clock.advance(100)
    assert await received(queue) == []
    clock.advance(21)
    assert await received(queue) == [("r", 2)]


async def test_concurrent_receives_never_return_the_same_queue_message(queue: Queue) -> None:
    for i in range(20):
        await queue.enqueue(f"r{i}")
    batches = await asyncio.gather(*(queue.receive(3, 120, 0) for _ in range(10)))
    runs = [queue_message.run for batch in batches for queue_message in batch]
    assert sorted(runs) == sorted(f"r{i}" for i in range(20))


async def test_waiting_receive_returns_a_new_queue_message_at_once(queue: Queue) -> None:
    listening = asyncio.create_task(queue.receive(1, 120, 30))
    await asyncio.sleep(0.02)
    await queue.enqueue("r")
    async with asyncio.timeout(60):
        (queue_message,) = await listening
    assert queue_message.run == "r"


async def test_buried_queue_message_becomes_one_dead_letter(queue: Queue, clock: SetClock) -> None:
    for run in ("a", "b"):
        await queue.enqueue(run)
    for queue_message in await queue.receive(10, 60, 0):
        await queue.move_to_dead_letters(queue_message, f"trouble with {queue_message.run}")
        await queue.move_to_dead_letters(queue_message, "twice")
    clock.advance(1_000)
    assert await queue.receive(10, 60, 0) == []
    letters = await queue.dead_letters(10)
    assert {(letter.run, letter.reason, letter.at) for letter in letters} == {
        ("b", "trouble with b", NOON),
        ("a", "trouble with a", NOON),
    }
    assert len(await queue.dead_letters(1)) == 1
