"""Raw bytes on the wire of the running front."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from company import Company, company
from gofer.dispatch import BODY_LIMIT
from gofer.journal.coordination import Head

pytestmark = pytest.mark.anyio


async def exchange(made: Company, *pieces: bytes) -> bytes:
    """Sends pieces over one connection, never finishing; gives the first line that comes back."""
    url = urlsplit(made.laptop.url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(5):
            return await reader.readline()
    finally:
        writer.close()


def head(*lines: bytes) -> bytes:
    return b"\r\n".join([b"POST /slack/events HTTP/1.1", b"Host: gofer", *lines, b"", b""])


async def test_a_body_over_the_limit_is_refused_before_it_is_whole(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        sent = [chunk] * (BODY_LIMIT // 0x10000 + 2)
        assert b" 413 " in await exchange(made, head(b"Transfer-Encoding: chunked"), *sent)


async def test_a_declared_body_over_the_limit_is_refused_at_once(tmp_path: Path) -> None:
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
async def test_what_comes_over_the_wire_gets_its_status(tmp_path: Path, request_: bytes, status: bytes) -> None:
    async with company(tmp_path, work=False) as made:
        assert status in await exchange(made, request_)
        assert await made.laptop.state.store.heads(1, private=True) == []


async def test_a_list_with_a_row_that_cannot_be_read_shows_the_others_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        for run in ("run1", "run2"):
            await made.laptop.state.store.create_head(Head(run, "answer-here", "c", 1, private=False))
        with closing(sqlite3.connect(tmp_path / "state" / "gofer.db")) as connection, connection:
            connection.execute("UPDATE heads SET updated_at = x'00' WHERE run = 'run1'")
        page = await made.get("/runs")
        assert (page.status_code, "run1" in page.text, "run2" in page.text) == (200, False, True)
    assert "The list row of run run1 is not what was written; restore gofer.db from a backup." in caplog.text


async def test_a_list_that_cannot_be_read_says_so_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with company(tmp_path, work=False) as made:
        with closing(sqlite3.connect(tmp_path / "state" / "gofer.db")) as connection, connection:
            connection.execute("DROP TABLE heads")
        page = await made.get("/runs")
        assert (page.status_code, page.text) == (503, "Gofer cannot read its state now; its log says why.\n")
        assert (await made.get("/healthz")).status_code == 200
    assert "gofer.db cannot be read (no such table: heads)" in caplog.text
