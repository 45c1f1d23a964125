"""The DynamoDB store beyond the contract of stores: long lists, a lagging index, few requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.coordination import DAY_MS, Head, HeadStatus, Mark, Retention, Usage
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.journal.store import Store
from gofer.stores.aws.items import lease_key, memo_key
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.table import EXPIRES, Refused, Write
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import BadRequest
from support.aws.earlier_version import EarlierTable
from support.aws.memory_table import MemoryTable
from support.aws.moto_server import new_table
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio

EVER = 10**14
OVER: HeadStatus = "done"


def head(run: str, accepted_at: int, status: HeadStatus = "queued", **changes: object) -> Head:
    return Head(run, "w", "c", accepted_at, status, **changes)  # type: ignore[arg-type]


class Lagging:
    """A store whose index lags until `catch_up` is called."""

    def __init__(self) -> None:
        self.now = 0.0
        self.table = MemoryTable(lambda: self.now, lambda: 10.0)
        self.store = DynamoStore(self.table)

    def catch_up(self) -> None:
        self.now += 10.0


async def test_ended_run_is_not_unfinished_despite_a_lagging_index() -> None:
    made = Lagging()
    await made.store.create_head(head("r", 1))
    made.catch_up()
    await made.store.put_head(head("r", 1, OVER))
    assert list(await made.store.unfinished(EVER, 9)) == []
    assert list(await made.store.ended("due", EVER, 9)) == []
    made.catch_up()
    assert [one.run for one in await made.store.ended("due", EVER, 9)] == ["r"]


async def test_updated_run_is_listed_with_the_current_head_despite_a_lagging_index() -> None:
    made = Lagging()
    for n in range(4):
        await made.store.create_head(head(f"r{n}", n))
    made.catch_up()
    await made.store.put_head(head("r0", 0, "running", updated_at=50))
    assert next((one.run, one.touched_at) for one in await made.store.unfinished(100, 9)) == ("r0", 50)
    assert [one.run for one in await made.store.unfinished(40, 9)] == ["r1", "r2", "r3"]
    found: list[str] = []
    last: Head | None = None
    while page := await made.store.unfinished(100, 2, after=last):
        found += [one.run for one in page]
        last = page[-1]
    assert sorted(set(found)) == ["r0", "r1", "r2", "r3"]


async def test_page_of_unfinished_runs_never_ends_at_a_run_that_moved_on() -> None:
    made = Lagging()
    for n in range(3):
        await made.store.create_head(head(f"r{n}", n))
    made.catch_up()
    await made.store.put_head(head("r1", 1, "running", updated_at=1_000))
    assert [one.run for one in await made.store.unfinished(EVER, 2)] == ["r1", "r0"]
    assert [one.run for one in await made.store.unfinished(EVER, 1)] == ["r0"]


async def test_deleted_run_is_in_no_list_despite_a_lagging_index() -> None:
    made = Lagging()
    await made.store.claim("r", b"one", b"key", 1)
    await made.store.create_head(head("r", 1, OVER))
    await made.store.claim("unlisted", b"one", b"key", 1)
    made.catch_up()
    assert list(await made.store.unlisted(EVER, 9)) == ["unlisted"]
    for run in ("r", "unlisted"):
        await made.store.forget(run)
    assert (list(await made.store.heads(9, private=True)), list(await made.store.ended("due", EVER, 9))) == ([], [])
    assert list(await made.store.unlisted(EVER, 9)) == []


async def test_long_run_lists_are_complete_and_in_order() -> None:
    store = DynamoStore(MemoryTable())
    for n in range(260):
        await store.create_head(head(f"r{n:03}", n, OVER if n % 2 else "parked", private=n % 5 == 0))
    assert [one.accepted_at for one in await store.heads(300, private=True)] == list(reversed(range(260)))
    assert [one.accepted_at for one in await store.heads(3)] == [259, 258, 257]
    assert [one.accepted_at for one in await store.unfinished(EVER, 300)] == list(range(0, 260, 2))
    assert [one.accepted_at for one in await store.ended("due", EVER, 300)] == list(range(1, 260, 2))
    assert [one.accepted_at for one in await store.ended("due", EVER, 5, private=True)] == [5, 15, 25, 35, 45]


async def test_newest_runs_are_found_behind_old_runs_that_were_updated_lately() -> None:
    store = DynamoStore(MemoryTable())
    for n in range(150):
        await store.create_head(head(f"old{n:03}", n, OVER, updated_at=10_000 + n, private=False))
    await store.create_head(head("new", 5_000, OVER, private=False))
    assert [one.run for one in await store.heads(2)] == ["new", "old149"]


async def test_oldest_runnable_run_is_found_behind_many_parked_runs() -> None:
    store = DynamoStore(MemoryTable())
    for n in range(60):
        await store.create_head(head(f"r{n:02}", n, "parked"))
    assert await store.oldest_runnable("c") is None
    await store.put_head(head("r55", 55, "queued"))
    assert await store.oldest_runnable("c") == head("r55", 55, "queued")


async def test_previous_run_is_found_behind_many_runs_that_resumed() -> None:
    store = DynamoStore(MemoryTable())
    for n in range(60):
        await store.create_head(head(f"r{n:02}", n, OVER))
        if n > 5:
            await store.put_head(head(f"r{n:02}", n, "running"))
    found = await store.previous("c", "w", 1_000)
    assert found is not None
    assert found.run == "r05"


async def test_unlisted_claims_are_found_behind_many_listed_runs() -> None:
    store = DynamoStore(MemoryTable())
    for n in range(250):
        await store.claim(f"r{n:03}", b"one", b"key", n + 1)
        if n < 240:
            await store.create_head(head(f"r{n:03}", n))
    assert list(await store.unlisted(EVER, 5)) == [f"r{n}" for n in range(240, 245)]


async def test_head_that_a_stalled_owner_overwrites_is_runnable_again() -> None:
    store = DynamoStore(MemoryTable())
    await store.create_head(head("r", 1))
    await store.put_head(head("r", 1, OVER))
    assert await store.oldest_runnable("c") is None
    await store.put_head(head("r", 1, "running"))
    assert await store.oldest_runnable("c") == head("r", 1, "running")
    await store.put_head(head("r", 1, OVER))
    assert await store.oldest_runnable("c") is None


async def test_retention_mark_survives_head_updates_and_decides_the_list() -> None:
    store = DynamoStore(MemoryTable())
    await store.create_head(head("r", 1))
    assert await store.retain("r", "due", "kept") == "kept"
    await store.put_head(head("r", 1, OVER))
    assert await store.head("r") == head("r", 1, OVER, retention="kept")
    assert list(await store.ended("due", EVER, 9)) == []
    assert [one.run for one in await store.ended("kept", EVER, 9)] == ["r"]


class Meddled(MemoryTable):
    """A table in which another writer acts right before a write."""

    def __init__(self) -> None:
        super().__init__()
        self.meddle: Callable[[], Awaitable[object]] | None = None

    async def write(self, write: Write) -> Refused | None:
        await self._meddled()
        return await super().write(write)

    async def transact(self, writes: Sequence[Write]) -> Refused | None:
        await self._meddled()
        return await super().transact(writes)

    async def _meddled(self) -> None:
        meddle, self.meddle = self.meddle, None
        if meddle:
            await meddle()


async def test_run_that_ends_while_retention_changes_keeps_both_changes() -> None:
    table = Meddled()
    store = DynamoStore(table)
    await store.create_head(head("r", 1))
    table.meddle = lambda: store.retain("r", "due", "kept")
    await store.put_head(head("r", 1, OVER))
    await store.create_head(head("s", 1))
    table.meddle = lambda: store.put_head(head("s", 1, OVER))
    assert await store.retain("s", "due", "kept") == "kept"
    assert {one.run for one in await store.ended("kept", EVER, 9)} == {"r", "s"}


async def test_new_store_instance_refuses_a_gap_in_the_journal() -> None:
    table = MemoryTable()
    await DynamoStore(table).claim("r", b"one", b"key")
    with pytest.raises(ValueError, match="gap"):
        await DynamoStore(table).create("r", 3, b"three")
    assert await DynamoStore(table).create("r", 2, b"two") is None
    assert await DynamoStore(table).create("r", 3, b"three") is None


async def test_claim_and_frame_take_a_single_dynamodb_request_each() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    await store.claim("r", b"one", b"key", 1)
    for n in range(2, 12):
        await store.create("r", n, b"frame")
    assert table.units["requests"] == 11


async def test_event_or_frame_too_large_for_a_dynamodb_item_is_refused_and_not_written() -> None:
    store = DynamoStore(new_table())
    with pytest.raises(BadRequest) as caught:
        await store.claim("r", bytes(400_000), b"key")
    assert (caught.value.status, list(await store.frames("r"))) == (413, [])
    await store.claim("r", bytes(390_000), b"key")
    with pytest.raises(ValueError, match="400,000 bytes"):
        await store.create("r", 2, bytes(400_000))
    assert len(await store.frames("r")) == 1


async def test_journal_of_several_megabytes_is_read_completely() -> None:
    store = DynamoStore(new_table())
    await store.claim("r", b"one", b"key")
    frames = [bytes([n]) * 130_000 for n in range(2, 32)]
    for n, frame in enumerate(frames, 2):
        await store.create("r", n, frame)
    assert list(await store.frames("r")) == [b"one", *frames]


async def test_dynamodb_rows_count_until_removed_and_leases_until_the_lease_end() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    long_ago = int(NOON * 1000) - 1_000 * DAY_MS
    await store.put_memo("k", "v", long_ago)
    await store.put_usage([Usage("ada", "r", long_ago, 1.0)])
    memo = await table.get(memo_key("k"))
    assert memo is not None
    assert float(memo[EXPIRES]) < NOON
    assert (await store.memo("k"), len(await store.usage("ada", 0))) == ("v", 1)
    await store.lease("c", "dead", NOON, 60)
    lease = await table.get(lease_key("c"))
    assert lease is not None
    # The item has its own end. That DynamoDB has not removed it yet does not extend the lease.
    assert float(lease[EXPIRES]) > NOON + 60
    assert await store.lease("c", "alive", NOON + 60, 60)


RUNS, CONVERSATIONS = ("a", "b", "c", "d"), ("here:1", "here:2", "there:1")
ENDED: tuple[HeadStatus, ...] = ("done", "failed", "needs_attention")
STATUSES: tuple[HeadStatus, ...] = ("queued", "running", "parked", *ENDED)
FACTS = ("", "facts", encode(HeadFacts(bad=1)), encode(HeadFacts(tools={"good": ToolCount(1)})))
RETENTIONS: tuple[Retention, ...] = ("due", "kept", "unseen", "deleting", "deleted")
MARKS: tuple[Mark, ...] = ("abandoned", "rated")
PLACES = {"a": ("here:1", 5), "b": ("here:1", 3), "c": ("here:2", 4), "d": ("there:1", 4)}
"""The conversation of each run and the time of its acceptance, which never change."""


@st.composite
def any_head(draw: st.DrawFn) -> Head:
    run = draw(st.sampled_from(RUNS))
    conversation, accepted_at = PLACES[run]
    status, private = draw(st.sampled_from(STATUSES)), draw(st.booleans())
    updated_at, wakes_at = draw(st.integers(0, 9)), draw(st.integers(0, 9)) if status == "parked" else 0
    retention = draw(st.sampled_from(RETENTIONS))
    # Only ended runs have facts.
    facts = draw(st.sampled_from(FACTS)) if status in ENDED else ""
    return Head(
        run, "w", conversation, accepted_at, status, private, updated_at, "", wakes_at, 1, facts, retention=retention
    )


STEPS = st.one_of(
    st.tuples(st.just("create_head"), any_head()),
    st.tuples(st.just("put_head"), any_head()),
    st.tuples(st.just("retain"), st.sampled_from(RUNS), st.sampled_from(RETENTIONS), st.sampled_from(RETENTIONS)),
    st.tuples(st.just("forget"), st.sampled_from(RUNS)),
)


async def everything(store: Store) -> list[object]:
    """Return the results of every read of heads."""
    said: list[object] = [await store.head(run) for run in RUNS]
    for private in (False, True):
        said += [list(await store.heads(limit, private=private)) for limit in (1, 9)]
        said += [list(await store.ended(of, 7, 9, private=private)) for of in RETENTIONS]
        said += [runs_of([page async for page in store.listed(since, private=private)]) for since in (0, 4)]
    for mark in MARKS:
        said += [runs_of([page async for page in store.marked(mark)])]
    for conversation in CONVERSATIONS:
        said += [await store.oldest_runnable(conversation), await store.previous(conversation, "w", 5)]
    said += [list(await store.unfinished(before, limit)) for before in (5, 99) for limit in (1, 9)]
    said += [await open_runs(store, conversations) for conversations in (*CONVERSATIONS, "here:*", "there:*")]
    return said


def runs_of(pages: Sequence[Sequence[Head]]) -> list[str]:
    return sorted(head.run for page in pages for head in page)


async def open_runs(store: Store, conversations: str) -> list[str]:
    return runs_of([page async for page in store.open_runs(conversations)])


@given(st.lists(st.tuples(st.booleans(), STEPS), max_size=12))
def test_dynamodb_heads_equal_heads_in_memory_after_any_writes_of_two_versions(
    steps: list[tuple[bool, tuple[object, ...]]],
) -> None:
    async def play() -> None:
        table, memory = MemoryTable(), MemoryStore()
        versions = DynamoStore(table), DynamoStore(EarlierTable(table))
        for earlier, (name, *arguments) in steps:
            first, second = [await getattr(store, str(name))(*arguments) for store in (memory, versions[earlier])]
            assert first == second
        assert await everything(memory) == await everything(versions[0])

    asyncio.run(play())


async def test_reads_of_marked_runs_grow_neither_with_other_runs_nor_with_runs_of_an_earlier_version_for_ever() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    for n in range(300):
        await DynamoStore(EarlierTable(table)).put_head(head(f"e{n}", n, OVER, updated_at=n))
    await DynamoStore(EarlierTable(table)).put_head(head("earlier", 1, "needs_attention", updated_at=1))
    await store.put_head(head("now", DAY_MS, "needs_attention", updated_at=DAY_MS))
    for n in range(3_000):
        await store.put_head(head(f"r{n}", DAY_MS, OVER, updated_at=DAY_MS + n))
    table.units.clear()
    assert runs_of([page async for page in store.marked("abandoned")]) == ["earlier", "now"]
    assert 300 < table.units["read"] < 400
    for n in range(300):
        await store.forget(f"e{n}")
    table.units.clear()
    assert runs_of([page async for page in store.marked("abandoned")]) == ["earlier", "now"]
    assert table.units["read"] < 100


async def test_claims_of_kept_runs_are_read_once() -> None:
    table = MemoryTable()
    store = DynamoStore(table)
    for n in range(300):
        await store.claim(f"r{n}", b"one", b"key", 1)
        await store.put_head(head(f"r{n}", 1, OVER))
        await store.retain(f"r{n}", "due", "kept")
    await store.claim("lost", b"one", b"key", 1)
    for most in (1_000, 100):
        table.units.clear()
        assert list(await store.unlisted(EVER, 9)) == ["lost"]
        assert table.units["read"] + table.units["write"] < most


async def test_usage_in_several_scopes_is_dropped_by_another_store_instance() -> None:
    table = MemoryTable()
    await DynamoStore(table).put_usage([Usage("ada", "r", 10, 0.5), Usage("w", "r", 10, 0.5), Usage("w", "s", 10, 0.5)])
    store = DynamoStore(table)
    await store.drop_usage("r")
    assert [list(await store.usage(scope, 0)) for scope in ("ada", "w")] == [[], [Usage("w", "s", 10, 0.5)]]
    await store.put_usage([replace(Usage("ada", "r", 10, 0.5), at=99)])
    assert list(await store.usage("ada", 0)) == [Usage("ada", "r", 99, 0.5)]
