"""Hostile requests to a running Gofer: each gets its status, and none is stored or quoted in the log."""

import asyncio
import itertools
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gofer.app.embedded.server import serve
from gofer.app.front import MEMORY, Bodies, front
from gofer.app.pages.run_pages import Pages
from gofer.app.settings import read_settings
from gofer.sources.receivers import receivers
from gofer.sources.webhook.hook import read_hooks
from gofer.sources.webhook.jwt_bearer import JwtProof
from gofer.sources.webhook.receiver import webhook_receivers
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import SystemClock
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.app.company import Company, company
from support.sources.every_delivery import (
    BEARER,
    ENVIRONMENT,
    EVENTS,
    GARBAGE,
    HOOKS,
    KINDS,
    PROOFS,
    delivery,
    headers_of,
    path_of,
)

pytestmark = pytest.mark.anyio

CANARY = "canary-7f3a"
REFUSED = (400, 401, 403, 404, 405, 413, 415, 431)


@asynccontextmanager
async def every_receiver(folder: Path, memory: int = MEMORY) -> AsyncIterator[tuple[Company, str]]:
    """Serve every receiver on a clock that shows noon; yield the company and the address."""
    async with company(folder, work=False) as made:
        found = receivers(read_settings(ENVIRONMENT).sources) | webhook_receivers(
            read_hooks(HOOKS, {"": [BEARER]}), JwtProof
        )
        state, before = made.embedded.state, made.embedded.ingress
        ingress = replace(
            before,
            receivers=found,
            routes=read_routes({kind: [("answer-here", {})] for kind in KINDS}),
            installation_key=InstallationKey(Secret("k")),
            outside=replace(before.outside, clock=NoonClock()),
        )
        pages = Pages(state.stores, made.embedded.catalog, SystemClock())
        async with serve(front(ingress, pages, bodies=Bodies(memory))) as url:
            yield made, url


class NoonClock:
    """A clock at the time of the signatures of these tests."""

    def now(self) -> float:
        return 1_795_262_400.0

    def monotonic(self) -> float:
        return 0.0


async def exchange(url: str, raw: bytes) -> list[int]:
    """Send bytes over one connection; return the statuses of all responses until it is closed."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    answered = bytearray()
    try:
        writer.write(raw)
        async with asyncio.timeout(60):
            while chunk := await _more(reader, writer):
                answered += chunk
    except ConnectionError:
        pass
    finally:
        writer.close()
    return [int(line.split()[1]) for line in bytes(answered).split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


async def _more(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the next bytes; after two seconds of silence, end our side of the connection."""
    try:
        async with asyncio.timeout(2):
            return await reader.read(65_536)
    except TimeoutError:
        writer.write_eof()
        return await reader.read(65_536)


def wire(path: bytes, headers: Sequence[tuple[str, str]], body: bytes, method: bytes = b"POST") -> bytes:
    """Return a request as bytes."""
    lines = [f"{name}: {value}".encode("latin-1") for name, value in headers]
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join(
        [method + b" " + path + b" HTTP/1.1", b"Host: gofer", *lines, length, b"Connection: close", b"", body]
    )


def rows(folder: Path) -> dict[str, int]:
    """Return the number of rows of each table."""
    with closing(sqlite3.connect(folder / "state" / "gofer.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


def assert_silent(caplog: pytest.LogCaptureFixture) -> None:
    """Assert that the log has neither contents nor secrets nor tracebacks, at the lowest level."""
    for secret in (CANARY, BEARER.reveal(), *ENVIRONMENT.values()):
        assert secret not in caplog.text
    assert [record.getMessage() for record in caplog.records if record.exc_info or record.stack_info] == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert "Traceback" not in caplog.text


async def test_garbage_without_a_valid_proof_is_refused_and_not_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (_, url):
            before = rows(tmp_path)
            for path, body in itertools.product(PROOFS, GARBAGE.values()):
                wrong = [(name, value[:-4] + "AAAA") for name, value in PROOFS[path](body)]
                twice = [*PROOFS[path](body), *PROOFS[path](body)]
                for headers in ([], wrong, twice, [("Cookie", CANARY)]):
                    raw = wire(path.encode(), [*headers, ("X-Note", CANARY)], body + CANARY.encode())
                    (status,) = await exchange(url, raw)
                    assert status in (401, 413), (path, body[:40], headers)
            assert rows(tmp_path) == before
    assert_silent(caplog)


async def test_signed_garbage_causes_no_server_error_and_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (_, url):
            for path in PROOFS:
                for body in (*GARBAGE.values(), json.dumps({"id": CANARY, "type": CANARY}).encode(), CANARY.encode()):
                    more = [("X-GitHub-Event", "push"), ("X-Call", CANARY), ("Content-Type", "application/json")]
                    (status,) = await exchange(url, wire(path.encode(), delivery(path, body, *more).headers, body))
                    assert status in (200, 400, 409, 413), (path, body[:40])
    assert_silent(caplog)


async def test_every_recorded_payload_is_accepted_under_a_valid_signature(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (_, url):
            for event in EVENTS:
                request = delivery(path_of(event), event.read_bytes(), *headers_of(event))
                assert await exchange(url, wire(request.path.encode(), request.headers, request.body)) == [200]
    assert_silent(caplog)


PATHS = (
    b"/hooks/../x",
    b"/hooks/keyed/../keyed",
    b"/hooks/%2e%2e/x",
    b"/hooks%2fkeyed/",
    b"/hooks/keyed%00",
    b"/hooks/keyed%ff%fe",
    b"/hooks/keyed%3Fx",
    b"/hooks/keyed%23x",
    b"//hooks/keyed",
    b"/hooks/keyed/",
    b"/hooks/%ed%a0%80",
    b"/hooks/" + b"x" * 10_000,
    b"/runs/" + b"%00" * 100,
    b"/runs/..%2f..%2fgofer.db/trace",
    b"/runs/%ed%a0%80",
    b"/prompts/..%2f..%2fREADME",
    b"/%",
    b"/%zz",
    b"*",
    b"http://elsewhere.example/hooks/none",
    b"/" + CANARY.encode(),
)
METHODS = (b"POST", b"GET", b"PUT", b"HEAD", b"OPTIONS", b"TRACE", b"FROB")


async def test_odd_paths_and_methods_get_4xx_and_store_no_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    body = b'{"id": "1"}'
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (_, url):
            before = rows(tmp_path)
            for path, method in itertools.product(PATHS, METHODS):
                raw = wire(path, PROOFS["/hooks/keyed"](body), body, method)
                # With a Host that pages accept, so that the path alone decides.
                statuses = await exchange(url, raw.replace(b"Host: gofer", b"Host: localhost"))
                assert set(statuses) <= {400, 404, 405}, (path[:80], method, statuses)
            assert rows(tmp_path) == before
    assert_silent(caplog)


HOSTS = (b"Host: [", b"Host: ]:x", b"Host: a/b?c#d", b"Host: gofer:99999999", b"Host: \xff", b"Host:", b"Host: @", b"")


async def test_host_header_does_not_change_the_path_of_a_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (_, url):
            known = itertools.product(enumerate(HOSTS), ((b"/hooks/keyed", 200), (b"/elsewhere", 404)))
            for (number, host), (path, expected) in known:
                # A different body each time: a repeated one would be a known delivery.
                body = b'{"id": "%d"}' % number
                raw = wire(path, PROOFS["/hooks/keyed"](body), body).replace(b"Host: gofer", host)
                (status,) = await exchange(url, raw.replace(b"\r\n\r\n", b"\r\n", 1) if not host else raw)
                assert status == (400 if host == b"" else expected), host
    assert_silent(caplog)


async def test_test_of_a_webhook_address_is_answered_and_hostile_ones_are_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with every_receiver(tmp_path) as (_, url):
        for path, method, status in (
            (b"/hooks/keyed?challenge=abc1", b"GET", 200),
            (b"/hooks/keyed", b"HEAD", 200),
            (b"/hooks/keyed?challenge=%3Cscript%3E", b"GET", 405),
            (b"/hooks/keyed?challenge=a%0D%0Ab", b"GET", 405),
            (b"/hooks/nowhere?challenge=abc1", b"GET", 404),
        ):
            assert await exchange(url, wire(path, [], b"", method)) == [status], path
    assert_silent(caplog)


@pytest.mark.parametrize("path", [b"/", b"/runs", b"/runs/abc", b"/runs/abc/trace", b"/prompts/answer-here"])
async def test_pages_refuse_a_foreign_host_and_healthz_answers_every_host(tmp_path: Path, path: bytes) -> None:
    async with every_receiver(tmp_path) as (_, url):
        for host in (b"evil.example", b"127.0.0.1.nip.io", b"gofer", b"[", b"localhost@evil.example", b"0.0.0.0"):
            foreign = wire(path, [], b"", b"GET").replace(b"Host: gofer", b"Host: " + host)
            assert await exchange(url, foreign) == [421], host
            assert await exchange(url, foreign.replace(path + b" ", b"/healthz ")) == [200]
        own = wire(path, [], b"", b"GET").replace(b"Host: gofer", b"Host: localhost:1")
        assert set(await exchange(url, own)) <= {200, 404}
        assert await exchange(url, wire(path, [], b"", b"GET").replace(b"HTTP/1.1\r\nHost: gofer", b"HTTP/1.0")) == [
            421
        ]


async def test_oldest_unfinished_body_is_refused_to_make_room_for_a_delivery(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    body = json.dumps({"id": "1", "text": "x" * 90_000}).encode()
    open_one = b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nContent-Length: 900000\r\n\r\n" + b"x" * 90_000
    async with every_receiver(tmp_path, memory=200_000) as (made, url):
        at = urlsplit(url)
        strangers = [await asyncio.open_connection(at.hostname, at.port) for _ in range(2)]
        for _, writer in strangers:
            writer.write(open_one)
            # After a response on another connection, these bytes were read.
            assert (await made.http.get(f"{url}/healthz")).status_code == 200
        assert await exchange(url, wire(b"/hooks/keyed", PROOFS["/hooks/keyed"](body), body)) == [200]
        oldest, newest = (reader for reader, _ in strangers)
        async with asyncio.timeout(60):
            refused = await oldest.read()
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: 5\r\n" in refused.lower()
        assert not newest.at_eof()
        for _, writer in strangers:
            writer.close()
    assert "more bodies arrived at the same time than fit into memory" in caplog.text
    assert_silent(caplog)


WIRE = (
    b"",
    b"\x00" * 100,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"POST\r\n\r\n",
    b"POST /slack/events HTTP/9.9\r\nHost: gofer\r\n\r\n",
    b"POST /slack/\xff HTTP/1.1\r\nHost: gofer\r\n\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nContent-Length: -1\r\n\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nTransfer-Encoding: gzip\r\n\r\nx",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nX\x00Y: 1\r\n\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nX-Slack-Signature: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nContent-Length: 10\r\n\r\nhalf",
    b"POST /slack/events HTTP/1.1\r\nHost: gofer\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
)


async def test_bytes_that_are_no_http_request_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with every_receiver(tmp_path) as (made, url):
            before = rows(tmp_path)
            # All at once, because the server waits for the rest of some of them.
            for raw, statuses in zip(WIRE, await asyncio.gather(*(exchange(url, raw) for raw in WIRE)), strict=True):
                assert set(statuses) <= set(REFUSED), (raw, statuses)
            assert rows(tmp_path) == before
            assert (await made.http.get(f"{url}/healthz")).status_code == 200
    assert_silent(caplog)
