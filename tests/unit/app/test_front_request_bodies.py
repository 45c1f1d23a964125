"""The memory limit shared by request bodies: eviction and release."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.front import SECONDS, Bodies
from gofer.values.errors import BadRequest
from support.http.leaping_loop import LEAPING, Backend, leap

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> Backend:
    return LEAPING


class Sender:
    """A request body sent step by step."""

    def __init__(self, bodies: Bodies, limit: int = 1_000) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._answered = asyncio.Event()
        self.got = b""
        self.task = asyncio.create_task(self._receive(bodies, limit))

    async def _receive(self, bodies: Bodies, limit: int) -> int:
        try:
            async with bodies.received(self._stream(), limit) as body:
                self.got = body
                await self._answered.wait()
                return 200
        except BadRequest as error:
            return error.status

    async def _stream(self) -> AsyncGenerator[bytes]:
        while chunk := await self._chunks.get():
            yield chunk

    async def send(self, *chunks: bytes) -> None:
        """Send bytes; empty ones are the end of the body."""
        for chunk in chunks:
            self._chunks.put_nowait(chunk)
        for _ in range(5):
            await asyncio.sleep(0)

    async def status(self) -> int:
        """Let the handler answer, and return the status."""
        self._answered.set()
        return await self.task


async def test_request_bodies_below_the_shared_limit_arrive_whole() -> None:
    bodies = Bodies(100)
    senders = [Sender(bodies) for _ in range(10)]
    for number, sender in enumerate(senders):
        await sender.send(b"%d" % number * 5, b"%d" % number * 5, b"")
    assert [sender.got for sender in senders] == [b"%d" % number * 10 for number in range(10)]
    assert [await sender.status() for sender in senders] == [200] * 10


async def test_slowest_request_body_is_dropped_for_a_new_one() -> None:
    bodies = Bodies(100)
    slow, second = Sender(bodies), Sender(bodies)
    await slow.send(b"x" * 60)
    await second.send(b"y" * 30)
    newest = Sender(bodies)
    await newest.send(b"z" * 20, b"")
    assert (newest.got, await newest.status()) == (b"z" * 20, 200)
    assert await slow.status() == 503
    await second.send(b"")
    assert (second.got, await second.status()) == (b"y" * 30, 200)


@pytest.mark.parametrize("ends_first", [False, True])
async def test_request_body_that_ends_while_being_dropped_is_never_truncated(ends_first: bool) -> None:
    bodies = Bodies(100)
    slow, newest = Sender(bodies), Sender(bodies)
    await slow.send(b"x" * 60)
    # In one turn of the loop, one body ends and the other needs its room.
    chunks = [(newest, b"z" * 60), (slow, b"")]
    for sender, chunk in reversed(chunks) if ends_first else chunks:
        sender._chunks.put_nowait(chunk)
    await newest.send(b"")
    whole, dropped = (slow, newest) if ends_first else (newest, slow)
    assert (len(whole.got), dropped.got) == (60, b"")
    assert (await whole.status(), await dropped.status()) == (200, 503)


async def test_complete_request_body_counts_until_the_response() -> None:
    bodies = Bodies(100)
    whole = Sender(bodies)
    await whole.send(b"x" * 90, b"")
    late = Sender(bodies)
    await late.send(b"y" * 20, b"")
    assert await late.status() == 503
    assert await whole.status() == 200
    again = Sender(bodies)
    await again.send(b"y" * 100, b"")
    assert await again.status() == 200


async def test_slow_request_body_times_out_and_frees_memory() -> None:
    bodies = Bodies(100)
    slow = Sender(bodies)
    await slow.send(b"x" * 100)
    leap(SECONDS)
    assert await slow.status() == 408
    other = Sender(bodies)
    await other.send(b"y" * 100, b"")
    assert await other.status() == 200


async def test_request_body_above_the_limit_is_read_only_just_past_the_limit() -> None:
    sender = Sender(Bodies(1_000), limit=10)
    await sender.send(b"x" * 8, b"x" * 8, b"x" * 8)
    assert (len(sender.got), await sender.status()) == (16, 200)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 70), st.booleans()), max_size=40))
def test_shared_limit_of_request_bodies_is_never_exceeded_and_all_memory_is_freed(
    steps: list[tuple[int, int, bool]],
) -> None:
    async def story() -> None:
        bodies = Bodies(100)
        senders = [Sender(bodies) for _ in range(5)]
        for which, size, ending in steps:
            await senders[which].send(b"x" * size, *([b""] if ending and size else []))
            held = sum(len(sender.got) for sender in senders if not sender.task.done())
            assert held <= bodies._taken <= 100
        for sender in senders:
            sender.task.cancel()
        await asyncio.gather(*(sender.task for sender in senders), return_exceptions=True)
        assert (bodies._taken, len(bodies._arriving)) == (0, 0)

    asyncio.run(story())
