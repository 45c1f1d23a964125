"""The queue of one invocation: a taken offer is held like a received message."""

import pytest

from gofer.app.functions.batch_queue import BatchQueue
from gofer.stores.memory.queue import MemoryQueue
from support.aws.worker_in_virtual_time import MemoryOffers
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio


async def test_taken_offer_is_hidden_for_the_whole_visibility_time() -> None:
    clock = SetClock()
    queue, offers = MemoryQueue(clock), MemoryOffers()
    await queue.enqueue("r")
    (held,) = await queue.receive(1, 120, 0)
    await offers.offer(held)
    clock.advance(100)
    taker = BatchQueue(queue, offers, batch=frozenset(), unanswered=set())
    assert list(await taker.receive(10, 120, 0)) == [held]
    clock.advance(119)
    assert list(await queue.receive(1, 120, 0)) == []
    await taker.acknowledge(held)
    clock.advance(2)
    assert list(await queue.receive(1, 120, 0)) == []
