"""Keys of runs in their own DynamoDB table."""

from collections.abc import Mapping, Sequence

import pytest

from gofer.stores.aws.items import frame_key, key_key
from gofer.stores.aws.journal import DynamoStore
from support.aws.moto_server import client, new_table

pytestmark = pytest.mark.anyio


def items(table: str) -> Sequence[Mapping[str, Mapping[str, object]]]:
    return client("dynamodb").scan(TableName=table)["Items"]


async def test_run_key_is_only_in_the_dynamodb_table_of_keys() -> None:
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


async def test_claim_that_loses_a_race_leaves_the_stored_key_unchanged() -> None:
    store = DynamoStore(new_table())
    await store.claim("r", b"one", b"a key", 5)
    assert await store.claim("r", b"again", b"another", 5) == b"one"
    assert await store.key("r") == b"a key"
    await store.destroy_key("r")
    assert await store.claim("r", b"again", b"another", 5) == b"one"
    assert await store.key("r") is None


async def test_dynamodb_items_of_both_tables_are_read_and_removed_together() -> None:
    table = new_table()
    await DynamoStore(table).claim("r", b"one", b"key")
    both = [frame_key("r", 1), key_key("r")]
    assert {item["sk"] for item in await table.get_all(both)} == {"frame#00000001", "key"}
    await table.delete_all(both)
    assert list(await table.get_all(both)) == []
