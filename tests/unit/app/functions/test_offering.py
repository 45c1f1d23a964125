"""What a new worker does with offers: its own ones, and those of other new workers."""

import asyncio
import logging

import pytest

from gofer.app.functions.offering import offer_to_others
from gofer.stores.queue import QueueMessage
from gofer.values.errors import ConfigError, TemporaryError
from support.aws.worker_in_virtual_time import MemoryOffers, play
from support.simulation.virtual_time import VirtualClock

OWN = QueueMessage("0" * 24, "own", 1)
FOREIGN = QueueMessage("1" * 24, "foreign", 1)


@pytest.mark.parametrize("error", [TemporaryError("busy"), ConfigError("not allowed")])
def test_failed_offer_of_another_worker_leaves_a_taken_message_with_its_taker(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(clock: VirtualClock) -> None:
        offers = MemoryOffers()
        await offers.offer(FOREIGN)
        # The own message is offered, and the foreign one is taken and cannot be offered again.
        offers.fails = [None, None, error]
        asking = asyncio.create_task(offer_to_others(offers, [OWN]))
        await asyncio.sleep(0.1)
        offers.offered.remove(OWN)
        assert await asking == []

    with caplog.at_level(logging.WARNING):
        play(story)
    assert "a message could not be offered to other workers" in caplog.text
