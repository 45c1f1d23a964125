"""The exporter of spans: what is sent to a collector, and how failures are handled without affecting runs."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gofer.app.http import SharedHttp, http_client
from gofer.journal import entries as e
from gofer.journal.entries import Entry, Recorded
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, claim, open_journal
from gofer.projections.tracing.span_ids import trace_id
from gofer.runtime.run_reports import Observers
from gofer.runtime.telemetry import exporter
from gofer.runtime.telemetry.exporter import Exporter, Sent
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.proxies import DIRECT
from gofer.values.secret import Secret
from support.engine.memory_run import says
from support.http.otlp_collector import Collector, collector
from support.runtime.memory_worker import memory_worker
from support.stand_ins import SetClock, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio

RUN: list[Entry] = [
    e.RunAccepted(mention(), "answer-here"),
    e.RunStarted("b", False),
    e.ToolCall("1.0", "look", "read"),
    e.ToolResult("1.0", "ok", "text"),
    e.RunFinished("done"),
]


@pytest.fixture
def there() -> Iterator[Collector]:
    with collector() as made:
        yield made


def record(entries: list[Entry]) -> list[Recorded]:
    return [Recorded(n, 0, n * 1_000, "me", entry) for n, entry in enumerate(entries, start=1)]


async def send(there: Collector, entries: list[Entry] = RUN, *, full: bool = False) -> Sent:
    url, headers, resource = f"{there.url}/v1/traces", {"x-key": Secret("k")}, {"service.name": "g"}
    async with http_client(DIRECT) as client:
        made = Exporter(url, headers, resource, SharedHttp(client), full)
        return await made.send(made.spans("run1", record(entries)))


async def at_the_end(there: Collector, entries: list[Entry] = RUN, patience: float = 9.0) -> None:
    """Export a journal from a store at the end of a run, as a worker does."""
    store, blobs = memory_stores()
    pen = Pen("me", make_outside())
    accepted = entries[0]
    assert isinstance(accepted, e.RunAccepted)
    await claim("run1", accepted, pen, store, blobs)
    journal, _ = await open_journal("run1", store, blobs, pen)
    for entry in entries[1:]:
        journal.add(entry)
    await journal.commit()
    async with http_client(DIRECT) as client:
        made = Exporter(f"{there.url}/v1/traces", {}, {}, SharedHttp(client))
        await made.export("run1", Stores(store, blobs, MemoryQueue(SetClock())), patience)


async def test_run_is_exported_in_one_compressed_request_with_the_operators_headers(there: Collector) -> None:
    assert await send(there) == Sent(2)
    assert there.paths == ["/v1/traces"]
    assert there.headers[0]["x-key"] == "k"
    assert there.resource == {"service.name": "g"}
    assert [span.name for span in there.spans] == ["invoke_workflow answer-here", "execute_tool look"]
    assert (there.spans[0].start_time_unix_nano, there.spans[0].end_time_unix_nano) == (1_000_000_000, 5_000_000_000)


async def test_large_run_is_exported_in_several_requests_up_to_the_span_limit(there: Collector) -> None:
    many = [e.ToolCall(f"1.{n}", "look", "read") for n in range(exporter.MOST_SPANS + 5)]
    assert await send(there, [*RUN[:2], *many, RUN[-1]]) == Sent(exporter.MOST_SPANS)
    assert len(there.requests) == 40
    assert len({span.span_id for span in there.spans}) == exporter.MOST_SPANS


async def test_spans_that_the_collector_rejects_are_counted(there: Collector) -> None:
    there.rejects = 1
    assert await send(there) == Sent(2, rejected=1)
    there.answer = b"thanks"
    assert await send(there) == Sent(2)


@pytest.mark.parametrize(("status", "error"), [(503, TemporaryError), (429, TemporaryError), (401, ConfigError)])
async def test_busy_collector_raises_temporary_error_and_a_refusing_collector_config_error(
    there: Collector, status: int, error: type[Exception]
) -> None:
    there.status = status
    with pytest.raises(error, match=f"HTTP {status}"):
        await send(there)


@pytest.mark.parametrize(
    "started",
    [
        [e.RunStarted("b", True)],
        [],  # not known to be public
    ],
)
async def test_private_run_is_never_exported(there: Collector, started: list[Entry]) -> None:
    entries = [RUN[0], *started, *RUN[2:]]
    with pytest.raises(ConfigError, match="private"):
        await send(there, entries)
    with pytest.raises(ConfigError, match="private"):
        await send(there, entries, full=True)
    await at_the_end(there, entries)
    assert there.requests == []


async def test_run_in_a_channel_made_private_is_not_exported(
    there: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    made = memory_worker(says("Hello."))
    async with http_client(DIRECT) as client:
        collected = Exporter(there.url, {}, {}, SharedHttp(client))
        made.worker = replace(made.worker, observers=Observers(exporter=collected))
        await made.accept("run1", private=False)
        await hide("run1", made.store, 1)
        await made.work_once()
        with pytest.raises(ConfigError, match="private"):
            await collected.read("run1", made.worker.services.stores)
    assert (await made.status("run1"), there.requests) == ("done", [])
    assert "run1" not in caplog.text


async def test_run_that_has_not_ended_is_not_exported(there: Collector) -> None:
    with pytest.raises(ConfigError, match="has not ended"):
        await send(there, RUN[:-1])


async def test_journal_is_exported_at_the_end_of_the_run(there: Collector) -> None:
    await at_the_end(there)
    assert [span.name for span in there.spans] == ["invoke_workflow answer-here", "execute_tool look"]


async def test_run_of_several_workers_is_exported_as_one_trace_by_the_last_worker(there: Collector) -> None:
    made = memory_worker(says("Hello."))
    async with http_client(DIRECT) as client:
        collected = Exporter(there.url, {}, {}, SharedHttp(client))
        made.worker = replace(made.worker, observers=Observers(exporter=collected))
        await made.accept("run1")
        made.crash_in = {"slack_update_message"}
        await made.work_once_or_crash()
        assert there.requests == []
        made.crash_in = set()
        made.clock.advance(130)
        await made.work_once()
    assert await made.status("run1") == "done"
    assert len(there.requests) == 1
    assert {span.trace_id for span in there.spans} == {trace_id("run1")}
    assert [span.name for span in there.spans].count("execute_tool slack_update_message") == 1


async def test_export_does_not_wait_for_a_slow_collector(there: Collector, caplog: pytest.LogCaptureFixture) -> None:
    there.free.clear()
    await at_the_end(there, patience=0.05)
    assert "there was not enough time" in caplog.text


async def test_export_failure_is_only_logged(there: Collector, caplog: pytest.LogCaptureFixture) -> None:
    there.status = 401
    await at_the_end(there)
    assert "check OTEL_EXPORTER_OTLP_ENDPOINT" in caplog.text
    there.status, there.rejects = 200, 2
    await at_the_end(there)
    assert "the collector rejected 2 spans of run run1" in caplog.text
    caplog.clear()
    async with http_client(DIRECT) as client:
        broken = Exporter(there.url, {}, {}, SharedHttp(client))
        await broken.export("nobody's", Stores(*memory_stores(), MemoryQueue(SetClock())))
        nowhere = replace(broken, url="http://127.0.0.1:9")
        with pytest.raises(TemporaryError):
            await nowhere.send(nowhere.spans("run1", record(RUN)))
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "nobody's were not sent" in caplog.text
