"""Misbehaving model servers over real sockets: each failure is a known error and is bounded in time and size."""

import asyncio
import gzip
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from gofer.app.http import http_client
from gofer.models.language_model import Access, Unavailable, Unusable
from gofer.models.remote import ANSWER_BYTES, RemoteEndpoint, remote_endpoint
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret

pytestmark = pytest.mark.anyio

Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]
HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@asynccontextmanager
async def model(behave: Behaviour) -> AsyncIterator[tuple[RemoteEndpoint, list[bytes]]]:
    """Serve a model with the given behaviour, and yield it with the heads of its requests."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            await behave(writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with http_client(DIRECT) as http:
            yield remote_endpoint(http, f"http://127.0.0.1:{port}/v1", Access(key=Secret("k"))), heads
    finally:
        server.close()


def sends(*parts: bytes) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return behave


def answer(status: str, body: bytes, *headers: str) -> Behaviour:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return sends("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def reset(writer: asyncio.StreamWriter) -> None:
    """Send half of an answer, and reset the connection."""
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"choices": [')
    await writer.drain()
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


def flood(status: str) -> Behaviour:
    """Send a body without an end."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nconnection: close\r\n\r\n".encode())
        while True:
            writer.write(b" " * 1_000_000)
            await writer.drain()

    return behave


PACKED = gzip.compress(b" " * (5 * ANSWER_BYTES))


@pytest.mark.parametrize(
    ("behave", "error", "hint"),
    [
        (hang, Unavailable, "did not answer within"),
        (drip, Unavailable, "did not answer within"),
        (reset, Unavailable, "could not be reached"),
        (sends(), Unavailable, "could not be reached"),
        (sends(b"SSH-2.0-OpenSSH_9.6\r\n"), Unavailable, "could not be reached"),
        (sends(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}"), Unavailable, "could not be reached"),
        (sends(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), Unavailable, "could not be reached"),
        (sends(b"HTTP/1.1 200 OK\r\nx: " + b"x" * 1_000_000 + b"\r\n\r\n"), Unavailable, "could not be reached"),
        (answer("502 Bad Gateway", HTML, "content-type: text/html"), Unavailable, "HTTP 502"),
        (answer("500 Oops", b"[" * 100_000), Unavailable, "HTTP 500"),
        (answer("500 Oops", PACKED, "content-encoding: gzip"), Unavailable, "HTTP 500"),
        (flood("500 Oops"), Unavailable, "HTTP 500"),
        (answer("200 OK", HTML, "content-type: text/html"), Unusable, "not JSON"),
        (answer("200 OK", b"\xff\xfe", "content-type: application/json; charset=no-such"), Unusable, "not JSON"),
        (answer("200 OK", b"[" * 100_000), Unusable, "not JSON"),
        (answer("200 OK", PACKED, "content-encoding: gzip"), Unusable, "not JSON"),
        (answer("200 OK", b'{"choices": []}'), Unusable, "no choices"),
        (answer("204 No Content", b""), Unusable, "not JSON"),
        (flood("200 OK"), Unusable, "larger than"),
        (answer("302 Found", b"", "location: http://127.0.0.1/elsewhere"), Unusable, "HTTP 302"),
        (answer("404 Not Found", HTML), Unusable, "HTTP 404"),
    ],
)
async def test_misbehaving_model_server_raises_a_known_error_in_time(behave: Behaviour, error: type, hint: str) -> None:
    seconds = 0.3 if behave in (hang, drip) else 20
    async with model(behave) as (asked, heads):
        with pytest.raises(error, match=hint) as raised:
            await asked.ask(b"{}", seconds)
    assert type(raised.value) is error
    assert len(heads) == 1


async def test_model_request_accepts_no_compressed_answer() -> None:
    async with model(answer("200 OK", b'{"choices": [{"message": {"content": "hi"}}]}')) as (asked, heads):
        assert (await asked.ask(b"{}", 20)).text == "hi"
    assert b"\r\naccept-encoding: identity\r\n" in heads[0].lower()


async def test_model_connection_is_reused_after_an_answer() -> None:
    body = b'{"choices": [{"message": {"content": "hi"}}]}'
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(2)
                assert b"content-length: 2" in head.lower()
                writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        except asyncio.IncompleteReadError:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, http_client(DIRECT) as http:
        port = server.sockets[0].getsockname()[1]
        asked = remote_endpoint(http, f"http://127.0.0.1:{port}/v1", Access(key=Secret("k")))
        for _ in range(3):
            await asked.ask(b"{}", 20)
    assert connections == 1
