"""Runs that crash every worker that opens them, and the runs beside them."""

import asyncio
from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.projections.attempts import UNREAD
from gofer.runtime.run_reports import Ended, Observers
from gofer.runtime.sweeper import Sweeper
from gofer.values.errors import TemporaryError
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import worker_over
from support.stand_ins import claimed

pytestmark = pytest.mark.anyio


def deadly() -> tuple[MemoryWorker, list[str], list[str]]:
    """Return a worker whose store crashes it, the runs it opened, and the reported troubles."""
    made, opened, reported = memory_worker(), list[str](), list[str]()

    class Deadly(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            opened.append(run)
            raise Crashed

    def report(ended: Ended) -> None:
        reported.append(ended.trouble)

    made.store = Deadly()
    made.worker = replace(worker_over(made.worker, store=made.store), observers=Observers(report))
    return made, opened, reported


async def test_run_that_crashes_every_worker_at_opening_is_abandoned_and_listed() -> None:
    made, opened, reported = deadly()
    await made.accept("run1", private=False)
    for _ in range(UNREAD + 5):
        await made.work_once_or_crash()
        made.clock.advance(130)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, len(opened), reported) == ("needs_attention", UNREAD, ["poison"])
    assert head.reason == "it cannot be continued: 10 workers in a row ended before they had read its journal"


async def test_run_is_abandoned_when_the_queue_dead_letters_the_message_first() -> None:
    made, opened, reported = deadly()
    await made.accept("run1", private=False)
    for received in range(UNREAD + 10):
        await made.work_once_or_crash()
        made.clock.advance(130)
        if received % 5 == 4:
            # SQS moves a queue message to its dead letters without the worker.
            made.queue.clear()
            made.clock.advance(60)
            await Sweeper(made.store, made.queue, made.clock).sweep(180)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, len(opened), reported) == ("needs_attention", UNREAD, ["poison"])


async def test_requeued_abandoned_run_has_as_many_attempts_again() -> None:
    made, opened, reported = deadly()
    await made.accept("run1", private=False)
    for _ in range(2):
        for _ in range(UNREAD + 5):
            await made.work_once_or_crash()
            made.clock.advance(130)
        head = await made.store.head("run1")
        assert head is not None
        await made.store.put_head(head.now("queued", int(made.clock.now() * 1000)))
        await made.queue.enqueue("run1")
    assert (len(opened), reported) == (2 * UNREAD, ["poison", "poison"])


async def test_run_is_not_abandoned_during_a_long_store_outage() -> None:
    made = memory_worker(says("Hello."))
    away = True

    class Away(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            if away:
                raise TemporaryError("it does not answer")
            return list(await super().frames(run))

    made.store = Away()
    made.worker = worker_over(made.worker, store=made.store)
    await made.accept("run1", private=False)
    for _ in range(2 * UNREAD):
        await made.work_once()
        made.clock.advance(130)
        await made.queue.enqueue("run1")
    away = False
    await made.work_once()
    assert await made.status("run1") == "done"


async def test_runs_received_together_with_a_crashing_run_are_answered() -> None:
    """All runs start at once and crash with the deadly one. Then suspects run one at a time."""
    made = memory_worker(*[says("Hello.")] * 3)

    class Deadly(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            if run == "deadly":
                process.set()
                await asyncio.Event().wait()
            # The other runs are still being read when the process dies.
            await asyncio.sleep(0.01)
            return list(await super().frames(run))

    made.store, process = Deadly(), asyncio.Event()
    made.worker = worker_over(made.worker, store=made.store)
    runs = ("run1", "deadly", "run2", "run3")
    for run in runs:
        await claimed(made.store, run)
        await made.store.create_head(Head(run, "answer-here", f"slack:T:C:{run}", 1))
        await made.queue.enqueue(run)
    for _ in range(4 * UNREAD):
        process.clear()
        made.worker = replace(made.worker, suspects=asyncio.Lock())
        tasks = [
            asyncio.create_task(made.worker.answer(queue_message))
            for queue_message in await made.queue.receive(100, 120, 0)
        ]
        died = asyncio.create_task(process.wait())
        while tasks and not died.done() and not all(task.done() for task in tasks):
            await asyncio.sleep(0.001)
        for task in (*tasks, died):
            task.cancel()
        await asyncio.gather(*tasks, died, return_exceptions=True)
        made.clock.advance(130)
    assert [await made.status(run) for run in runs] == ["done", "needs_attention", "done", "done"]
