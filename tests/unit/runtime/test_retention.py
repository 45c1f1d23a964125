"""Retention: which runs are deleted and when, and how an interrupted deletion is completed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import inbox
from gofer.journal.coordination import UNFINISHED, Head, HeadStatus, Retention, Usage
from gofer.journal.entries import MessageReceived, RunFinished, RunStarted, Status
from gofer.journal.log import open_journal, read_journal
from gofer.journal.store import Store
from gofer.runtime.concurrency import AT_ONCE
from gofer.runtime.retention import BATCH, DAYS, Purged, Purger, delete, end_waiting, keep
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt, Gone, TemporaryError
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as virtually
from support.stand_ins import NOON, SetClock, any_store, claimed, make_outside

pytestmark = pytest.mark.anyio

DAY = 86_400
STATUSES: list[HeadStatus] = [*UNFINISHED, *get_args(Status)]


@dataclass
class Archive:
    """Runs in a store, and a purge at a later day."""

    store: Store = field(default_factory=MemoryStore)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    clock: SetClock = field(default_factory=SetClock)

    async def add(
        self,
        run: str = "r",
        *,
        private: bool = False,
        finished: bool = True,
        status: HeadStatus = "done",
        retention: Retention = "due",
    ) -> None:
        """Store a run with a body and an inbox item, as a worker leaves it."""
        pen = await claimed(self.store, run, make_outside(self.clock))
        journal, _ = await open_journal(run, self.store, self.blobs, pen)
        journal.add(RunStarted("bundle", private))
        journal.add(MessageReceived("long " * 10_000))
        await journal.commit()
        if finished:
            journal.add(RunFinished("done"))
            await journal.commit()
        await inbox.put(self.store, run, "a", MessageReceived("too late"))
        head = Head(run, "w", "c", int(NOON * 1000), status, private, int(NOON * 1000), retention=retention)
        await self.store.create_head(head)

    async def purge(self, days: int = DAYS, *, after: float = 0.0) -> Purged:
        self.clock.advance(after * DAY)
        return await Purger(Stores(self.store, self.blobs, MemoryQueue(self.clock)), self.clock).purge(days)

    async def contents(self, run: str = "r") -> str:
        """Return `there`, `deleted` or `forgotten`. Any state in between is an error."""
        frames, key, items = await self.store.frames(run), await self.store.key(run), await self.store.items(run)
        head, bodies = await self.store.head(run), [name for name in self.blobs._bodies if name.startswith(f"{run}/")]
        match (bool(frames), any(frames), bool(key), bool(items), bool(bodies), bool(head)):
            case (True, True, True, True, True, True):
                return "there"
            case (True, False, False, False, False, True):
                return "deleted"
            case (False, False, False, False, False, False):
                return "forgotten"
            case state:
                raise AssertionError(state)


async def test_run_is_deleted_thirty_days_after_the_end() -> None:
    made = Archive()
    await made.add()
    assert (await made.purge(after=29.9), await made.contents()) == (Purged(), "there")
    assert (await made.purge(after=0.1), await made.contents()) == (Purged(1, 1), "forgotten")
    assert await made.purge() == Purged()


async def test_empty_frames_of_a_run_deleted_early_stay_until_the_thirtieth_day() -> None:
    made = Archive()
    await made.add()
    assert (await made.purge(3, after=2), await made.contents()) == (Purged(), "there")
    assert (await made.purge(3, after=1), await made.contents()) == (Purged(1, 0), "deleted")
    with pytest.raises(Gone):
        await read_journal("r", made.store, made.blobs)
    assert (await made.purge(3, after=26), await made.contents()) == (Purged(), "deleted")
    assert (await made.purge(3, after=1), await made.contents()) == (Purged(0, 1), "forgotten")


async def test_private_run_that_was_not_deleted_at_the_end_is_deleted_by_the_next_purge() -> None:
    made = Archive()
    await made.add(private=True)
    assert (await made.purge(), await made.contents()) == (Purged(1, 0), "deleted")


async def test_unreadable_private_run_is_deleted_only_after_thirty_days() -> None:
    """A newer version of Gofer may be able to read the run."""
    made = Archive()
    await made.add(private=True, finished=False, status="needs_attention")
    await made.store.create("r", 3, b"a frame of another Gofer")
    assert (await made.purge(after=29), await made.contents()) == (Purged(), "there")
    assert await made.purge(after=1) == Purged(1, 1)


async def test_private_run_with_an_unfinished_journal_is_not_purged_despite_an_ended_head() -> None:
    made = Archive()
    await made.add(private=True, finished=False)
    assert (await made.purge(), await made.contents()) == (Purged(), "there")


async def test_kept_run_is_purged_only_after_release() -> None:
    made = Archive()
    await made.add()
    assert await keep("r", made.store, wanted=True)
    assert await keep("r", made.store, wanted=True)
    assert (await made.purge(after=400), await made.contents()) == (Purged(), "there")
    assert await keep("r", made.store, wanted=False)
    assert await made.purge() == Purged(1, 1)
    assert not await keep("r", made.store, wanted=True)


@pytest.mark.parametrize("private", [False, True])
async def test_run_kept_during_a_purge_is_not_deleted(private: bool) -> None:
    made = Archive()
    await made.add(private=private)
    made.clock.advance(400 * DAY)
    stores = Stores(made.store, made.blobs, MemoryQueue(made.clock))
    (listed,) = await Purger(stores, made.clock).due()
    assert await keep("r", made.store, wanted=True)
    assert (await delete([listed.run], stores), await made.contents()) == (0, "there")


@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=3),
        st.tuples(st.sampled_from(STATUSES), st.booleans(), st.sampled_from(["due", "kept"])),
        max_size=6,
    ),
    st.integers(0, 40),
    st.integers(0, 60),
)
async def test_purge_deletes_only_ended_runs_that_are_due_and_not_kept(
    runs: Mapping[str, tuple[HeadStatus, bool, Retention]], days: int, age: int
) -> None:
    made = Archive()
    for run, (status, private, retention) in runs.items():
        finished = status not in UNFINISHED
        await made.add(run, private=private, finished=finished, status=status, retention=retention)
    await made.purge(days, after=age)
    for run, (status, private, retention) in runs.items():
        due = status not in UNFINISHED and retention == "due" and (private or age >= days)
        expected = ("forgotten" if age >= DAYS else "deleted") if due else "there"
        assert await made.contents(run) == expected


class Killed(BaseException):
    """The process was killed."""


class Fuse:
    """A fuse that allows a number of calls, and kills the process at the next one."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def around(self, target: object) -> "Fused":
        return Fused(self, target)


class Fused:
    """A store or blobs behind a fuse."""

    def __init__(self, fuse: Fuse, target: object) -> None:
        self._fuse = fuse
        self._target = target

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        async def call(*arguments: object, **named: object) -> object:
            if not self._fuse.left:
                raise Killed
            self._fuse.left -= 1
            return await getattr(self._target, name)(*arguments, **named)

        return call


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("age", [3, 31])
async def test_purge_killed_at_any_call_is_completed_by_the_next_purge(tmp_path: Path, kind: str, age: int) -> None:
    expected = {"public": "forgotten" if age > DAYS else "there", "secret": "forgotten" if age > DAYS else "deleted"}
    for calls in range(100):
        folder = tmp_path / f"{kind}{calls}"
        folder.mkdir()
        with any_store(kind, folder) as store:
            made = Archive(store)
            await made.add("public")
            await made.add("secret", private=True)
            made.clock.advance(age * DAY)
            fuse = Fuse(calls)
            stores = Stores(fuse.around(made.store), fuse.around(made.blobs), MemoryQueue(made.clock))  # type: ignore[arg-type]
            purger = Purger(stores, made.clock)
            with suppress(Killed):
                await purger.purge()
            await readable_or_gone(made)
            await made.purge()
            assert {run: await made.contents(run) for run in expected} == expected, f"killed at call {calls}"
            if fuse.left:
                assert calls > 10
                return
    pytest.fail("the purge never came to its end")


async def readable_or_gone(made: Archive) -> None:
    """Check that each run is either complete or deleted."""
    for run in ("public", "secret"):
        try:
            entries = await read_journal(run, made.store, made.blobs)
        except Gone:
            continue
        assert [type(item.entry) for item in entries[1:]] in ([], [RunStarted, MessageReceived, RunFinished])
        assert len(entries) in (0, 4)


class FullDisk(MemoryBlobs):
    """Bodies whose removal fails once."""

    failures = 1

    async def drop(self, folder: str) -> None:
        if self.failures:
            self.failures -= 1
            raise TemporaryError("read-only")
        await super().drop(folder)


async def test_failed_purge_is_logged_and_retried(caplog: pytest.LogCaptureFixture) -> None:
    made = Archive(blobs=FullDisk())
    await made.add(private=True)
    serving = asyncio.create_task(
        Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock, every=0.01).serve()
    )
    async with asyncio.timeout(60):
        while (head := await made.store.head("r")) is None or head.retention != "deleted":
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert "the purge was not completed, and is repeated: read-only" in caplog.text
    assert await made.contents() == "deleted"


class ReadElsewhere(MemoryStore):
    """A store whose log is blocked by another process for some attempts."""

    def __init__(self, attempts: int) -> None:
        super().__init__()
        self.attempts = attempts
        self.tried: list[float] = []

    async def scrub(self) -> None:
        self.tried.append(asyncio.get_running_loop().time())
        if len(self.tried) <= self.attempts:
            raise TemporaryError("The log is read elsewhere.")


def test_deletion_blocked_by_a_reader_is_retried_with_growing_pauses(caplog: pytest.LogCaptureFixture) -> None:
    made = Archive(ReadElsewhere(8))

    async def play() -> Head | None:
        await made.add(private=True)
        serving = asyncio.create_task(
            Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock).serve()
        )
        await asyncio.sleep(400)
        serving.cancel()
        return await made.store.head("r")

    head = virtually(VirtualLoop(), play())
    assert head is not None
    assert head.retention == "deleted"
    assert isinstance(made.store, ReadElsewhere)
    assert made.store.tried == [0.0, 2.0, 6.0, 14.0, 30.0, 62.0, 122.0, 182.0, 242.0]
    assert caplog.text.count("the purge was not completed, and is repeated") == 1


def test_deletion_begun_by_another_process_is_finished_within_seconds() -> None:
    made = Archive()

    async def play() -> Head | None:
        serving = asyncio.create_task(
            Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock).serve()
        )
        await asyncio.sleep(100)
        await made.add(private=True)
        await made.store.retain("r", "due", "deleting")
        await asyncio.sleep(2.5)
        serving.cancel()
        return await made.store.head("r")

    head = virtually(VirtualLoop(), play())
    assert head is not None
    assert head.retention == "deleted"


class DamagedRows(MemoryStore):
    """A store whose list of ended runs is corrupt once."""

    damaged = True

    async def ended(
        self, retention: Retention, before: int, limit: int, *, private: bool = False, after: Head | None = None
    ) -> Sequence[Head]:
        if self.damaged:
            self.damaged = False
            raise Corrupt("gofer.db cannot be read; stop Gofer and restore the file from a backup.")
        return await super().ended(retention, before, limit, private=private, after=after)


async def test_purge_continues_after_a_corrupt_read(caplog: pytest.LogCaptureFixture) -> None:
    made = Archive(DamagedRows())
    await made.add(private=True)
    serving = asyncio.create_task(
        Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock, every=0.01).serve()
    )
    async with asyncio.timeout(60):
        while (head := await made.store.head("r")) is None or head.retention != "deleted":
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert "the purge was not completed, and is repeated: gofer.db cannot be read" in caplog.text


class SlowRemoval(MemoryBlobs):
    """Bodies whose removal takes a second, and that counts the removals in progress."""

    def __init__(self, clock: SetClock) -> None:
        super().__init__()
        self._clock = clock
        self._running = 0
        self.most = 0

    async def drop(self, folder: str) -> None:
        self._running += 1
        self.most = max(self.most, self._running)
        await asyncio.sleep(0)
        self._clock.advance(1.0)
        self._running -= 1


async def due_heads(count: int, **changes: object) -> Archive:
    """Return an archive of runs without frames that are due."""
    clock = SetClock()
    made = Archive(blobs=SlowRemoval(clock), clock=clock)
    for n in range(count):
        at = int((NOON - 31 * DAY) * 1000) + n
        await made.store.create_head(Head(f"r{n}", "w", "c", at, "done", False, at, **changes))  # type: ignore[arg-type]
    return made


async def test_purge_out_of_time_is_continued_until_no_run_is_due() -> None:
    made = await due_heads(2 * BATCH + 5)
    purger = Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock)
    assert await purger.purge(seconds=10.0) == Purged(BATCH, BATCH)
    assert await purger.catch_up(10.0) == Purged(BATCH, BATCH)
    assert await purger.catch_up(3_600.0) == Purged(5, 5)
    assert await purger.catch_up(3_600.0) == Purged()
    assert list(await made.store.heads(9)) == []


async def test_runs_that_were_deleted_early_are_forgotten_by_the_next_catch_up() -> None:
    made = await due_heads(3, retention="deleted")
    purger = Purger(Stores(made.store, made.blobs, MemoryQueue(made.clock)), made.clock)
    assert await purger.catch_up(60.0) == Purged(0, 3)
    assert list(await made.store.heads(9)) == []


async def test_runs_are_deleted_at_once_up_to_a_limit() -> None:
    made = await due_heads(5 * AT_ONCE)
    assert (await made.purge()).deleted == 5 * AT_ONCE
    assert isinstance(made.blobs, SlowRemoval)
    assert made.blobs.most == AT_ONCE


async def test_unlisted_claim_is_forgotten_after_thirty_days() -> None:
    """The process crashed between the first frame and the head, and the event was never delivered again."""
    made = Archive()
    await claimed(made.store, "r", make_outside(made.clock))
    assert (await made.purge(after=29.9), bool(await made.store.frames("r"))) == (Purged(), True)
    await made.add("listed", finished=False, status="parked")
    assert (await made.purge(after=0.2), await made.contents()) == (Purged(0, 1), "forgotten")
    assert (await made.purge(after=400), await made.contents("listed")) == (Purged(), "there")


async def test_dead_letters_are_purged_after_thirty_days() -> None:
    made = Archive()
    queue = MemoryQueue(made.clock)
    purger = Purger(Stores(made.store, made.blobs, queue), made.clock)
    await queue.enqueue("r")
    for queue_message in await queue.receive(1, 60, 0):
        await queue.move_to_dead_letters(queue_message, "trouble")
    for days, left in ((29, 1), (2, 0)):
        made.clock.advance(days * DAY)
        await purger.purge()
        assert len(await queue.dead_letters(9)) == left


async def test_missing_body_is_reported_corrupt_and_not_deleted() -> None:
    made = Archive()
    await made.add()
    for name in list(made.blobs._bodies):
        del made.blobs._bodies[name]
    with pytest.raises(Corrupt, match="missing"):
        await read_journal("r", made.store, made.blobs)


async def test_usage_is_purged_after_two_days() -> None:
    archive = Archive()
    await archive.store.put_usage([Usage("ada", "r", int(NOON * 1000), 0.5)])
    archive.clock.advance(2 * DAY)
    await Purger(Stores(archive.store, archive.blobs, MemoryQueue(archive.clock)), archive.clock).purge()
    assert len(await archive.store.usage("ada", 0)) == 1
    archive.clock.advance(1)
    await Purger(Stores(archive.store, archive.blobs, MemoryQueue(archive.clock)), archive.clock).purge()
    assert list(await archive.store.usage("ada", 0)) == []


async def test_memos_are_purged_after_a_year() -> None:
    archive = Archive()
    await archive.store.put_memo("k", "seen", int(NOON * 1000))
    archive.clock.advance(366 * DAY)
    await Purger(Stores(archive.store, archive.blobs, MemoryQueue(archive.clock)), archive.clock).purge()
    assert await archive.store.memo("k") == "seen"
    archive.clock.advance(1)
    await Purger(Stores(archive.store, archive.blobs, MemoryQueue(archive.clock)), archive.clock).purge()
    assert await archive.store.memo("k") is None


async def test_wait_of_bad_feedback_ends_ninety_days_after_the_run() -> None:
    made = Archive()
    await made.add(retention="unseen")
    assert (await made.purge(after=89.9), await made.contents()) == (Purged(unseen=1, oldest_days=89), "there")
    purged = await made.purge(after=0.1)
    assert (purged, await made.contents()) == (Purged(1, 1, overlooked=1), "forgotten")
    assert purged.proposal == "after 90 days without a look at their bad feedback, 1 run will be deleted"


async def test_all_runs_with_bad_feedback_are_counted() -> None:
    made = await due_heads(2 * BATCH + 5, retention="unseen")
    assert await made.purge() == Purged(unseen=2 * BATCH + 5, oldest_days=31)


async def test_private_run_is_deleted_behind_many_that_became_private_later() -> None:
    made = Archive()
    for n in range(BATCH + 1):
        await made.add(f"hidden{n}")
        await made.store.hide(f"hidden{n}")
    made.clock.advance(1.0)
    await made.add("z", private=True)
    assert (await made.purge(), await made.contents("z")) == (Purged(1, 0), "deleted")


async def test_run_with_bad_feedback_is_proposed_and_deleted_only_after_its_owner_looked() -> None:
    made = Archive()
    for run in ("a", "b", "c"):
        await made.add(run, retention="unseen")
    await made.add("hidden", private=False, retention="unseen")
    await made.store.hide("hidden")
    purged = await made.purge(after=47)
    assert purged.proposal == (
        "3 runs with bad feedback, the oldest 47 days old, wait for their owners: gofer feedback"
    )
    assert await end_waiting("a", made.store)
    assert await keep("b", made.store, wanted=True)
    assert not await end_waiting("b", made.store)
    purged = await made.purge()
    assert (purged.unseen, await made.contents("a"), await made.contents("b")) == (1, "forgotten", "there")
    assert await made.contents("c") == "there"
    # The place of this run became private, so its contents wait for no person.
    assert await made.contents("hidden") == "forgotten"
