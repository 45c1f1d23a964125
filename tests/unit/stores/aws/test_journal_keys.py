"""Keys in a table of their own, and those of earlier versions, which stand in frame 1."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from gofer.stores.aws.items import frame_key, key_key, row
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.table import Put, Table
from support.aws.memory_table import MemoryTable
from support.aws.moto_server import client, new_table

pytestmark = pytest.mark.anyio


def items(table: str) -> Sequence[Mapping[str, Mapping[str, object]]]:
    return client("dynamodb").scan(TableName=table)["Items"]


async def test_a_key_is_in_the_table_of_keys_and_nowhere_else() -> None:
    table = new_table()
    store = DynamoStore(table)
    await store.claim("r", b"one", b"a key", 5)
    assert items(table._keys) == [{"pk": {"S": "run#r"}, "sk": {"S": "key"}, "key": {"B": b"a key"}}]
    assert "a key" not in repr(items(table._name))
    await store.destroy_key("r")
    assert items(table._keys) == []
    await store.claim("s", b"one", b"a key", 5)
    await store.forget("s")
    assert items(table._keys) == []


async def test_a_claim_that_meets_another_one_leaves_its_key_alone() -> None:
    store = DynamoStore(new_table())
    await store.claim("r", b"one", b"a key", 5)
    assert await store.claim("r", b"again", b"another", 5) == b"one"
    assert await store.key("r") == b"a key"
    await store.destroy_key("r")
    assert await store.claim("r", b"again", b"another", 5) == b"one"
    assert await store.key("r") is None


@pytest.mark.parametrize("make", [MemoryTable, new_table])
async def test_a_run_of_an_earlier_version_has_its_key_in_frame_1_until_it_is_destroyed(
    make: Callable[[], Table],
) -> None:
    table = make()
    store = DynamoStore(table)
    index = {"gsi_pk": "claimed", "gsi_sk": "000000000000005#old"}
    await table.write(Put(row(frame_key("old", 1), frame=b"one", key=b"its key", claimed_at=5, **index)))
    assert await store.claim("old", b"again", b"another key", 9) == b"one"
    assert await store.key("old") == b"its key"
    assert list(await store.unlisted(6, 10)) == ["old"]
    await store.destroy_key("old")
    assert await store.key("old") is None
    assert await table.get(frame_key("old", 1)) == row(frame_key("old", 1), frame=b"one", claimed_at=5)
    assert list(await store.unlisted(6, 10)) == []


async def test_items_of_both_tables_are_read_and_removed_together() -> None:
    table = new_table()
    await DynamoStore(table).claim("r", b"one", b"key")
    both = [frame_key("r", 1), key_key("r")]
    assert {item["sk"] for item in await table.get_all(both)} == {"frame#00000001", "key"}
    await table.delete_all(both)
    assert list(await table.get_all(both)) == []
