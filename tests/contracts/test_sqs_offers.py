"""The offers of workers on SQS: each has one taker, who holds the offered message itself."""

import json

import pytest
from botocore.exceptions import EndpointConnectionError

from gofer.stores.aws.offers import RETENTION, SqsOffers
from gofer.stores.aws.queue import SqsClient
from gofer.stores.queue import QueueMessage
from gofer.values.errors import ConfigError
from support.aws.moto_server import MotoClock, MotoCloud, aws, client

pytestmark = pytest.mark.anyio


@pytest.fixture
def cloud() -> MotoCloud:
    return MotoCloud(MotoClock())


@pytest.fixture
def offers(cloud: MotoCloud) -> SqsOffers:
    return SqsOffers(aws(), client("sqs"), cloud.offers)


async def test_taker_of_an_offer_extends_and_acknowledges_the_message_in_the_queue(
    cloud: MotoCloud, offers: SqsOffers
) -> None:
    await cloud.queue.enqueue("r")
    (held,) = await cloud.queue.receive(10, 120, 0)
    await offers.offer(held)
    (taken,) = await offers.take(10, 1)
    assert taken == held
    cloud.clock.advance(100)
    await cloud.queue.extend(taken, 120)
    cloud.clock.advance(100)
    assert list(await cloud.queue.receive(10, 120, 0)) == []
    await cloud.queue.acknowledge(taken)
    cloud.clock.advance(200)
    assert list(await cloud.queue.receive(10, 120, 0)) == []


async def test_message_of_a_taker_that_stops_comes_back_to_the_queue(cloud: MotoCloud, offers: SqsOffers) -> None:
    await cloud.queue.enqueue("r")
    (held,) = await cloud.queue.receive(10, 120, 0)
    await offers.offer(held)
    await offers.take(10, 1)
    cloud.clock.advance(121)
    (again,) = await cloud.queue.receive(10, 120, 0)
    assert (again.run, again.receives) == ("r", 2)


async def test_offer_has_one_taker_and_does_not_come_back(cloud: MotoCloud, offers: SqsOffers) -> None:
    for number in range(12):
        await offers.offer(QueueMessage(f"r{number}", f"receipt {number}", 1))
    taken = [*await offers.take(20, 0), *await offers.take(20, 0)]
    assert sorted(one.receipt for one in taken) == sorted(f"receipt {number}" for number in range(12))
    cloud.clock.advance(RETENTION + 1)
    assert list(await offers.take(20, 0)) == []


@pytest.mark.parametrize(
    "body", [" ", "not json", "[]", "{}", '{"run": "r"}', '{"run": "r", "receipt": "x", "receives": "1"}']
)
async def test_malformed_offer_is_ignored_and_the_next_is_taken(
    cloud: MotoCloud, offers: SqsOffers, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    client("sqs").send_message(QueueUrl=cloud.offers, MessageBody=body)
    client("sqs").send_message(
        QueueUrl=cloud.offers, MessageBody=json.dumps({"run": "r", "receipt": "x", "receives": 1})
    )
    assert list(await offers.take(10, 0)) == [QueueMessage("r", "x", 1)]
    assert "an offer names no message of the queue" in caplog.text


async def test_missing_queue_of_offers_is_named(cloud: MotoCloud) -> None:
    with pytest.raises(ConfigError, match="GOFER_OFFERS_URL"):
        await SqsOffers(aws(), client("sqs"), f"{cloud.offers}-nowhere").take(1, 0)


class Undeletable:
    """A client of SQS whose requests to delete get no answer."""

    def __init__(self, reached: SqsClient) -> None:
        self.send_message = reached.send_message
        self.receive_message = reached.receive_message
        self.change_message_visibility = reached.change_message_visibility

    def delete_message(self, **arguments: object) -> None:
        raise EndpointConnectionError(endpoint_url=str(arguments["QueueUrl"]))


async def test_offer_that_cannot_be_deleted_is_taken_and_does_not_come_back(cloud: MotoCloud) -> None:
    offers = SqsOffers(aws(), Undeletable(client("sqs")), cloud.offers)
    await offers.offer(QueueMessage("r", "x", 1))
    assert list(await offers.take(10, 0)) == [QueueMessage("r", "x", 1)]
    cloud.clock.advance(RETENTION - 1)
    assert list(await offers.take(10, 0)) == []
