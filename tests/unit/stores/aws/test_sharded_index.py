"""Shards of the index: how writes are spread, and rows that an earlier version wrote."""

from collections import Counter

import pytest

from gofer.journal.coordination import Head
from gofer.stores.aws.items import head_item, head_key, place_list
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.sharded_index import SHARDS, shard_of
from gofer.stores.aws.table import Indexed, Put, Refused, Span, Write
from support.aws.memory_table import MemoryTable

pytestmark = pytest.mark.anyio

EVER = 10**14


class Watched(MemoryTable):
    """A table that counts the writes of each partition of the index."""

    def __init__(self) -> None:
        super().__init__()
        self.written: Counter[str] = Counter()

    async def write(self, write: Write) -> Refused | None:
        self._count(write)
        return await super().write(write)

    async def transact(self, writes: list[Write]) -> Refused | None:  # type: ignore[override]
        for write in writes:
            self._count(write)
        return await super().transact(writes)

    def _count(self, write: Write) -> None:
        match write:
            case Put(item={"gsi_pk": str(partition)}):
                self.written[partition] += 1
            case _ if "gsi_pk" in getattr(write, "sets", {}):
                self.written[str(write.sets["gsi_pk"])] += 1  # type: ignore[union-attr]


class Moving(MemoryTable):
    """A table whose index still lists a head at its earlier age."""

    def __init__(self, earlier: Head) -> None:
        super().__init__()
        item = head_item(earlier)
        self._partition = str(item["gsi_pk"])
        self._line = Indexed(head_key(earlier.run), str(item["gsi_sk"]))

    async def index(self, span: Span, *, limit: int, newest: bool = False) -> list[Indexed]:
        lines = list(await super().index(span, limit=limit, newest=newest))
        if span.pk == self._partition and span.low <= self._line.sort <= span.high:
            lines.append(self._line)
        return sorted(lines, key=lambda line: line.sort, reverse=newest)[:limit]


async def test_head_that_the_index_lists_at_two_ages_is_returned_once() -> None:
    head = Head("r", "w", "busy:1", 1, private=False)
    store = DynamoStore(Moving(head))
    await store.create_head(head)
    running = head.now("running", 9)
    await store.put_head(running)
    assert list(await store.unfinished(EVER, 5)) == [running]
    assert [head async for page in store.listed(0) for head in page] == [running]
    assert list(await store.heads(5)) == [running]


async def test_lines_of_runs_are_spread_evenly_over_the_shards_of_each_list() -> None:
    table = Watched()
    store = DynamoStore(table)
    runs = 800
    for n in range(runs):
        head = Head(f"r{n}", "w", f"busy:{n}", n + 1)
        await store.claim(head.run, b"one", b"key", n + 1)
        await store.create_head(head)
        await store.put_head(head.now("running", n + 2))
        await store.put_head(head.now("done", n + 3))
    for name in ("claimed", "open", "ended#due#private", place_list("busy")):
        shares = [table.written[f"{name}#{number}"] for number in range(SHARDS)]
        assert sum(shares) >= runs
        assert max(shares) < 1.5 * sum(shares) / SHARDS


async def test_rows_of_an_earlier_version_are_listed_beside_the_shards() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    await store.claim("unlisted", b"one", b"key", 3)
    await table.write(
        Put({"pk": "run#old", "sk": "frame#00000001", "frame": b"", "gsi_pk": "claimed", "gsi_sk": "1#old"})
    )
    for n in range(6):
        head = Head(f"r{n}", "w", "c", n, "done" if n > 2 else "queued")
        await store.create_head(head)
        if n % 2:
            partition = "ended#due#private" if head.ended else "unfinished"
            await table.write(Put({**head_item(head), "gsi_pk": partition}))
    assert [head.run for head in await store.unfinished(EVER, 9)] == ["r0", "r1", "r2"]
    assert [head.run for head in await store.unfinished(EVER, 1, after=Head("r0", "w", "c", 0))] == ["r1"]
    assert [head.run for head in await store.ended("due", EVER, 9)] == ["r3", "r4", "r5"]
    assert [head.run for head in await store.heads(4, private=True)] == ["r5", "r4", "r3", "r2"]
    assert sorted(await store.unlisted(EVER, 9)) == ["old", "unlisted"]


def test_shard_of_a_run_never_changes() -> None:
    assert shard_of("unfinished", "3f9c2ad1") == "unfinished#4"
