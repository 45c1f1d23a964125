"""The memory that the bodies of all open requests share, so that unverified senders take no more together.

A body counts for the bytes of it that arrived, until its request is answered. When the memory is full, the bodies that
have been arriving longest make room, because vendors send theirs at once.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager

from gofer.values.errors import BadRequest

MEMORY = 64_000_000
"""Bytes that bodies take together at most."""
SECONDS = 10.0
"""How long a body may take to arrive."""
RETRY_AFTER = 5
"""Seconds after which a sender that found no room comes again."""


class _Arriving:
    """One body while it arrives."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.size = 0
        """Bytes that it takes of the memory; also when they were passed on."""
        self.deadline = asyncio.timeout(SECONDS)
        self.dropped = False

    def drop(self) -> None:
        """Let go of what arrived, and end the wait for the rest."""
        self.dropped = True
        self.bytes.clear()
        if not self.deadline.expired():
            self.deadline.reschedule(asyncio.get_running_loop().time())


class Bodies:
    """The bodies of one server."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._taken = 0
        self._arriving: dict[_Arriving, None] = {}
        """Those that are not whole yet, the oldest first."""

    @asynccontextmanager
    async def received(self, chunks: AsyncIterable[bytes], limit: int) -> AsyncGenerator[bytes]:
        """Yield a whole body, or enough of it to know that it is above the limit, and keep its room during the block.

        Raises BadRequest(408) for one that takes too long, and BadRequest(503) for one that finds no room.
        """
        body = _Arriving()
        self._arriving[body] = None
        try:
            yield await self._whole(body, chunks, limit)
        finally:
            self._release(body)

    async def _whole(self, body: _Arriving, chunks: AsyncIterable[bytes], limit: int) -> bytes:
        try:
            async with body.deadline:
                async for chunk in chunks:
                    self._take(body, len(chunk))
                    body.bytes += chunk
                    if body.size > limit:
                        break
        except TimeoutError as error:
            if body.dropped:
                raise _no_room() from error
            raise BadRequest(408, "The body came too slowly.", code="body_too_slow") from error
        if body.dropped:
            raise _no_room()
        del self._arriving[body]
        whole = bytes(body.bytes)
        body.bytes.clear()
        return whole

    def _take(self, body: _Arriving, size: int) -> None:
        """Count bytes of a body that arrived. Raises BadRequest(503) where no older body can make room for them."""
        while not body.dropped and self._taken + size > self._memory:
            oldest = next(iter(self._arriving))
            oldest.drop()
            self._release(oldest)
        if body.dropped:
            raise _no_room()
        body.size += size
        self._taken += size

    def _release(self, body: _Arriving) -> None:
        self._arriving.pop(body, None)
        self._taken -= body.size
        body.size = 0


def _no_room() -> BadRequest:
    said = "Too many bodies arrive at the same time. Send it again in a few seconds."
    return BadRequest(503, said, code="body_without_room")
