"""Connection limits of the embedded server, over raw sockets."""

import asyncio
import logging
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from gofer.app.embedded.connection_limits import LINE_SECONDS, Bounds
from gofer.app.embedded.server import serve
from support.http.leaping_loop import LEAPING, Backend, leap

pytestmark = pytest.mark.anyio

LONG = 30_000_000
"""Bytes; more than the system's buffers on both sides take."""
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UPGRADE = (
    b"GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
HOUR = 3_600.0
BOUNDS = Bounds(header_seconds=HOUR)


@pytest.fixture
def anyio_backend() -> Backend:
    return LEAPING


class Work:
    """Requests that take long: how many have begun, and when they may end."""

    def __init__(self) -> None:
        self.begun = asyncio.Semaphore(0)
        self.ended = asyncio.Event()
        routes = [Route("/", long), Route("/slow", self.slow), WebSocketRoute("/socket", self.socket)]
        self.app = Starlette(routes=routes)

    async def slow(self, _: Request) -> Response:
        await self._take_long()
        return PlainTextResponse("at last")

    async def socket(self, accepted: WebSocket) -> None:
        await accepted.accept()
        await self._take_long()
        await accepted.send_text("at last")

    async def _take_long(self) -> None:
        self.begun.release()
        await self.ended.wait()

    async def take(self, seconds: float) -> None:
        """Let a request take this long."""
        await self.begun.acquire()
        for _ in range(3):
            leap(seconds / 3)
            await asyncio.sleep(0.01)
        self.ended.set()


async def long(_: Request) -> Response:
    return Response(b"x" * LONG)


async def opened(url: str, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=4096)
    writer.write(sent)
    return reader, writer


async def test_slow_reader_receives_a_long_response_whole() -> None:
    async with serve(Work().app, bounds=BOUNDS) as url:
        reader, writer = await opened(url, GET)
        await reader.readuntil(b"\r\n\r\n")
        got = 0
        while got < LONG:
            got += len(await reader.readexactly(LONG // 10))
            leap(HOUR)
            await asyncio.sleep(0.01)
        assert got == LONG
        writer.close()


async def test_connection_of_a_client_that_stops_reading_is_closed() -> None:
    async with serve(Work().app, bounds=BOUNDS) as url:
        reader, writer = await opened(url, GET)
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(20):
            leap(HOUR)
            await asyncio.sleep(0.01)
        got = 0
        with suppress(ConnectionResetError):
            while piece := await reader.read(65536):
                got += len(piece)
        assert got < LONG
        writer.close()


async def test_request_in_progress_outlives_the_header_timeout() -> None:
    work = Work()
    async with serve(work.app, bounds=BOUNDS) as url:
        reader, writer = await opened(url, GET.replace(b"/ ", b"/slow "))
        await work.take(3 * HOUR)
        assert b" 200 " in await reader.readline()
        writer.close()


async def test_accepted_websocket_outlives_the_header_timeout() -> None:
    work = Work()
    async with serve(work.app, bounds=Bounds(header_seconds=6), websockets=True) as url:
        reader, writer = await opened(url, UPGRADE)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        # wsproto's own pings end a connection that answers none for 20 seconds.
        await work.take(18)
        assert b"at last" in await reader.readuntil(b"at last")
        writer.close()


async def test_newest_connection_is_refused_when_all_connections_are_busy() -> None:
    work = Work()
    async with serve(work.app, bounds=Bounds(header_seconds=HOUR, connections=3)) as url:
        working = [await opened(url, GET.replace(b"/ ", b"/slow ")) for _ in range(3)]
        for _ in working:
            await work.begun.acquire()
        late, refused = await opened(url, b"")
        assert await late.read() == b""
        refused.close()
        work.ended.set()
        for reader, writer in working:
            assert b" 200 " in await reader.readline()
            writer.close()


async def test_closed_connections_of_a_burst_are_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    work = Work()
    caplog.set_level(logging.WARNING)
    async with serve(work.app, bounds=Bounds(header_seconds=HOUR, connections=3)) as url:
        busy = [await opened(url, GET.replace(b" / ", b" /slow ")) for _ in range(3)]
        for _ in busy:
            await work.begun.acquire()
        for _ in range(4):
            reader, writer = await opened(url, GET)
            with suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert caplog.messages == []
        leap(LINE_SECONDS)
        await asyncio.sleep(0.01)
        work.ended.set()
        for _, writer in busy:
            writer.close()
    (line,) = caplog.messages
    assert line.startswith("4 connections were closed in 5 s, because more than 3 were open at once")
