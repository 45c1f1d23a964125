"""Stores that are away or refuse the worker: its runs wait and go on by themselves, and the log names the cause."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from typing_extensions import override

from gofer.models.language_model import Answer
from gofer.projections.attempts import UNSTORED
from gofer.runtime.run_reports import Observers
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import ConfigError, TemporaryError
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import Crashed, MemoryWorker

pytestmark = pytest.mark.anyio

REFUSED = ConfigError("AWS does not allow this here (AccessDenied); add it to the policy of the role that calls it.")
AWAY = TemporaryError("AWS did not answer (ReadTimeoutError); try again later, or check the network.")
ERRORS = pytest.mark.parametrize("error", [REFUSED, AWAY], ids=["refused", "away"])
REQUESTS = ("head", "frames", "key", "create", "lease", "put_head", "put_memo", "oldest_runnable")
HALF_AN_HOUR = 1_800.0
LONG = says("", ("unknown_tool", {"text": "word " * 100_000}))
"""An answer of a model that is stored as a body of its own."""


class FailingStore(MemoryStore):
    """A store in which one kind of request fails while there is an error."""

    request = ""
    error: Exception | None = None

    @override
    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name != super().__getattribute__("request"):
            return found

        async def fails(*given: object, **named: object) -> object:
            if self.error is not None:
                raise self.error
            return await found(*given, **named)

        return fails


class FailingBlobs(MemoryBlobs):
    """Bodies that cannot be written, or not be read, while there is an error."""

    request = "put"
    error: Exception | None = None

    @override
    async def put(self, key: str, body: bytes) -> None:
        if self.error is not None and self.request == "put":
            raise self.error
        await super().put(key, body)

    @override
    async def get(self, key: str) -> bytes:
        if self.error is not None and self.request == "get":
            raise self.error
        return await super().get(key)


async def pass_time(made: MemoryWorker, seconds: float) -> int:
    """Process queue messages for some time, a second at a time, and return their number."""
    return sum([await _second(made) for _ in range(int(seconds))])


async def _second(made: MemoryWorker) -> int:
    made.clock.advance(1)
    return await made.work_once()


def lines(caplog: pytest.LogCaptureFixture, error: Exception) -> list[str]:
    """Return the log lines that give an error as their reason."""
    return [one.getMessage() for one in caplog.records if str(error) in one.getMessage()]


@ERRORS
@pytest.mark.parametrize("request_name", REQUESTS)
async def test_run_goes_on_after_its_store_failed_for_half_an_hour(request_name: str, error: Exception) -> None:
    store = FailingStore()
    store.request = request_name
    made = MemoryWorker(ListModel([says("Hello.")]), store=store)
    await made.accept("run1", private=False)
    store.error = error
    await pass_time(made, HALF_AN_HOUR)
    store.error = None
    await pass_time(made, 121)
    assert await made.queue.dead_letters(9) == []
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


class CrashesOnce(ListModel):
    """A model at whose first request the process is killed."""

    @override
    async def ask(self, body: bytes, timeout: float) -> Answer:
        if not self.requests:
            self.requests.append(body)
            raise Crashed
        return await super().ask(body, timeout)


@ERRORS
@pytest.mark.parametrize("request_name", ["put", "get"])
async def test_run_asks_its_model_after_the_store_of_bodies_failed_for_half_a_day(
    request_name: str, error: Exception
) -> None:
    blobs = FailingBlobs()
    blobs.request = request_name
    made = MemoryWorker(CrashesOnce([says("Hello.")]), blobs=blobs)
    await made.accept("run1", private=False)
    if request_name == "get":
        await made.work_once_or_crash()
    blobs.error = error
    before = len(made.model.requests)
    await pass_time(made, 24 * HALF_AN_HOUR)
    assert (len(made.model.requests), await made.queue.dead_letters(9)) == (before, [])
    blobs.error = None
    await made.work_once_or_crash()
    made.clock.advance(121)
    await made.work_once_or_crash()
    await pass_time(made, 200)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


@ERRORS
async def test_answer_that_cannot_be_stored_is_paid_once_until_the_store_takes_bodies(error: Exception) -> None:
    class Model(ListModel):
        @override
        async def ask(self, body: bytes, timeout: float) -> Answer:
            if not self.requests:
                blobs.error = error
            return await super().ask(body, timeout)

    blobs = FailingBlobs()
    made = MemoryWorker(Model([LONG, LONG, says("Hello.")]), blobs=blobs)
    await made.accept("run1", private=False)
    await pass_time(made, UNSTORED * 130.0)
    assert (len(made.model.requests), await made.status("run1")) == (1, "running")
    blobs.error = None
    await pass_time(made, 121)
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")
    assert len(made.model.requests) == 3


async def test_lists_show_the_refusal_that_a_run_waits_for() -> None:
    store = FailingStore()
    store.request = "frames"
    made = MemoryWorker(ListModel([says("Hello.")]), store=store)
    await made.accept("run1", private=False)
    await made.accept("run2", 2)
    store.error = REFUSED
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason) == ("running", str(REFUSED))
    store.error = None
    await pass_time(made, 121)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, "AWS" in head.reason) == ("done", False)


async def test_private_run_shows_no_reason_for_its_wait() -> None:
    store = FailingStore()
    store.request = "frames"
    made = MemoryWorker(ListModel([]), store=store)
    await made.accept("run1")
    store.error = REFUSED
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert head.reason == ""


async def test_receipts_in_an_outage_do_not_count_towards_a_dead_letter_of_a_fault() -> None:
    store = FailingStore()
    store.request = "frames"
    made = MemoryWorker(ListModel([says("Hello.")]), store=store)
    await made.accept("run1", private=False)
    for error in [REFUSED] * 20 + [AWAY] * 20 + [KeyError("unforeseen")] * 2:
        store.error = error
        while not await _second(made):
            pass
    store.error = None
    await pass_time(made, 121)
    assert (made.posted, await made.queue.dead_letters(9)) == (["Hello."], [])


@pytest.mark.parametrize(("error", "level"), [(REFUSED, logging.ERROR), (AWAY, logging.WARNING)])
async def test_burst_of_waiting_runs_logs_each_cause_once(
    caplog: pytest.LogCaptureFixture, error: Exception, level: int
) -> None:
    store = FailingStore()
    store.request = "head"
    made = MemoryWorker(ListModel([]), store=store)
    for number in range(50):
        await made.accept(f"run{number}", number)
    store.error = error
    assert await made.work_once() == 50
    assert lines(caplog, error) == [f"run run0 was not continued, and is tried again: {error}"]
    assert [one.levelno for one in caplog.records if str(error) in one.getMessage()] == [level]


async def test_each_message_that_returns_in_an_outage_is_reported() -> None:
    store = FailingStore()
    store.request = "head"
    reports: list[bool] = []
    made = MemoryWorker(ListModel([]), store=store)
    made.worker = replace(made.worker, observers=Observers(notify_outage=lambda: reports.append(True)))
    for number in range(3):
        await made.accept(f"run{number}", number)
    store.error = AWAY
    await made.work_once()
    assert len(reports) == 3
