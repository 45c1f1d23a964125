"""SQS where it differs from other queues: malformed messages, dead letters and long delays."""

import json

import pytest

from gofer.stores.aws.queue import LONGEST_DELAY, SqsQueue, run_of
from gofer.values.errors import ConfigError
from support.aws.moto_server import RECEIVES, MotoClock, MotoCloud, aws, client

pytestmark = pytest.mark.anyio


@pytest.fixture
def cloud() -> MotoCloud:
    return MotoCloud(MotoClock())


MALFORMED = ["", " ", "not json", "[]", "null", "{}", '{"run": ""}', '{"run": 7}', '{"runs": "r"}', "[" * 100_000]


@pytest.mark.parametrize("body", MALFORMED[1:])
async def test_malformed_sqs_message_becomes_a_dead_letter_and_the_next_is_received(
    cloud: MotoCloud, body: str
) -> None:
    client("sqs").send_message(QueueUrl=cloud.url, MessageBody=body)
    await cloud.queue.enqueue("r")
    assert [queue_message.run for queue_message in await cloud.queue.receive(10, 120, 0)] == ["r"]
    (letter,) = await cloud.queue.dead_letters(10)
    assert (letter.run, letter.reason) == ("", "it names no run")
    cloud.clock.advance(1_000)
    assert [queue_message.run for queue_message in await cloud.queue.receive(10, 120, 0)] == ["r"]


@pytest.mark.parametrize("body", MALFORMED)
def test_sqs_message_body_is_a_json_object_with_a_run(body: str) -> None:
    assert run_of(body) is None
    assert run_of(json.dumps({"run": "r", "more": body})) == "r"


async def test_sqs_message_received_too_often_becomes_a_dead_letter(cloud: MotoCloud) -> None:
    await cloud.queue.enqueue("r")
    for times in range(1, RECEIVES + 1):
        (queue_message,) = await cloud.queue.receive(10, 120, 0)
        assert queue_message.receives == times
        cloud.clock.advance(121)
    assert list(await cloud.queue.receive(10, 120, 0)) == []
    (letter,) = await cloud.queue.dead_letters(10)
    assert (letter.run, letter.reason) == ("r", "it was received too often without an answer")
    assert letter.at > 0


async def test_listing_dead_letters_of_sqs_removes_no_message(cloud: MotoCloud) -> None:
    for number in range(25):
        client("sqs").send_message(QueueUrl=cloud.dead, MessageBody=json.dumps({"run": f"r{number}", "at": number}))
    for _ in range(2):
        assert [letter.run for letter in await cloud.queue.dead_letters(3)] == ["r24", "r23", "r22"]
    await cloud.queue.purge_dead_letters(24)
    assert [letter.run for letter in await cloud.queue.dead_letters(30)] == ["r24"]


async def test_sqs_message_delay_is_limited_to_the_maximum_of_sqs(cloud: MotoCloud) -> None:
    await cloud.queue.enqueue("r", delay=86_400)
    cloud.clock.advance(LONGEST_DELAY - 5)
    assert list(await cloud.queue.receive(10, 120, 0)) == []
    cloud.clock.advance(5.1)
    assert [queue_message.run for queue_message in await cloud.queue.receive(10, 120, 0)] == ["r"]


async def test_delayed_sqs_message_is_not_sent_again_until_received(cloud: MotoCloud) -> None:
    for _ in range(3):
        await cloud.queue.enqueue("r", delay=60)
        cloud.clock.advance(10)
    await cloud.queue.enqueue("r", delay=29)
    await cloud.queue.enqueue("other", delay=60)
    cloud.clock.advance(31)
    assert [queue_message.run for queue_message in await cloud.queue.receive(10, 120, 0)] == ["r", "r"]
    await cloud.queue.enqueue("r", delay=60)
    cloud.clock.advance(61)
    assert sorted(queue_message.run for queue_message in await cloud.queue.receive(10, 30, 0)) == ["other", "r"]


@pytest.mark.parametrize("late", ["acknowledge", "move_to_dead_letters", "extend"])
async def test_expired_receipt_cannot_remove_another_sqs_message(cloud: MotoCloud, late: str) -> None:
    await cloud.queue.enqueue("r")
    (mine,) = await cloud.queue.receive(10, 120, 0)
    cloud.clock.advance(121)
    await cloud.queue.enqueue("r")
    match late:
        case "acknowledge":
            await cloud.queue.acknowledge(mine)
        case "move_to_dead_letters":
            await cloud.queue.move_to_dead_letters(mine, "too often")
        case _:
            await cloud.queue.extend(mine, 1_000)
    assert "r" in [queue_message.run for queue_message in await cloud.queue.receive(10, 120, 0)]


async def test_missing_sqs_queue_is_reported(cloud: MotoCloud) -> None:
    queue = SqsQueue(aws(), client("sqs"), f"{cloud.url}-nowhere", cloud.dead, cloud.clock)
    with pytest.raises(ConfigError, match="GOFER_QUEUE_URL"):
        await queue.enqueue("r")


async def test_sqs_message_is_received_beside_a_malformed_message_that_cannot_become_a_dead_letter(
    cloud: MotoCloud,
) -> None:
    client("sqs").send_message(QueueUrl=cloud.url, MessageBody="not json")
    await cloud.queue.enqueue("r")
    queue = SqsQueue(aws(), client("sqs"), cloud.url, f"{cloud.dead}-away", cloud.clock)
    assert [queue_message.run for queue_message in await queue.receive(10, 120, 0)] == ["r"]
