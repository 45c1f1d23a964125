"""A full disk: runs stop without loss, send no request without an intent, and resume once there is space.

The disk is a limit on the pages of the file, a connection that refuses every write, or a folder that cannot be
written. No test waits: the clock is moved to where the queue message comes back or the sweeper enqueues it.
"""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest

from gofer.journal.blob_store import Blobs
from gofer.journal.coordination import UNFINISHED
from gofer.journal.entries import Entry, RunFinished, ToolCall
from gofer.journal.log import read_journal
from gofer.runtime.receive import Ingress
from gofer.runtime.slots import VISIBILITY_SECONDS
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker, WorkerLimits
from gofer.sources.receiver import RawRequest
from gofer.sources.slack.receiver import SlackReceiver
from gofer.stores.one_place import Stores
from gofer.stores.sqlite import journal as journal_sqlite
from gofer.stores.sqlite import queue as queue_sqlite
from gofer.stores.sqlite.blobs import DirectoryBlobs
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.values.errors import TemporaryError
from gofer.values.outside import SystemClock
from gofer_simulators.slack.workspace import Message
from support.app.company import PATIENCE, ROOT, Company, ask_about_the_decision, company
from support.crashes.spread import spread

pytestmark = pytest.mark.anyio

T = TypeVar("T")
SCHEMA = journal_sqlite.SCHEMA + queue_sqlite.SCHEMA
RESUMED_WITHIN = 2 * VISIBILITY_SECONDS + 180
"""Seconds after there is space again: the queue message is redelivered, a parked run resumes, or the sweeper acts."""


class MovableClock(SystemClock):
    """The machine's clock, moved forward instead of waited for."""

    moved = 0.0

    def now(self) -> float:
        return super().now() + self.moved

    def monotonic(self) -> float:
        return super().monotonic() + self.moved


class Unverified(SlackReceiver):
    """Slack's receiver without verification."""

    def verify(self, request: RawRequest, now: float) -> None:
        return


def reading_only(work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
    """Return the same work on a connection that refuses to write."""

    def refused(connection: sqlite3.Connection) -> T:
        connection.execute("PRAGMA query_only=ON")
        try:
            return work(connection)
        finally:
            connection.execute("PRAGMA query_only=OFF")

    return refused


class Disk(Database):
    """A database whose disk fills up: from job `full_at` on, `jobs` jobs cannot write."""

    def __init__(self, path: Path, full_at: int = 0, jobs: int = 10**9) -> None:
        super().__init__(path, SCHEMA)
        self.done = 0
        self._full = range(full_at, full_at + jobs) if full_at else range(0)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        self.done += 1
        tried = reading_only(work) if self.done in self._full else work
        return await super().run(tried, savepoint=savepoint)

    def fill(self) -> None:
        self._full = range(10**9)

    def make_room(self) -> None:
        self._full = range(0)

    async def limit(self, pages: int) -> None:
        await super().run(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchall())

    async def pages(self) -> int:
        return await super().run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])


@dataclass
class Desk:
    """One question and the Gofer that answers it, with its own disk."""

    made: Company
    asked: Message
    disk: Disk
    clock: MovableClock
    ingress: Ingress
    worker: Worker
    accepted: bool = False

    async def deliver(self) -> int:
        """Deliver the mention as Slack does; return the status."""
        envelope = json.dumps(self.made.slack.envelopes(self.asked)[0]).encode()
        reply = await self.ingress.receive(RawRequest("POST", "/slack/events", [], envelope))
        self.accepted = self.accepted or reply.status == 200
        return reply.status

    async def answer_due(self) -> None:
        """Run the worker and the sweeper once: handle due messages, enqueue runs without progress."""
        try:
            await Sweeper(self.worker.services.store, self.worker.queue, self.clock).sweep(180)
            for queue_message in await self.worker.queue.receive(100, VISIBILITY_SECONDS, 0):
                await self.worker.answer(queue_message)
        except TemporaryError:
            return

    async def seconds_until_it_ended(self) -> float:
        began = self.clock.moved
        while True:
            await self.answer_due()
            store = self.worker.services.store
            heads = await store.heads(9, private=True)
            if heads and heads[0].status not in UNFINISHED:
                return self.clock.moved - began
            assert self.clock.moved - began < 10_000, heads
            self.clock.moved += 10

    async def journal(self) -> Sequence[Entry]:
        store = self.worker.services.store
        with closing(sqlite3.connect(self.disk._path)) as connection:
            runs = {row[0] for row in connection.execute("SELECT run FROM frames")}
        assert len(runs) <= 1
        return [item.entry for run in runs for item in await read_journal(run, store, self.worker.services.blobs)]

    def answers(self) -> Sequence[Message]:
        """Return the messages between this question and the next one."""
        thread = self.made.thread(self.asked)
        after = [message for message in thread if message.ts > self.asked.ts]
        people = [index for index, message in enumerate(after) if message.user != self.made.slack.workspace.bot.user]
        return after[: people[0]] if people else after


@asynccontextmanager
async def desk(made: Company, disk: Disk, blobs: Blobs | None = None) -> AsyncIterator[Desk]:
    clock = MovableClock()
    store, queue = SqliteStore(disk, KeyFile(disk._path.parent / "keys")), SqliteQueue(disk, clock)
    front = made.embedded.ingress
    stores = replace(front.stores, journals=store, queue=queue)
    ingress = replace(front, receivers={"/slack/events": Unverified(())}, stores=stores)
    services = made.embedded.worker.services
    blobs = blobs or DirectoryBlobs(disk._path.parent / "blobs")
    outside = replace(services.outside, clock=clock)
    services = replace(services, stores=Stores(store, blobs, queue), outside=outside, patience=PATIENCE)
    worker = replace(made.embedded.worker, services=services)
    try:
        yield Desk(made, await ask_about_the_decision(made), disk, clock, ingress, worker)
    finally:
        disk.close()


async def stops_cleanly(there: Desk) -> None:
    """Check the full disk: no event is accepted without being stored, and no call is sent without an intent."""
    status = await there.deliver()
    assert status in (200, 503)
    for _ in range(3):
        await there.answer_due()
        there.clock.moved += VISIBILITY_SECONDS + 1
    calls = [entry for entry in await there.journal() if isinstance(entry, ToolCall)]
    assert len(there.answers()) <= sum(call.tool == "slack_post_message" for call in calls)


async def goes_on(there: Desk) -> None:
    """Check the recovery: one answer, delivered once, within the time of a redelivery."""
    if not there.accepted:
        assert await there.deliver() == 200
    assert await there.seconds_until_it_ended() <= RESUMED_WITHIN
    (answer,) = there.answers()
    assert "address form in checkout" in answer.text
    entries = await there.journal()
    assert entries[-2] == RunFinished("done")
    assert sum(isinstance(entry, ToolCall) and entry.call == "answer/1" for entry in entries) == 1


def small_pages(path: Path) -> Path:
    """Return a database that grows in small steps, so that a page limit can fall anywhere in a run."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA page_size=512; PRAGMA journal_mode=WAL; VACUUM;")
    return path


async def test_run_stops_cleanly_at_every_disk_size_and_ends_when_there_is_space(tmp_path: Path) -> None:
    stopped = 0
    async with company(tmp_path / "simulators", work=False) as made:
        async with desk(made, Disk(small_pages(tmp_path / "roomy" / "gofer.db"))) as there:
            first = await there.disk.pages()
            await goes_on(there)
            last = await there.disk.pages()
        sizes = range(first, last + 1)
        for pages in sizes:
            async with desk(made, Disk(small_pages(tmp_path / str(pages) / "gofer.db"))) as there:
                await there.disk.limit(pages)
                await stops_cleanly(there)
                stopped += RunFinished("done") not in await there.journal()
                await there.disk.limit(2**30)
                await goes_on(there)
    assert stopped >= len(sizes) / 2 >= 5


@pytest.mark.parametrize("jobs", [1, 10**9], ids=["one write", "every write from there on"])
async def test_run_survives_a_full_disk_at_every_write(everywhere: bool, tmp_path: Path, jobs: int) -> None:
    """The disk is full at each write of a frame, head, lease or queue message, once or until there is space."""
    async with company(tmp_path / "simulators", work=False) as made:
        for full_at in spread(everywhere, range(1, 1_000), 3, jobs % 2):
            folder = tmp_path / str(full_at)
            folder.mkdir()
            async with desk(made, Disk(folder / "gofer.db", full_at, jobs)) as there:
                await stops_cleanly(there)
                if there.disk.done < full_at:
                    break
                there.disk.make_room()
                await goes_on(there)
    assert full_at > 20


async def test_delivery_on_a_full_disk_is_refused_and_stores_no_row(tmp_path: Path) -> None:
    async with (
        company(tmp_path / "simulators", work=False) as made,
        desk(made, Disk(tmp_path / "gofer.db", full_at=1)) as there,
    ):
        assert await there.deliver() == 503
        there.disk.make_room()
        assert list(await there.journal()) == []
        assert list(await there.worker.services.store.heads(9, private=True)) == []
        assert list(await there.worker.queue.receive(9, 1, 0)) == []
        # Slack delivers again, as after any 5xx.
        await goes_on(there)


async def test_unwritable_body_folder_stops_the_run_until_writable(tmp_path: Path) -> None:
    async with company(tmp_path / "simulators", work=False) as made, desk(made, Disk(tmp_path / "gofer.db")) as there:
        in_its_place = tmp_path / "blobs"
        in_its_place.write_text("a file where a folder should be")
        await stops_cleanly(there)
        assert there.accepted
        assert there.answers() == []
        assert RunFinished not in [type(entry) for entry in await there.journal()]
        in_its_place.unlink()
        await goes_on(there)


async def test_worker_and_sweeper_keep_serving_through_a_full_disk(tmp_path: Path) -> None:
    """Neither the loop of the worker nor that of the sweeper ends, and both recover by themselves."""
    async with company(tmp_path / "simulators", work=False) as made, desk(made, Disk(tmp_path / "gofer.db")) as there:
        assert await there.deliver() == 200
        there.disk.fill()
        worker = replace(there.worker, limits=WorkerLimits(pause=0.01))
        sweeper = Sweeper(worker.services.store, worker.queue, there.clock, every=0.01, still=0)
        serving = [asyncio.create_task(worker.serve()), asyncio.create_task(sweeper.serve())]
        done = there.disk.done
        while there.disk.done < done + 20:
            await asyncio.sleep(0.01)
        assert not any(task.done() for task in serving)
        assert there.answers() == []
        there.disk.make_room()
        async with asyncio.timeout(60):
            while not there.answers():
                await asyncio.sleep(0.01)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await goes_on(there)


def test_process_with_a_file_size_limit_stops_cleanly_and_resumes_with_space(tmp_path: Path) -> None:
    """With RLIMIT_FSIZE the operating system refuses the write itself: of SQLite's log, or of a body."""
    process = subprocess.run(
        [sys.executable, "-m", "support.crashes.full_disk_gofer", str(tmp_path), "20", "45", "60"],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["tests", "tests/survival"])},
        cwd=ROOT,
    )
    assert process.returncode == 0, process.stderr
    told = json.loads(process.stdout)
    assert [(one["status"], one["answers"]) for one in told] == [("done", 1)] * 3
    assert [one["answers while full"] for one in told] == [0, 0, 0]
