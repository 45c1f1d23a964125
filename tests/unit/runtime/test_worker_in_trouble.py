"""Failing stores, queues and leases, and corrupt journals: what a worker does with its runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import FORMAT
from gofer.journal.frames import Frame, frame_hash
from gofer.journal.seal import Seal, seal_of
from gofer.models.language_model import Answer
from gofer.runtime.deliver import AT_WORK
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import RECEIVES, WorkerLimits
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.queue import QueueMessage
from gofer.values.errors import Corrupt, TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import ListModel, says
from support.journal.stored_bytes import frame_bytes
from support.runtime.memory_worker import CONVERSATION, MemoryWorker, memory_worker
from support.runtime.worker_parts import worker_over

pytestmark = pytest.mark.anyio


class FullStore(MemoryStore):
    """A store without room for further frames while `full` is set."""

    full = True

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        if self.full and n > 1:
            raise TemporaryError("disk full")
        return await super().create(run, n, frame)


async def test_run_that_cannot_be_written_resumes_when_there_is_room() -> None:
    store = FullStore()
    made = MemoryWorker(ListModel([says("Hello.")]), store=store)
    await made.accept("run1")
    await made.work_once()
    assert made.posted == []
    store.full = False
    made.clock.advance(121)
    assert await made.work_once() == 1
    assert made.posted == ["Hello."]


async def test_corrupt_run_needs_attention_and_other_runs_are_answered() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", 1, private=False)
    await made.store.create("run1", 2, b'{"not": "a frame"}')
    await made.accept("run2", 2)
    while await made.work_once():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, "damaged at frame 2" in head.reason) == ("needs_attention", True)
    assert await made.status("run2") == "done"


def frame_of_a_newer_version(first: bytes, seal: Seal) -> bytes:
    return frame_bytes(Frame(2, 1, "o", "n", frame_hash(first), [{"kind": "run.dreamed"}]), seal)


def frame_of_an_earlier_format(first: bytes, seal: Seal) -> bytes:
    header = bytes([FORMAT - 2]) + frame_hash(first)
    return header + seal.close("frame 2", b"{}", header)


async def test_run_of_an_earlier_format_needs_attention_and_the_next_run_is_answered() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", 1, private=False)
    (first,) = await made.store.frames("run1")
    await made.store.create("run1", 2, frame_of_an_earlier_format(first, await seal_of("run1", made.store)))
    await made.accept("run2", 2)
    frames = await made.store.frames("run1")
    while await made.work_once():
        pass
    head = await made.store.head("run1")
    assert head is not None
    told = "Run run1 was written by an earlier version of Gofer (format 1, and this version reads format 3)"
    assert (head.status, head.reason) == ("needs_attention", f"{told}; finish it with that version.")
    assert await made.store.frames("run1") == frames
    assert await made.status("run2") == "done"


async def test_run_of_a_newer_version_stays_queued_for_that_version(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = memory_worker()
    await made.accept("run1", private=False)
    (first,) = await made.store.frames("run1")
    await made.store.create("run1", 2, frame_of_a_newer_version(first, await seal_of("run1", made.store)))
    before, frames = await made.store.head("run1"), await made.store.frames("run1")
    assert before is not None
    for _ in range(RECEIVES):
        assert await made.work_once() == 1
        made.clock.advance(121)
    head = await made.store.head("run1")
    assert head is not None
    assert replace(head, updated_at=0) == replace(
        before, reason="another version of Gofer wrote its journal; finish the run with that version"
    )
    assert (await made.store.frames("run1"), made.posted) == (frames, [])
    assert "run run1 was not continued: Run run1 cannot be read at frame 2: this journal has an entry" in caplog.text
    assert [letter.reason for letter in await made.queue.dead_letters(9)] == [
        "another version of Gofer wrote its journal; finish the run with that version"
    ]
    made.clock.advance(181)
    assert await Sweeper(made.store, made.queue, made.clock).sweep(180) == 1
    assert await made.work_once() == 1


async def test_truncated_journal_is_not_continued_and_the_head_keeps_the_frame_count() -> None:
    made = memory_worker(says("must not be asked"))
    await made.accept("run1")
    await made.store.put_head(Head("run1", "answer-here", CONVERSATION, 1, private=False, frames=4))
    while await made.work_once():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.frames) == ("needs_attention", 4)
    assert "4 frames were written and 1 are there" in head.reason
    assert (len(await made.store.frames("run1")), made.posted, made.model.requests) == (1, [], [])


class DamagedQueue(MemoryQueue):
    """A queue whose file is corrupt while `damaged` is set."""

    damaged = True

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        if self.damaged:
            raise Corrupt("gofer.db cannot be read; stop Gofer and restore the file from a backup.")
        return await super().receive(limit, visibility, wait, machines=machines)


async def test_worker_recovers_from_a_corrupt_queue_file() -> None:
    made = memory_worker(says("Hello."))
    queue = DamagedQueue(made.clock)
    worker = replace(worker_over(made.worker, queue=queue), limits=WorkerLimits(pause=0.01))
    await made.accept("run1")
    await queue.enqueue("run1")
    serving = asyncio.create_task(worker.serve())
    await asyncio.sleep(0.03)
    queue.damaged = False
    async with asyncio.timeout(60):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_worker_retries_a_run_after_an_unexpected_exception() -> None:
    made = memory_worker(KeyError("unforeseen"), says("Hello."))
    await made.accept("run1", 1)
    await made.work_once()
    assert made.posted == [AT_WORK]
    made.clock.advance(121)
    assert await made.work_once() == 1
    assert made.posted == ["Hello."]


class DeafQueue(MemoryQueue):
    """A queue that fails once."""

    failures = 1

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        if self.failures:
            self.failures -= 1
            raise TemporaryError("locked")
        return await super().receive(limit, visibility, wait, machines=machines)


async def test_worker_polls_again_after_a_queue_failure() -> None:
    made = memory_worker(says("Hello."))
    queue = DeafQueue(made.clock)
    worker = replace(worker_over(made.worker, queue=queue), limits=WorkerLimits(pause=0.01))
    await made.accept("run1")
    await queue.enqueue("run1")
    serving = asyncio.create_task(worker.serve())
    async with asyncio.timeout(60):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert queue.failures == 0


async def test_worker_continues_a_run_while_its_queue_lacks_memory() -> None:
    made = memory_worker(says("Hello."))
    asked = asyncio.Event()
    broken = asyncio.Event()

    class Queue(MemoryQueue):
        """A queue that fails while a conversation is in flight."""

        async def receive(
            self, limit: int, visibility: float, wait: float, *, machines: int | None = None
        ) -> Sequence[QueueMessage]:
            if asked.is_set():
                broken.set()
                raise MemoryError
            return await super().receive(limit, visibility, 0.05, machines=machines)

    class Waiting:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            asked.set()
            await broken.wait()
            return await made.model.ask(body, timeout)

    queue = Queue(made.clock)
    services = replace(worker_over(made.worker, queue=queue).services, model=Waiting())
    worker = replace(made.worker, services=services, limits=WorkerLimits(pause=0.01))
    await made.accept("run1")
    await queue.enqueue("run1")
    # An idle worker leaves the error to its supervisor.
    async with asyncio.timeout(60):
        with pytest.raises(MemoryError):
            await worker.serve()
    assert made.posted == ["Hello."]
    assert len(made.model.requests) == 1


class FlakyLeases(MemoryStore):
    """Leases of which the first two renewals fail, and that are refused once `lost` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.lost = False

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        self.asked += 1
        if self.asked == 2:
            raise TemporaryError("hiccup")
        if self.asked == 3:
            raise MemoryError
        return not self.lost and await super().lease(conversation, owner, now, seconds)


async def test_failed_lease_renewal_is_retried_and_a_lost_lease_stops_the_run() -> None:
    store = FlakyLeases()
    made = MemoryWorker(ListModel([]), store=store)
    asked = asyncio.Event()

    class PatientModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    made.worker = replace(
        made.worker, services=replace(made.worker.services, model=PatientModel()), limits=WorkerLimits(lease=0.06)
    )
    await made.accept("run1")
    hearing = asyncio.create_task(made.work_once())
    await asked.wait()
    async with asyncio.timeout(60):
        while store.asked < 5:
            await asyncio.sleep(0.005)
    assert not hearing.done()
    assert made.queue.extended >= 1
    store.lost = True
    async with asyncio.timeout(60):
        await hearing
    assert made.posted == [AT_WORK]
    assert await made.status("run1") == "running"


class FullDisk(MemoryStore):
    """A store that cannot destroy keys."""

    async def destroy_key(self, run: str) -> None:
        raise TemporaryError("disk full")


async def test_private_run_that_cannot_be_deleted_still_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without a workflow the run stays private. The next run of the conversation is still processed."""
    made = MemoryWorker(ListModel([]), store=FullDisk(), catalog=Catalog({}, Defaults()))
    await made.accept("run1", 1)
    await made.accept("run2", 2)
    while await made.work_once():
        pass
    assert [await made.status(run) for run in ("run1", "run2")] == ["failed", "failed"]
    assert "run run1 was not deleted completely; the next purge continues: disk full" in caplog.text
    head = await made.store.head("run1")
    assert head is not None
    assert head.retention == "deleting"
