import asyncio
from collections.abc import Sequence

import pytest

from gofer.journal.codec import to_json
from gofer.journal.coordination import Head
from gofer.journal.entries import FORMAT, MessageReceived, RunAccepted, RunFinished, RunOwned
from gofer.journal.frames import GENESIS, UNCOMPRESSED, Frame, frame_hash
from gofer.journal.log import Pen, claim, open_claim, open_journal, read_journal
from gofer.journal.seal import KEY_BYTES, Seal, seal_of
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.values.canonical_json import encode
from gofer.values.errors import Corrupt, Fenced, Gone, OtherVersion, TemporaryError
from support.journal.stored_bytes import frame_bytes
from support.stand_ins import SetClock, claimed, make_outside, memory_stores, mention

pytestmark = pytest.mark.anyio

KEY = bytes(range(KEY_BYTES))


async def test_journal_commit_writes_the_draft_as_one_frame_with_known_addresses() -> None:
    store, blobs = memory_stores()
    clock = SetClock()
    pen = await claimed(store, outside=make_outside(clock))
    journal, _ = await open_journal("run1", store, blobs, pen)
    first = journal.add(RunOwned())
    clock.advance(5)
    second = journal.add(MessageReceived("hello"))
    await journal.commit()
    await journal.commit()
    third = journal.add(RunFinished("done"))
    await journal.commit()
    assert [item.address for item in (first, second, third)] == ["2.0", "2.1", "3.0"]
    assert list(await read_journal("run1", store, blobs))[1:] == [first, second, third]
    assert first.at == second.at == third.at - 5000


async def test_journal_commit_of_the_slower_owner_is_fenced_and_not_written() -> None:
    store, blobs = memory_stores()
    pen = await claimed(store)
    old, _ = await open_journal("run1", store, blobs, Pen("old", pen.outside))
    new, _ = await open_journal("run1", store, blobs, Pen("new", pen.outside))
    new.add(RunOwned())
    await new.commit()
    old.add(RunFinished("failed"))
    with pytest.raises(Fenced):
        await old.commit()
    assert [item.owner for item in await read_journal("run1", store, blobs)] == ["ingress", "new"]


class ForgetfulStore(MemoryStore):
    """A store that loses the response of each write, so that the write is repeated, as an SDK does."""

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        await super().claim(run, frame, key, at)
        return await super().claim(run, frame, key, at)

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        await super().create(run, n, frame)
        return await super().create(run, n, frame)


async def test_journal_commit_with_a_lost_response_is_recognized_as_own() -> None:
    store, (_, blobs) = ForgetfulStore(), memory_stores()
    pen = await claimed(store)
    journal, _ = await open_journal("run1", store, blobs, pen)
    journal.add(RunOwned())
    await journal.commit()
    journal.add(RunFinished("done"))
    await journal.commit()
    assert [item.n for item in await read_journal("run1", store, blobs)] == [1, 2, 3]


async def test_second_claim_of_a_run_returns_the_first_claim() -> None:
    store, _ = memory_stores()
    outside = make_outside()
    accepted = RunAccepted(mention(), "answer-here")
    assert await claim("r", accepted, Pen("a", outside), store, MemoryBlobs()) is None
    standing = await claim("r", accepted, Pen("b", outside), store, MemoryBlobs())
    assert standing is not None
    said = await open_claim("r", standing, store, MemoryBlobs())
    assert said is not None
    assert (said.owner, said.entry) == ("a", accepted)
    assert len(await store.frames("r")) == 1


async def test_journal_restores_large_values_stored_outside_the_frame() -> None:
    store, blobs = memory_stores()
    journal, _ = await open_journal("run1", store, blobs, await claimed(store))
    text = "a long thread " * 20_000
    journal.add(MessageReceived(text))
    await journal.commit()
    assert (await read_journal("run1", store, blobs))[-1].entry == MessageReceived(text)
    assert len((await store.frames("run1"))[-1]) < 1_000


async def test_journal_of_format_2_is_continued_in_the_present_format() -> None:
    store, blobs = memory_stores()
    header = bytes([UNCOMPRESSED]) + GENESIS
    plain = encode({"at": 1, "owner": "o", "nonce": "n", "entries": [to_json(RunAccepted(mention(), "answer-here"))]})
    sealed = header + Seal("run1", KEY).close("frame 1", plain, header)
    await store.claim("run1", sealed, KEY)
    journal, before = await open_journal("run1", store, blobs, Pen("me", make_outside()))
    journal.add(RunOwned())
    await journal.commit()
    stored = await store.frames("run1")
    assert [raw[0] for raw in stored] == [UNCOMPRESSED, FORMAT]
    assert [item.address for item in await read_journal("run1", store, blobs)] == [before[0].address, "2.0"]


async def test_journal_body_is_stored_before_the_frame_that_names_the_body() -> None:
    happened: list[str] = []

    class WatchedStore(MemoryStore):
        async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
            happened.append("frame 1")
            return await super().claim(run, frame, key, at)

        async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
            happened.append(f"frame {n}")
            return await super().create(run, n, frame)

    class WatchedBlobs(MemoryBlobs):
        async def put(self, key: str, body: bytes) -> None:
            happened.append("body")
            await super().put(key, body)

    store = WatchedStore()
    journal, _ = await open_journal("run1", store, WatchedBlobs(), await claimed(store))
    journal.add(MessageReceived("long " * 10_000))
    await journal.commit()
    assert happened == ["frame 1", "body", "frame 2"]


class GrowingStore(MemoryStore):
    """A store in which another owner writes a frame and its head between any two reads."""

    async def head(self, run: str) -> Head | None:
        found = await super().head(run)
        await self._grow(run)
        return found

    async def frames(self, run: str) -> Sequence[bytes]:
        found = await super().frames(run)
        await self._grow(run)
        return found

    async def _grow(self, run: str) -> None:
        stored = await super().frames(run)
        frame = Frame(len(stored) + 1, 1, "o", "n", frame_hash(stored[-1]), [to_json(RunOwned())])
        await self.create(run, frame.n, frame_bytes(frame, await seal_of(run, self)))
        await self.put_head(Head(run, "answer-here", "c", 1, frames=frame.n))


async def test_journal_that_lost_the_last_frames_is_reported_corrupt() -> None:
    store, blobs = memory_stores()
    pen = await claimed(store)
    await store.put_head(Head("run1", "answer-here", "c", 1, frames=3))
    said = "Run run1 is damaged after frame 1: 3 frames were written and 1 are there"
    with pytest.raises(Corrupt, match=said):
        await read_journal("run1", store, blobs)
    with pytest.raises(Corrupt, match=said):
        await open_journal("run1", store, blobs, pen)


async def test_journal_that_grows_during_a_read_is_not_reported_corrupt() -> None:
    store, (_, blobs) = GrowingStore(), memory_stores()
    await claimed(store)
    for _ in range(5):
        assert await read_journal("run1", store, blobs)


@pytest.mark.parametrize("known", [None, 0, 1])
async def test_journal_with_more_frames_than_the_head_records_is_read(known: int | None) -> None:
    store, blobs = memory_stores()
    journal, _ = await open_journal("run1", store, blobs, await claimed(store))
    journal.add(RunOwned())
    await journal.commit()
    if known is not None:
        await store.put_head(Head("run1", "answer-here", "c", 1, frames=known))
    assert [item.n for item in await read_journal("run1", store, blobs)] == [1, 2]


async def test_unreadable_entry_is_reported_with_run_and_frame() -> None:
    store, blobs = memory_stores()
    await claimed(store)
    (first,) = await store.frames("run1")
    unknown = Frame(2, 1, "o", "n", frame_hash(first), [{"kind": "run.dreamed"}])
    await store.create("run1", 2, frame_bytes(unknown, await seal_of("run1", store)))
    with pytest.raises(OtherVersion) as caught:
        await read_journal("run1", store, blobs)
    said = "Run run1 cannot be read at frame 2: this journal has an entry of kind 'run.dreamed'; "
    assert str(caught.value) == said + "read it with the Gofer that wrote it."


async def test_journal_that_does_not_begin_with_the_claim_is_reported_corrupt() -> None:
    store, blobs = memory_stores()
    frame = frame_bytes(Frame(1, 1, "o", "n", GENESIS, [to_json(RunOwned())]), Seal("r", KEY))
    await store.claim("r", frame, KEY)
    with pytest.raises(Corrupt, match="does not begin with the claim"):
        await read_journal("r", store, blobs)


async def test_unknown_run_has_an_empty_journal_that_cannot_be_opened() -> None:
    store, blobs = memory_stores()
    assert list(await read_journal("nobody", store, blobs)) == []
    with pytest.raises(Gone):
        await open_journal("nobody", store, blobs, Pen("me", make_outside()))


async def test_journal_of_a_run_with_a_destroyed_key_is_reported_deleted() -> None:
    store, blobs = memory_stores()
    pen = await claimed(store)
    await store.destroy_key("run1")
    with pytest.raises(Gone, match="deleted by retention"):
        await read_journal("run1", store, blobs)
    with pytest.raises(Gone):
        await open_journal("run1", store, blobs, pen)


async def test_journal_deleted_during_a_read_is_reported_deleted_and_not_corrupt() -> None:
    class Slow(MemoryBlobs):
        async def get(self, key: str) -> bytes:
            await store.destroy_key("run1")
            await self.drop("run1")
            return await super().get(key)

    store, blobs = MemoryStore(), Slow()
    journal, _ = await open_journal("run1", store, blobs, await claimed(store))
    journal.add(MessageReceived("long " * 10_000))
    await journal.commit()
    with pytest.raises(Gone):
        await read_journal("run1", store, blobs)


async def test_stalled_owner_cannot_write_into_a_deleted_run() -> None:
    store, blobs = memory_stores()
    pen = await claimed(store)
    frozen, _ = await open_journal("run1", store, blobs, Pen("frozen", pen.outside))
    other, _ = await open_journal("run1", store, blobs, Pen("other", pen.outside))
    other.add(RunFinished("done"))
    await other.commit()
    await store.destroy_key("run1")
    await store.empty("run1")
    frozen.add(RunOwned())
    with pytest.raises(Fenced):
        await frozen.commit()


class SlowStore(MemoryStore):
    """A store that waits for `go_on` before it writes a frame, and may fail instead."""

    def __init__(self) -> None:
        super().__init__()
        self.writing, self.go_on = asyncio.Event(), asyncio.Event()
        self.fails = False

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        self.writing.set()
        await self.go_on.wait()
        if self.fails:
            self.fails = False
            raise TemporaryError("no room")
        return await super().create(run, n, frame)


@pytest.mark.parametrize("fails", [False, True])
async def test_entry_added_during_a_commit_is_written_by_the_next_commit(fails: bool) -> None:
    store, blobs = SlowStore(), MemoryBlobs()
    journal, _ = await open_journal("run1", store, blobs, await claimed(store))
    store.fails = fails
    journal.add(MessageReceived("one"))
    first = asyncio.create_task(journal.commit())
    await store.writing.wait()
    assert journal.add(MessageReceived("two")).address == "3.0"
    second = asyncio.create_task(journal.commit())
    store.go_on.set()
    assert [type(result) for result in await asyncio.gather(first, second, return_exceptions=True)] == [
        TemporaryError if fails else bool,
        bool,
    ]
    assert not journal.drafted
    stored = [(item.address, item.entry) for item in await read_journal("run1", store, blobs)][1:]
    assert stored == [("2.0", MessageReceived("one")), ("2.1" if fails else "3.0", MessageReceived("two"))]
