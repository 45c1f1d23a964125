"""The HTTP front of a running Gofer: limits on bodies, headers and connections, statuses, and pages."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gofer.app.embedded.connection_limits import Bounds
from gofer.app.pages.page_frame import HEADERS
from gofer.journal.coordination import Head
from gofer.sources.receiver import BODY_LIMIT
from support.app.company import Company, company
from support.http.leaping_loop import LEAPING, Backend, leap

pytestmark = pytest.mark.anyio

HOUR = 3_600.0
"""The header timeout of tests that move the clock; nothing else takes that long."""


@pytest.fixture
def anyio_backend() -> Backend:
    return LEAPING


async def exchange(made: Company, *pieces: bytes) -> bytes:
    """Send pieces over one connection without an end; return the first line of the response."""
    url = urlsplit(made.embedded.url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(60):
            return await reader.readline()
    finally:
        writer.close()


def head(*lines: bytes) -> bytes:
    return b"\r\n".join([b"POST /slack/events HTTP/1.1", b"Host: gofer", *lines, b"", b""])


async def test_chunked_body_over_the_limit_is_refused_before_the_end_arrives(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        sent = [chunk] * (BODY_LIMIT // 0x10000 + 2)
        assert b" 413 " in await exchange(made, head(b"Transfer-Encoding: chunked"), *sent)


async def test_declared_body_length_over_the_limit_is_refused_at_once(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        assert b" 413 " in await exchange(made, head(b"Content-Length: 1000000000"), b"{}")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (head(b"Content-Length: 2") + b"{}", b" 401 "),
        (head(b"Content-Length: x"), b" 400 "),
        (head(b"Content-Length: 2", b"X-Slack-Signature: v0=a", b"X-Slack-Signature: v0=b") + b"{}", b" 401 "),
        (b"GET /slack/events HTTP/1.1\r\nHost: gofer\r\n\r\n", b" 405 "),
        (b"POST /nowhere HTTP/1.1\r\nHost: gofer\r\nContent-Length: 0\r\n\r\n", b" 404 "),
        (b"GET /healthz HTTP/1.1\r\nHost: gofer\r\n\r\n", b" 200 "),
        (b"GET /runs/%2e%2e%2f HTTP/1.1\r\nHost: gofer\r\n\r\n", b" 4"),
    ],
)
async def test_raw_request_without_a_valid_proof_gets_the_right_status_and_starts_no_run(
    tmp_path: Path, request_: bytes, status: bytes
) -> None:
    async with company(tmp_path, work=False) as made:
        assert status in await exchange(made, request_)
        assert await made.embedded.state.store.heads(1, private=True) == []


@pytest.mark.parametrize("path", ["/runs", "/runs/none", "/prompts/answer-here", "/nowhere"])
async def test_every_page_has_the_security_headers_and_no_script(tmp_path: Path, path: str) -> None:
    async with company(tmp_path, work=False) as made:
        answer = await made.get(path)
        assert HEADERS.items() <= dict(answer.headers).items()
        assert "<script" not in answer.text


async def test_run_list_leaves_out_an_unreadable_row_and_logs_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        for run in ("run1", "run2"):
            await made.embedded.state.store.create_head(Head(run, "answer-here", "c", 1, private=False))
        with closing(sqlite3.connect(tmp_path / "state" / "gofer.db")) as connection, connection:
            connection.execute("UPDATE heads SET updated_at = x'00' WHERE run = 'run1'")
        page = await made.get("/runs")
        assert (page.status_code, "run1" in page.text, "run2" in page.text) == (200, False, True)
    assert "The list row of run run1 is damaged; restore gofer.db from a backup." in caplog.text


async def test_unreadable_run_list_answers_503_and_logs_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        with closing(sqlite3.connect(tmp_path / "state" / "gofer.db")) as connection, connection:
            connection.execute("DROP TABLE heads")
        page = await made.get("/runs")
        assert page.status_code == 503
        assert page.text == (
            "Gofer cannot show this page, because it cannot read its state now. The reason is in Gofer's log.\n"
        )
        assert (await made.get("/healthz")).status_code == 200
    assert "gofer.db cannot be read (no such table: heads)" in caplog.text


HALF = b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nX-Slack-Sig"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connections(made: Company, count: int, *sent: bytes) -> AsyncIterator[list[Connection]]:
    """Open connections at once, and send the same bytes on each."""
    url = urlsplit(made.embedded.url)
    opened: list[Connection] = []
    try:
        for _ in range(count):
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            opened.append((reader, writer))
            writer.write(b"".join(sent))
            await writer.drain()
        yield opened
    finally:
        for _, writer in opened:
            writer.close()


async def end(connection: Connection) -> bytes:
    """Return the bytes of a connection until the other side closes it."""
    try:
        async with asyncio.timeout(60):
            return await connection[0].read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("sent", [b"", b"G", HALF, HALF + b": v0\r\n"])
async def test_half_sent_requests_are_closed_in_time_while_others_are_answered(tmp_path: Path, sent: bytes) -> None:
    async with company(tmp_path, work=False, bounds=Bounds(header_seconds=HOUR)) as made:
        async with connections(made, 60, sent) as opened:
            assert (await made.get("/healthz")).status_code == 200
            assert not any(reader.at_eof() for reader, _ in opened)
            leap(HOUR)
            assert await asyncio.gather(*map(end, opened)) == [b""] * 60
        assert (await made.get("/healthz")).status_code == 200


async def test_request_that_trickles_in_is_closed_at_the_header_timeout(tmp_path: Path) -> None:
    async with (
        company(tmp_path, work=False, bounds=Bounds(header_seconds=HOUR)) as made,
        connections(made, 1, HALF) as ((reader, writer),),
    ):
        for _ in range(10):
            leap(HOUR / 10)
            writer.write(b"x")
            # After a response on another connection, the byte was read on this one.
            assert (await made.get("/healthz")).status_code == 200
        assert await end((reader, writer)) == b""


async def test_second_request_on_a_connection_gets_the_full_header_timeout(tmp_path: Path) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: gofer\r\n\r\n"
    async with (
        company(tmp_path, work=False, bounds=Bounds(header_seconds=HOUR)) as made,
        connections(made, 1, whole) as ((reader, writer),),
    ):
        for _ in range(4):
            assert b" 200 " in await reader.readline()
            assert (await reader.readuntil(b"ok\n")).endswith(b"ok\n")
            # A first byte ends uvicorn's keep-alive timeout. A response on another connection shows that it was read.
            writer.write(whole[:1])
            assert (await made.get("/healthz")).status_code == 200
            # All rounds together take longer than one header timeout.
            leap(HOUR / 2)
            assert (await made.get("/healthz")).status_code == 200
            writer.write(whole[1:])
        await reader.readuntil(b"ok\n")
        writer.write(HALF)
        assert (await made.get("/healthz")).status_code == 200
        leap(HOUR)
        assert await end((reader, writer)) == b""


async def test_unread_body_after_a_response_does_not_hold_the_connection(tmp_path: Path) -> None:
    declared = b"GET /healthz HTTP/1.1\r\nHost: gofer\r\nContent-Length: 1000\r\n\r\nx"
    async with (
        company(tmp_path, work=False, bounds=Bounds(header_seconds=HOUR)) as made,
        connections(made, 1, declared) as ((reader, writer),),
    ):
        assert b" 200 " in await reader.readline()
        await reader.readuntil(b"ok\n")
        for _ in range(4):
            leap(HOUR / 4)
            writer.write(b"x")
            assert (await made.get("/healthz")).status_code == 200
        assert await end((reader, writer)) == b""


async def test_connection_limit_closes_the_longest_idle_and_spares_requests_under_way(tmp_path: Path) -> None:
    bounds = Bounds(header_seconds=60, connections=20)
    body = head(b"Content-Length: 2") + b"{"
    async with (
        company(tmp_path, work=False, bounds=bounds) as made,
        connections(made, 1, body) as ((reader, writer),),
        connections(made, 50, HALF) as opened,
    ):
        assert (await made.get("/healthz")).status_code == 200
        # Of twenty places, one has a request with an unfinished body, and one had the request just answered.
        assert await asyncio.gather(*map(end, opened[:32])) == [b""] * 32
        assert not any(reader.at_eof() for reader, _ in opened[32:])
        writer.write(b"}")
        assert b" 401 " in await reader.readline()


async def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        assert b" 400 " in await exchange(made, HALF + b": " + b"x" * 20_000)


async def test_first_refused_delivery_is_logged_and_the_rest_are_counted_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gofer")
    forged = head(b"Content-Length: 2", b"X-Slack-Request-Timestamp: 1", b"X-Slack-Signature: v0=" + b"0" * 64) + b"{}"
    async with company(tmp_path, work=False) as made:
        for _ in range(5):
            assert b" 401 " in await exchange(made, forged)
        told = [message for message in caplog.messages if "refused" in message]
    line = "to /slack/events refused"
    assert [message.partition(line)[0] for message in told] == ["1 delivery "]
    counted = [message for message in caplog.messages if message.startswith(f"4 deliveries {line} in ")]
    assert len(counted) == 1
    assert "check the clock of this machine" in counted[0]
