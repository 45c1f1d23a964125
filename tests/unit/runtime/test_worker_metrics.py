"""Reports of ended runs to observers: once for each run, private ones included."""

from dataclasses import replace

import pytest

from gofer.engine.drift import Drift
from gofer.engine.owned_run import Deadline
from gofer.models.language_model import Answer
from gofer.runtime.run_reports import Ended, Observers
from gofer.values.errors import Corrupt
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import worker_over

pytestmark = pytest.mark.anyio


def listening(made: MemoryWorker) -> list[Ended]:
    """Return the list to which the worker reports ended runs."""
    reports: list[Ended] = []
    made.worker = replace(made.worker, observers=Observers(reports.append))
    return reports


@pytest.mark.parametrize("private", [True, False])
async def test_ended_run_is_reported_once_to_observers_with_usage(private: bool) -> None:
    made = memory_worker(says("Hello.", tokens=100))
    reports = listening(made)
    await made.accept("run1", int((made.clock.now() - 5) * 1000), private=private)
    await made.queue.enqueue("run1")
    while await made.work_once():
        pass
    (ended,) = reports
    assert (ended.status, ended.seconds, ended.trouble) == ("done", 5.0, "")
    assert ended.progress is not None
    assert ended.progress.largest == {"m": 101}


async def test_wait_until_the_first_owner_is_reported_once_for_each_run() -> None:
    made = memory_worker(says("Hello."))
    waits: list[float] = []
    made.worker = replace(made.worker, observers=Observers(notify_start=waits.append))
    await made.accept("run1", int((made.clock.now() - 7) * 1000))
    # The first worker hands the run over at once, and the second one answers it.
    deadline = Deadline(made.clock)
    deadline.end()
    head = await made.store.head("run1")
    assert head is not None
    await made.worker.continue_run(head, "first", deadline)
    made.clock.advance(30)
    while await made.work_once():
        pass
    assert waits == [7.0]


async def test_run_that_crashed_every_worker_is_reported_as_poison() -> None:
    class Deadly:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            raise Crashed

    made = memory_worker()
    reports = listening(made)
    made.worker = replace(made.worker, services=replace(made.worker.services, model=Deadly()))
    await made.accept("run1")
    for _ in range(30):
        await made.work_once_or_crash()
        made.clock.advance(130)
    assert [(ended.status, ended.trouble) for ended in reports] == [("failed", "poison")]


async def test_run_with_a_corrupt_journal_is_reported_as_corrupt() -> None:
    class Torn(type(memory_worker().store)):  # type: ignore[misc]
        async def frames(self, run: str) -> list[bytes]:
            raise Corrupt(f"Run {run} is damaged at frame 1.")

    made = memory_worker()
    reports = listening(made)
    await made.accept("run1")
    torn = Torn()
    torn.__dict__.update(made.store.__dict__)
    made.worker = worker_over(made.worker, store=torn)
    await made.work_once()
    assert [(ended.status, ended.trouble, ended.progress) for ended in reports] == [
        ("needs_attention", "corrupt", None)
    ]


async def test_full_window_is_reported_before_its_run_ends() -> None:
    made = memory_worker(says("Hello.", tokens=44_000))
    ends = listening(made)
    reported: list[tuple[Drift, int]] = []

    def report(drift: Drift) -> None:
        reported.append((drift, len(ends)))

    made.worker = replace(made.worker, services=replace(made.worker.services, report_drift=report))
    await made.accept("run1")
    while await made.work_once():
        pass
    ((drift, ended),) = reported
    assert (drift.run, drift.cause, drift.window, ended) == ("run1", "full", 48_000, 0)
    assert ends[0].utilisation is not None
    assert round(ends[0].utilisation.peak, 3) == 0.917
