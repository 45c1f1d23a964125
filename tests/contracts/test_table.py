"""The contract of `stores/aws/table.py`, for the table in memory and for moto's DynamoDB."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.table import (
    FIRST,
    LAST,
    Absent,
    AtMost,
    Both,
    Condition,
    Delete,
    Either,
    Exists,
    Item,
    Key,
    Lacks,
    OneOf,
    Put,
    Refused,
    Span,
    Table,
    Update,
    Write,
    prefixed,
)
from gofer.values.errors import ConfigError, TemporaryError
from support.aws.memory_table import MemoryTable
from support.aws.moto_server import aws, client, new_table
from support.property_examples import examples

pytestmark = pytest.mark.anyio

KEY = Key("p", "s")
ITEM: Item = {"pk": "p", "sk": "s", "text": "é", "raw": b"\x00\xff", "whole": -7, "half": 0.5, "yes": True, "none": b""}


@pytest.fixture(params=["memory", "moto"])
def table(request: pytest.FixtureRequest) -> Table:
    return MemoryTable() if request.param == "memory" else new_table()


async def test_table_item_is_read_back_with_the_same_types(table: Table) -> None:
    assert await table.get(KEY) is None
    assert await table.write(Put(ITEM)) is None
    found = await table.get(KEY)
    assert found == ITEM
    assert found is not None
    assert {name: type(value) for name, value in found.items()} == {name: type(value) for name, value in ITEM.items()}


@pytest.mark.parametrize("usd", [0.0, 1e-7, 0.1 + 0.2, 123456789.123456789])
async def test_table_number_is_read_back_unchanged(table: Table, usd: float) -> None:
    await table.write(Put({"pk": "p", "sk": "s", "usd": usd}))
    assert await table.get(KEY) == {"pk": "p", "sk": "s", "usd": usd}


CONDITIONS: Sequence[tuple[Condition, bool, bool]] = [
    (Absent(), True, False),
    (Exists(), False, True),
    (Lacks("missing"), False, True),
    (Lacks("owner"), False, False),
    (OneOf("owner", ["me", "you"]), False, True),
    (OneOf("owner", ["nobody"]), False, False),
    (OneOf("missing", ["me"]), False, False),
    (AtMost("until", 10), False, True),
    (AtMost("until", 9.5), False, False),
    (AtMost("missing", 10), False, False),
    (Either([Absent(), OneOf("owner", ["nobody"])]), True, False),
    (Either([Absent(), AtMost("until", 10.5)]), True, True),
    (Both([Exists(), OneOf("owner", ["me"]), AtMost("until", 10)]), False, True),
    (Both([OneOf("owner", ["me"]), AtMost("until", 1)]), False, False),
    (Either([Both([Absent(), Exists()]), OneOf("owner", ["me"])]), False, True),
]
"""A condition, and whether it holds without and with an existing item."""
STANDING: Item = {"pk": "p", "sk": "s", "owner": "me", "until": 10}
WRITES = (Put({"pk": "p", "sk": "s", "new": 1}), Update(KEY, {"new": 1}), Delete(KEY))


@pytest.mark.parametrize(("when", "on_nothing", "on_something"), CONDITIONS)
@pytest.mark.parametrize("how", WRITES, ids=lambda write: type(write).__name__)
async def test_conditional_write_is_done_or_returns_the_existing_item(
    table: Table, when: Condition, on_nothing: bool, on_something: bool, how: Write
) -> None:
    write = type(how)(**{name: getattr(how, name) for name in how.__dataclass_fields__ if name != "when"}, when=when)
    assert await table.write(write) == (None if on_nothing else Refused(None))
    await table.delete_all([KEY])
    await table.write(Put(STANDING))
    assert await table.write(write) == (None if on_something else Refused(STANDING))
    if not on_something:
        assert await table.get(KEY) == STANDING


async def test_table_update_adds_to_numbers_and_counts_a_missing_one_as_zero(table: Table) -> None:
    for usd in (0.25, 0.5, -0.25):
        await table.write(Update(KEY, {"at": 1}, adds={"usd": usd}))
    assert await table.get(KEY) == {"pk": "p", "sk": "s", "at": 1, "usd": 0.5}


async def test_table_update_sets_defaults_and_removes_attributes(table: Table) -> None:
    change = Update(KEY, {"status": "done"}, {"retention": "due"}, ("key", "missing"))
    await table.write(change)
    assert await table.get(KEY) == {"pk": "p", "sk": "s", "status": "done", "retention": "due"}
    await table.write(Put({"pk": "p", "sk": "s", "key": b"k", "retention": "kept", "size": 1}))
    await table.write(change)
    assert await table.get(KEY) == {"pk": "p", "sk": "s", "status": "done", "retention": "kept", "size": 1}


async def test_one_of_many_concurrent_writes_meets_the_condition(table: Table) -> None:
    writes = [Put({"pk": "p", "sk": "s", "who": n}, Absent()) for n in range(20)]
    told = await asyncio.gather(*map(table.write, writes))
    (winner,) = [n for n, refused in enumerate(told) if refused is None]
    assert {refused.stored["who"] for refused in told if refused and refused.stored} == {winner}


async def test_table_transaction_writes_all_or_none_and_returns_the_conflict(table: Table) -> None:
    mine, other = Put({"pk": "p", "sk": "a"}), Put({"pk": "q", "sk": "b", "n": 1}, Absent())
    assert await table.transact([mine, other, Delete(Key("p", "gone"))]) is None
    assert await table.transact([Delete(Key("p", "a")), Put({"pk": "q", "sk": "b", "n": 2}, Absent())]) == Refused(
        {"pk": "q", "sk": "b", "n": 1}
    )
    assert await table.get(Key("p", "a")) == {"pk": "p", "sk": "a"}
    assert await table.get(Key("q", "b")) == {"pk": "q", "sk": "b", "n": 1}
    refused = await table.transact([Update(Key("p", "a"), {"x": 1}, when=OneOf("x", [2])), mine_at("c")])
    assert (refused, await table.get(Key("p", "c"))) == (Refused({"pk": "p", "sk": "a"}), None)


def mine_at(sk: str) -> Put:
    return Put({"pk": "p", "sk": sk})


async def test_table_transaction_may_not_write_an_item_twice(table: Table) -> None:
    with pytest.raises(TemporaryError):
        await table.transact([Put({"pk": "p", "sk": "s"}), Delete(KEY)])


async def test_item_above_the_size_limit_is_not_written(table: Table) -> None:
    with pytest.raises(TemporaryError):
        await table.write(Put({"pk": "p", "sk": "s", "raw": bytes(410_000)}))
    assert await table.get(KEY) is None


async def test_table_partition_is_queried_in_order_within_bounds(table: Table) -> None:
    for sk in ("b#2", "a#1", "b#1", "c", "b#3"):
        await table.write(mine_at(sk))
    await table.write(Put({"pk": "other", "sk": "b#1"}))
    assert [item["sk"] for item in await table.query(prefixed("p", "b#"))] == ["b#1", "b#2", "b#3"]
    assert [item["sk"] for item in await table.query(prefixed("p", "b#"), newest=True, limit=2)] == ["b#3", "b#2"]
    assert [item["sk"] for item in await table.query(Span("p", "b#2", "c"))] == ["b#2", "b#3", "c"]
    assert list(await table.query(Span("p", "d", "a"))) == []
    assert list(await table.query(prefixed("nobody", "b#"))) == []


async def test_table_partition_larger_than_a_page_is_read_completely(table: Table) -> None:
    puts = [Put({"pk": "p", "sk": f"{n:02}", "raw": bytes([n]) * 300_000}) for n in range(9)]
    await asyncio.gather(*map(table.write, puts))
    found = await table.query(Span("p", FIRST, LAST))
    assert [(item["sk"], item["raw"][:1]) for item in found] == [(f"{n:02}", bytes([n])) for n in range(9)]  # type: ignore[index]
    assert len(await table.query(Span("p", FIRST, LAST), limit=7)) == 7


async def test_batches_of_items_are_read_and_deleted_missing_ones_included(table: Table) -> None:
    keys = [Key("p", f"{n:03}") for n in range(130)]
    await asyncio.gather(*(table.write(mine_at(key.sk)) for key in keys[:120]))
    assert {item["sk"] for item in await table.get_all(keys)} == {key.sk for key in keys[:120]}
    await table.delete_all(keys[1:])
    await table.delete_all([])
    assert [item["sk"] for item in await table.query(Span("p", FIRST, LAST))] == ["000"]


async def test_item_of_a_repeated_key_is_read_and_deleted_once(table: Table) -> None:
    for sk in ("a", "b"):
        await table.write(mine_at(sk))
    keys = [Key("p", "a"), Key("p", "b"), Key("p", "a")]
    assert sorted(str(item["sk"]) for item in await table.get_all(keys)) == ["a", "b"]
    await table.delete_all(keys)
    assert await table.query(Span("p", FIRST, LAST)) == []


async def test_table_index_lists_keys_of_items_with_index_attributes(table: Table) -> None:
    for sk, sort in (("a", "2"), ("b", "1"), ("c", "3")):
        await table.write(Put({"pk": "p", "sk": sk, "gsi_pk": "i", "gsi_sk": sort, "more": "m"}))
    await table.write(mine_at("unseen"))
    everything = Span("i", FIRST, LAST)
    assert [(line.key.sk, line.sort) for line in await table.index(everything, limit=9)] == [
        ("b", "1"),
        ("a", "2"),
        ("c", "3"),
    ]
    assert [line.sort for line in await table.index(everything, limit=2, newest=True)] == ["3", "2"]
    assert [line.sort for line in await table.index(Span("i", "2", LAST), limit=9)] == ["2", "3"]
    await table.write(Update(Key("p", "a"), {"gsi_sk": "4"}))
    await table.write(Update(Key("p", "b"), removes=("gsi_pk", "gsi_sk")))
    await table.write(Delete(Key("p", "c")))
    assert [(line.key.sk, line.sort) for line in await table.index(everything, limit=9)] == [("a", "4")]


async def test_table_scan_finds_one_sort_key_in_all_partitions(table: Table) -> None:
    for pk in ("p", "q"):
        for sk in ("lease", "head"):
            await table.write(Put({"pk": pk, "sk": sk}))
    assert {key.pk for key in await table.scan("lease")} == {"p", "q"}


async def test_memory_table_index_lags_and_keeps_the_order_of_writes() -> None:
    now, lags = [0.0], iter([5.0, 1.0, 0.0])
    table = MemoryTable(lambda: now[0], lambda: next(lags))
    for sort in ("1", "2", "3"):
        await table.write(Put({"pk": "p", "sk": "s", "gsi_pk": "i", "gsi_sk": sort}))
    assert list(await table.index(Span("i", FIRST, LAST), limit=9)) == []
    now[0] = 5.0
    assert [line.sort for line in await table.index(Span("i", FIRST, LAST), limit=9)] == ["3"]


KEYS = st.sampled_from([Key("p", "a"), Key("p", "b"), Key("q", "a")])
VALUES = st.sampled_from([1, 2, "x"])
ATTRIBUTES = st.dictionaries(st.sampled_from(["status", "n"]), VALUES, max_size=2)
WHENS = st.none() | st.sampled_from(
    [Absent(), Exists(), OneOf("status", [1, "x"]), Either([Absent(), OneOf("n", [2])])]
)


@st.composite
def any_write(draw: st.DrawFn) -> Write:
    key, when, sets = draw(KEYS), draw(WHENS), draw(ATTRIBUTES)
    match draw(st.sampled_from(["put", "update", "delete"])):
        case "put":
            return Put({"pk": key.pk, "sk": key.sk, **sets}, when)
        case "update":
            sets = sets or {"n": 1}
            rest = draw(ATTRIBUTES)
            initial = {name: value for name, value in rest.items() if name not in sets}
            return Update(key, sets, initial, when=when)
        case _:
            return Delete(key, when)


@given(st.lists(st.lists(any_write(), min_size=1, max_size=3, unique_by=lambda write: write.key), max_size=8))
@examples(0.3)
def test_memory_table_and_moto_agree_on_any_writes(batches: list[list[Write]]) -> None:
    async def play(table: Table) -> list[object]:
        said: list[object] = []
        for batch in batches:
            said.append(await (table.transact(batch) if len(batch) > 1 else table.write(batch[0])))
            said += [sorted(item.items()) for item in await table.query(Span("p", FIRST, LAST))]
        return said

    async def both() -> None:
        assert await play(MemoryTable()) == await play(new_table())

    asyncio.run(both())


async def test_missing_table_is_reported() -> None:
    with pytest.raises(ConfigError, match="GOFER_TABLE"):
        await DynamoTable(aws(), client("dynamodb"), "nowhere", "no-keys").get(KEY)
