"""Whose connections are ended, and whose are not, over raw sockets."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from gofer.local.lobby import Bounds
from gofer.local.server import serve

pytestmark = pytest.mark.anyio

LONG = 30_000_000
"""Bytes; more than the system's buffers on both sides take."""
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UPGRADE = (
    b"GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
SOON = Bounds(header_seconds=0.3)


async def long(_: Request) -> Response:
    return Response(b"x" * LONG)


async def slow(_: Request) -> Response:
    await asyncio.sleep(1)
    return PlainTextResponse("at last")


async def socket(accepted: WebSocket) -> None:
    await accepted.accept()
    await asyncio.sleep(1)
    await accepted.send_text("at last")


APP = Starlette(routes=[Route("/", long), Route("/slow", slow), WebSocketRoute("/socket", socket)])


async def opened(url: str, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=4096)
    writer.write(sent)
    return reader, writer


async def test_a_slow_reader_gets_all_of_a_long_answer() -> None:
    async with serve(APP, bounds=SOON) as url:
        reader, writer = await opened(url, GET)
        await reader.readuntil(b"\r\n\r\n")
        got = 0
        while got < LONG:
            got += len(await reader.readexactly(LONG // 10))
            await asyncio.sleep(0.1)
        assert got == LONG
        writer.close()


async def test_who_reads_nothing_of_an_answer_does_not_hold_the_connection() -> None:
    async with serve(APP, bounds=SOON) as url:
        reader, writer = await opened(url, GET)
        await asyncio.sleep(1.2)
        got = 0
        with suppress(ConnectionResetError):
            while piece := await reader.read(65536):
                got += len(piece)
        assert got < LONG
        writer.close()


async def test_a_request_at_work_may_take_its_time() -> None:
    async with serve(APP, bounds=SOON) as url:
        reader, writer = await opened(url, GET.replace(b"/ ", b"/slow "))
        assert b" 200 " in await reader.readline()
        writer.close()


async def test_an_accepted_websocket_is_not_waiting_for_a_request() -> None:
    async with serve(APP, bounds=SOON, websockets=True) as url:
        reader, writer = await opened(url, UPGRADE)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        assert b"at last" in await reader.readuntil(b"at last")
        writer.close()


async def test_when_all_places_are_at_work_the_newest_connection_is_refused() -> None:
    async with serve(APP, bounds=Bounds(connections=3)) as url:
        working = [await opened(url, GET.replace(b"/ ", b"/slow ")) for _ in range(3)]
        await asyncio.sleep(0.1)
        late, refused = await opened(url, b"")
        assert await asyncio.wait_for(late.read(), 0.5) == b""
        refused.close()
        for reader, writer in working:
            assert b" 200 " in await reader.readline()
            writer.close()
