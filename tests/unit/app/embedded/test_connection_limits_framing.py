"""Request framing: the header limit for any packet sizes, and one length per request."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from gofer.app.embedded.connection_limits import HEADER_BYTES
from gofer.app.embedded.server import serve

pytestmark = pytest.mark.anyio

START = b"POST /read HTTP/1.1\r\nHost: a\r\n"
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"
LARGE = HEADER_BYTES + 1
ASK = b"GET /early HTTP/1.1\r\nHost: a\r\n\r\n"


async def read(request: Request) -> Response:
    try:
        return PlainTextResponse(f"read {len(await request.body())}")
    except ClientDisconnect:
        return Response(status_code=500)


async def early(_: Request) -> Response:
    """Answer without reading the body."""
    return PlainTextResponse("early")


APP = Starlette(routes=[Route("/read", read, methods=["POST"]), Route("/early", early, methods=["GET", "POST"])])


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with serve(APP) as url:
        at = urlsplit(url)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        yield reader, writer
        writer.close()


async def answers(*pieces: bytes) -> list[bytes]:
    """Return the response statuses to pieces sent one after the other, until the server closes."""
    async with connected() as (reader, writer):
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                # The server reads what came so far.
                await asyncio.sleep(0.001)
            async with asyncio.timeout(10):
                said = await reader.read()
        except ConnectionError:
            said = b""
    return re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", said)


def drips(request: bytes, size: int) -> list[bytes]:
    return [request[at : at + size] for at in range(0, len(request), size)]


LINE = b"X-Long: " + b"x" * LARGE + b"\r\n"
MANY = b"".join(b"X-%d: y\r\n" % number for number in range(LARGE // 8))
BLANKS = b"X-Blank: " + b" " * LARGE + b"y\r\n"
FOLDED = b"X-Folded: y\r\n" + b" y\r\n" * LARGE


@pytest.mark.parametrize("headers", [LINE, MANY, BLANKS, FOLDED], ids=["one", "many", "blanks", "folded"])
@pytest.mark.parametrize("size", [10**6, HEADER_BYTES - 1, 997], ids=["one packet", "two packets", "drips"])
async def test_headers_above_the_limit_are_refused_in_any_packet_size(headers: bytes, size: int) -> None:
    request = START + headers + b"Content-Length: 0\r\n\r\n"
    assert await answers(*drips(request, size)) in ([b"400"], [])
    assert await answers(request) == [b"400"]


async def test_path_above_the_limit_is_refused() -> None:
    assert await answers(b"GET /" + b"x" * LARGE + b" HTTP/1.1\r\nHost: a\r\n\r\n") == [b"400"]


@pytest.mark.parametrize("size", [10**6, 997], ids=["one packet", "drips"])
async def test_trailers_above_the_limit_are_refused(size: int) -> None:
    request = CHUNKED + b"1\r\nx\r\n0\r\n" + MANY + b"\r\n"
    assert await answers(*drips(request, size)) in ([b"400"], [])
    assert await answers(request) == [b"400"]


async def test_chunk_extension_counts_towards_the_header_limit() -> None:
    assert await answers(CHUNKED + b"1;" + b"x" * LARGE + b"\r\nx\r\n0\r\n\r\n") == [b"400"]


async def test_header_limit_holds_for_later_requests_of_a_connection() -> None:
    large = START + LINE + b"Content-Length: 0\r\n\r\n"
    assert await answers(ASK, large) == [b"200", b"400"]
    assert await answers(ASK + large) == [b"200", b"400"]


async def test_headers_and_bodies_below_the_limit_are_read() -> None:
    headers = b"X-Long: " + b"x" * (HEADER_BYTES - 500) + b"\r\nConnection: close\r\n"
    body = b"x" * 900_000
    for size in (10**7, 50_000):
        assert await answers(*drips(START + headers + b"Content-Length: 900000\r\n\r\n" + body, size)) == [b"200"]
    closing = START + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n" % 90_000 + body[:90_000] + b"\r\n" for _ in range(10))
    assert await answers(closing + chunks + b"0\r\nX-Trailer: y\r\n\r\n") == [b"200"]
    # The limit is for the header of each chunk, not for the sum.
    assert await answers(closing + b"1\r\nx\r\n" * HEADER_BYTES + b"0\r\n\r\n") == [b"200"]


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        b"transfer-ENCODING: chunked\r\ncontent-LENGTH: 5\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: 3, 4\r\n",
        b"Content-Length: +3\r\n",
        b"Content-Length: 0x3\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: identity\r\nContent-Length: 3\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
    ],
)
async def test_request_with_ambiguous_length_is_refused_and_the_rest_is_not_read(lines: bytes) -> None:
    assert await answers(START + lines + b"\r\n0\r\n\r\n" + ASK) == [b"400"]


async def test_chunked_http_1_0_request_is_refused() -> None:
    assert await answers(CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n") == [b"400"]


@pytest.mark.parametrize("path", [b"/early", b"/read"])
@pytest.mark.parametrize("rest", [b"zz\r\n", b"1\r\nxzz", b"0\r\n" + MANY + b"\r\n"])
async def test_malformed_chunked_body_logs_no_server_error(
    path: bytes, rest: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    request = CHUNKED.replace(b"/read", path)
    with caplog.at_level(logging.DEBUG):
        for pieces in ((request + rest,), (request, rest), (request + b"1\r\nx\r\n", rest)):
            assert await answers(*pieces) in ([b"400"], [b"200"])
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
