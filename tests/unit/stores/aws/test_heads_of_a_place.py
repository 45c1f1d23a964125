"""The unfinished runs of a place: what their reads cost, and rows that earlier versions wrote."""

import pytest

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.runtime.receive import Ingress
from gofer.sources.slack.posts import stop_sign
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.aws.earlier_version import EarlierTable
from support.aws.memory_table import MemoryTable
from support.stand_ins import SetClock, make_outside

pytestmark = pytest.mark.anyio

KEY = InstallationKey(Secret("installation key"))
HERE = "C0QUIET00"
SIGN = stop_sign(HERE, "1760000000.000100", Actor("U0ADA0000"))
STOPPED = [f"{HERE}-{n}" for n in range(3)]


class Channels:
    """A table of DynamoDB with runs in threads of channels."""

    def __init__(self) -> None:
        self.table = MemoryTable()
        self.store = DynamoStore(self.table)
        clock = SetClock()
        stores = Stores(self.store, MemoryBlobs(), MemoryQueue(clock))
        self.ingress = Ingress({}, read_routes({}), stores, KEY, make_outside(clock))

    async def start(self, channel: str, runs: int, store: Store | None = None) -> list[Head]:
        """Write runs of a channel, each in a thread of its own."""
        writer = store or self.store
        heads = [Head(f"{channel}-{n}", "w", thread(channel, n), n + 1) for n in range(runs)]
        for head in heads:
            await writer.claim(head.run, b"one", bytes(32), 1)
            await writer.create_head(head)
        return heads

    async def units_of_stop(self) -> int:
        """Return the read units of a stop sign that concerns three runs."""
        before = self.table.units["read"]
        assert sorted(await self.ingress.stop(SIGN)) == STOPPED
        return self.table.units["read"] - before

    async def found(self) -> list[str]:
        """Return the runs that a read of the channel yields."""
        pattern = Tokens(KEY).conversations(SIGN.conversation)
        return sorted([head.run async for page in self.store.open_runs(pattern) for head in page])


def thread(channel: str, n: int) -> str:
    """Return the token of the conversation of a thread."""
    return Tokens(KEY).conversation(f"slack:{channel}:{n}")


async def test_units_read_by_a_stop_sign_do_not_grow_with_unfinished_runs_of_other_channels() -> None:
    alone, crowded = Channels(), Channels()
    for channel in range(7):
        await crowded.start(f"C{channel}", 60)
    for made in (alone, crowded):
        await made.start(HERE, 3)
    assert await alone.units_of_stop() == await crowded.units_of_stop()


async def test_units_read_by_a_stop_sign_do_not_grow_with_ended_runs_of_its_channel() -> None:
    fresh, old = Channels(), Channels()
    for head in (await old.start(HERE, 60))[3:]:
        await old.store.put_head(head.now("running", 100))
        await old.store.put_head(head.now("done", 200))
    await fresh.start(HERE, 3)
    assert await old.units_of_stop() == await fresh.units_of_stop()


async def test_all_unfinished_runs_of_a_crowded_channel_are_found_once() -> None:
    made = Channels()
    heads = await made.start(HERE, 250)
    assert await made.found() == sorted(head.run for head in heads)


async def test_run_that_ended_is_not_found_despite_a_lagging_index() -> None:
    made = Channels()
    now = 0.0
    made.table = MemoryTable(lambda: now, lambda: 10.0)
    made.store = DynamoStore(made.table)
    (head,) = await made.start(HERE, 1)
    now = 10.0
    assert await made.found() == [head.run]
    await made.store.put_head(head.now("done", 100))
    assert await made.found() == []


async def test_run_of_an_earlier_version_is_in_its_place_before_and_after_each_write() -> None:
    made = Channels()
    (head,) = await made.start(HERE, 1, DynamoStore(EarlierTable(made.table)))
    for write in (
        made.store.hide(head.run),
        made.store.retain(head.run, "due", "kept"),
        made.store.put_head(head.now("running", 100)),
        made.store.put_head(head.now("parked", 200)),
    ):
        assert await made.found() == [head.run]
        await write
    assert await made.found() == [head.run]
    await made.store.put_head(head.now("done", 300))
    assert await made.found() == []


async def test_stop_sign_reads_no_run_of_an_earlier_version_after_its_next_write() -> None:
    updated, new = Channels(), Channels()
    for head in await updated.start("C0OTHER00", 60, DynamoStore(EarlierTable(updated.table))):
        await updated.store.put_head(head.now("running", 100))
    for made in (updated, new):
        await made.start(HERE, 3)
    assert await updated.units_of_stop() == await new.units_of_stop()


async def test_run_that_an_earlier_version_continues_is_found() -> None:
    made = Channels()
    (head,) = await made.start(HERE, 1)
    await DynamoStore(EarlierTable(made.table)).put_head(head.now("running", 100))
    assert await made.found() == [head.run]
    await made.store.put_head(head.now("parked", 200))
    assert await made.found() == [head.run]
