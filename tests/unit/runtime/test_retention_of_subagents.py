"""Retention of subagents: they are deleted with their run, also after crashes and where journals are corrupt."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.entries import MessageReceived, RunAccepted, RunFinished, RunStarted, SubagentStarted
from gofer.journal.lineage import child_of, root_of
from gofer.journal.log import claim, open_journal, read_body, read_journal
from gofer.journal.store import Store
from gofer.runtime.retention import Purged, Purger, delete
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import Gone
from support.aws.memory_table import MemoryTable
from support.stand_ins import NOON, SetClock, any_store, claimed, make_outside, mention

pytestmark = pytest.mark.anyio
BELOW = child_of("r", "1.0")
LOWEST = child_of(BELOW, "1.0")
SECRET = b"nobody is to read this " * 2_000


@contextmanager
def a_store(kind: str, folder: Path) -> Iterator[Store]:
    if kind == "dynamodb":
        yield DynamoStore(MemoryTable())
        return
    with any_store(kind, folder) as store:
        yield store


async def grown(store: Store, blobs: MemoryBlobs, *, private: bool = False) -> str:
    """Store an ended run with a subagent and its subagent. Return the name of a body of the lowest one."""
    pen, above, body = await claimed(store, "r", make_outside(SetClock())), "", ""
    for run, asks in (("r", BELOW), (BELOW, LOWEST), (LOWEST, "")):
        if above:
            assert await claim(run, RunAccepted(mention(), "w", parent=above), pen, store, blobs) is None
        journal, _ = await open_journal(run, store, blobs, pen)
        journal.add(RunStarted("bundle", private))
        journal.add(MessageReceived("long " * 10_000))
        if asks:
            journal.add(SubagentStarted("1.0", "s", "p", {}, asks))
        await journal.commit()
        body, above = await journal.keep(SECRET), run
        journal.add(RunFinished("done"))
        await journal.commit()
    head = Head("r", "w", "c", int(NOON * 1000), "done", private, int(NOON * 1000), frames=3)
    await store.create_head(head)
    return body


@pytest.mark.parametrize("kind", ["memory", "sqlite", "dynamodb"])
async def test_deletion_of_a_run_deletes_all_subagents(tmp_path: Path, kind: str) -> None:
    with a_store(kind, tmp_path) as store:
        blobs = MemoryBlobs()
        body = await grown(store, blobs)
        assert await read_body(LOWEST, body, store, blobs) == await read_body("r", body, store, blobs) == SECRET
        assert {key.partition("/")[0] for key in blobs._bodies} == {"r"}
        assert [head.run for head in await store.heads(10, private=True)] == ["r"]
        assert await delete(["r"], Stores(store, blobs, MemoryQueue(SetClock()))) == 1
        assert not blobs._bodies
        for run in ("r", BELOW, LOWEST):
            frames = await store.frames(run)
            assert frames, "their positions stay taken"
            assert not any(frames)
            with pytest.raises(Gone):
                await read_journal(run, store, blobs)
        # An owner that was stalled meanwhile cannot start another subagent.
        with pytest.raises(Gone):
            await claim(child_of("r", "2.0"), RunAccepted(mention(), "w"), await claimed(store, "q"), store, blobs)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "dynamodb"])
async def test_purge_forgets_a_run_and_all_subagents_after_thirty_days(tmp_path: Path, kind: str) -> None:
    with a_store(kind, tmp_path) as store:
        blobs, clock = MemoryBlobs(), SetClock()
        await grown(store, blobs, private=True)
        assert await Purger(Stores(store, blobs, MemoryQueue(clock)), clock).purge() == Purged(deleted=1)
        assert [head.run for head in await store.heads(10)] == []
        clock.advance(31 * DAY_MS / 1000)
        assert await Purger(Stores(store, blobs, MemoryQueue(clock)), clock).purge() == Purged(forgotten=3)
        assert not any([await store.frames(run) for run in ("r", BELOW, LOWEST)])


@pytest.mark.parametrize("damage", ["first frame", "last frame", "lost frame", "bodies", "below"])
async def test_subagents_of_a_corrupt_run_are_purged_with_the_run(tmp_path: Path, damage: str) -> None:
    with any_store("memory", tmp_path) as store:
        blobs, clock = MemoryBlobs(), SetClock()
        await grown(store, blobs)
        frames = store._frames["r" if damage != "below" else BELOW]
        match damage:
            case "first frame" | "below":
                frames[0] = frames[0][:-1] + bytes([frames[0][-1] ^ 1])
            case "last frame":
                frames[-1] = b"nonsense"
            case "lost frame":
                frames.pop()
            case _:
                blobs._bodies.clear()
        clock.advance(31 * DAY_MS / 1000)
        assert (await Purger(Stores(store, blobs, MemoryQueue(clock)), clock).purge()).deleted == 1
        for run in ("r", BELOW, LOWEST):
            assert not any(await store.frames(run))
        clock.advance(31 * DAY_MS / 1000)
        await Purger(Stores(store, blobs, MemoryQueue(clock)), clock).purge()
        assert not any([await store.frames(run) for run in ("r", BELOW, LOWEST)])


async def test_subagents_of_a_run_without_a_key_become_unreadable(tmp_path: Path) -> None:
    with any_store("memory", tmp_path) as store:
        blobs, clock = MemoryBlobs(), SetClock()
        await grown(store, blobs)
        del store._keys["r"]
        clock.advance(31 * DAY_MS / 1000)
        assert (await Purger(Stores(store, blobs, MemoryQueue(clock)), clock).purge()).deleted == 1
        with pytest.raises(Gone):
            await read_journal(BELOW, store, blobs)


async def test_deletion_killed_at_any_write_deletes_all_subagents_when_repeated(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    for at in range(1, 20):
        with any_store("memory", tmp_path) as store:
            blobs, left = MemoryBlobs(), [at]
            await grown(store, blobs)

            def mortal(name: str, store: Store = store, left: list[int] = left) -> None:
                real = getattr(store, name)

                async def doing(*args: object) -> object:
                    left[0] -= 1
                    if left[0] == 0:
                        raise Killed
                    return await real(*args)

                setattr(store, name, doing)

            for name in ("empty", "destroy_key", "create_head", "retain"):
                mortal(name)
            try:
                await delete(["r"], Stores(store, blobs, MemoryQueue(SetClock())))
            except Killed:
                await delete(["r"], Stores(store, blobs, MemoryQueue(SetClock())))
            head = await store.head("r")
            for run in ("r", BELOW, LOWEST):
                assert not any(await store.frames(run)), (at, run)
            if left[0] > 0:
                assert at > 6
                return
            assert head is not None


def test_subagent_run_id_names_the_root_run_and_is_deterministic() -> None:
    assert root_of(LOWEST) == root_of(BELOW) == root_of("r") == "r"
    assert child_of("r", "1.0") == BELOW
    assert len({BELOW, LOWEST, child_of("r", "1.1"), child_of("s", "1.0")}) == 4
