import pytest

from gofer.stores.queue import QueueMessage
from gofer.stores.unread_queue import UnreadQueue

pytestmark = pytest.mark.anyio


async def test_unread_queue_stays_empty() -> None:
    queue = UnreadQueue()
    await queue.enqueue("a run")
    assert await queue.receive(10, 120, 0) == ()
    await queue.move_to_dead_letters(QueueMessage("a run", "1", 5), "poison")
    assert await queue.dead_letters(10) == ()
