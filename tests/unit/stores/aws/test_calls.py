"""Errors and timeouts of AWS calls, with functions as clients."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from gofer.journal.entries import MessageReceived
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.stores.aws.blobs import S3Blobs, S3Bodies
from gofer.stores.aws.calls import Aws, Refusal
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.table import Absent, Delete, Key, Put, Refused
from gofer.values.errors import ConfigError, Fenced, TemporaryError
from support.aws.memory_table import MemoryTable
from support.stand_ins import claimed, make_outside, memory_stores

pytestmark = pytest.mark.anyio

Operation = Callable[..., Mapping[str, Any]]


def failing(error: Exception, name: str = "put_item") -> Operation:
    def operation(**arguments: object) -> Mapping[str, Any]:
        raise error

    operation.__name__ = name
    return operation


def refused(code: str, **more: object) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "with an id nobody may see"}, **more}, "PutItem")  # type: ignore[typeddict-item]


BUSY = (
    *("ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "SlowDown"),
    *("InternalServerError", "ServiceUnavailable", "TransactionInProgressException", "500", "NeverHeardOf"),
)


@pytest.mark.parametrize("code", BUSY)
async def test_transient_aws_error_raises_temporary_error_without_the_message_of_aws(code: str) -> None:
    with pytest.raises(TemporaryError, match=code) as caught:
        await Aws().ask(failing(refused(code)))
    assert "nobody may see" not in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="https://x"),
        ConnectTimeoutError(endpoint_url="https://x"),
        EndpointConnectionError(endpoint_url="https://x"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_aws_timeout_raises_temporary_error(error: Exception) -> None:
    with pytest.raises(TemporaryError, match="did not answer put_item"):
        await Aws().ask(failing(error))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (refused("AccessDeniedException"), "does not allow put_item here"),
        (refused("AccessDenied"), "add it to the policy of the role that calls it"),
        (refused("ExpiredTokenException"), "does not accept these credentials for put_item .* sign in again"),
        (refused("ResourceNotFoundException"), "the table of GOFER_TABLE"),
        (refused("NoSuchBucket"), "the bucket of GOFER_BUCKET"),
        (refused("AWS.SimpleQueueService.NonExistentQueue"), "the queue of GOFER_QUEUE_URL"),
        (NoCredentialsError(), "name a profile in AWS_PROFILE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_aws_error_of_a_missing_setup_names_the_setting(error: Exception, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        await Aws().ask(failing(error))


async def test_expected_aws_refusal_is_returned_as_a_value() -> None:
    found = await Aws().ask(failing(refused("NoSuchKey")), refusals=["NoSuchKey"])
    assert isinstance(found, Refusal)
    assert found.code == "NoSuchKey"


async def test_concurrent_aws_requests_are_counted_and_bounded() -> None:
    aws, lock, under_way, most = Aws(3), threading.Lock(), 0, 0

    def get_item(**arguments: object) -> Mapping[str, Any]:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return {}

    await asyncio.gather(*(aws.ask(get_item) for _ in range(12)))
    aws.close()
    assert (aws.requests, most) == ({"get_item": 12}, 3)


def table(**operations: Operation) -> DynamoTable:
    return DynamoTable(Aws(), SimpleNamespace(**dict.fromkeys(NAMES) | operations), "t", "k")  # type: ignore[arg-type]


NAMES = ("put_item", "update_item", "delete_item", "batch_get_item", "batch_write_item", "transact_write_items")
WRITES = [Delete(Key("p", "s")), Put({"pk": "p", "sk": "t"}, Absent())]


def cancelled(*codes: str) -> ClientError:
    return refused("TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])


async def test_conflicting_dynamodb_transaction_is_retried() -> None:
    asked: list[object] = []

    def transact_write_items(**arguments: object) -> Mapping[str, Any]:
        asked.append(arguments)
        if len(asked) < 3:
            raise cancelled("None", "TransactionConflict")
        return {}

    assert await table(transact_write_items=transact_write_items).transact(WRITES) is None
    assert len(asked) == 3


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
async def test_dynamodb_transaction_that_always_conflicts_raises_temporary_error(code: str) -> None:
    with pytest.raises(TemporaryError, match="other writers change the same items, or the table is busy"):
        await table(transact_write_items=failing(cancelled(code, "None"), "transact_write_items")).transact(WRITES)


async def test_failed_condition_beside_a_conflict_is_returned_as_refused() -> None:
    both = failing(cancelled("TransactionConflict", "ConditionalCheckFailed"), "transact_write_items")
    assert await table(transact_write_items=both).transact(WRITES) == Refused(None)


async def test_dynamodb_write_that_always_meets_a_transaction_is_tried_five_times() -> None:
    asked: list[object] = []

    def delete_item(**arguments: object) -> Mapping[str, Any]:
        asked.append(arguments)
        raise refused("TransactionConflictException")

    with pytest.raises(TemporaryError, match="other writers change the same items"):
        await table(delete_item=delete_item).write(WRITES[0])
    assert len(asked) == 5


async def test_dynamodb_batch_retries_unprocessed_items() -> None:
    keys = [Key("p", "a"), Key("p", "b")]
    raw = [{"pk": {"S": key.pk}, "sk": {"S": key.sk}} for key in keys]
    left: list[object] = []

    def batch_get_item(RequestItems: dict[str, Any]) -> Mapping[str, Any]:  # noqa: N803
        first, *rest = RequestItems["t"]["Keys"]
        return {"Responses": {"t": [first]}, "UnprocessedKeys": {"t": {"Keys": rest}} if rest else {}}

    def batch_write_item(RequestItems: dict[str, Any]) -> Mapping[str, Any]:  # noqa: N803
        _, *rest = RequestItems["t"]
        left.append(rest)
        return {"UnprocessedItems": {"t": rest} if rest else {}}

    busy = table(batch_get_item=batch_get_item, batch_write_item=batch_write_item)
    assert [item["sk"] for item in await busy.get_all(keys)] == ["a", "b"]
    await busy.delete_all(keys)
    assert left == [[{"DeleteRequest": {"Key": raw[1]}}], []]


async def test_dynamodb_batch_that_stays_unprocessed_raises_temporary_error() -> None:
    def batch_get_item(RequestItems: object) -> Mapping[str, Any]:  # noqa: N803
        return {"Responses": {}, "UnprocessedKeys": RequestItems}

    def batch_write_item(RequestItems: object) -> Mapping[str, Any]:  # noqa: N803
        return {"UnprocessedItems": RequestItems}

    busy = table(batch_get_item=batch_get_item, batch_write_item=batch_write_item)
    keys = [Key("p", "a"), Key("p", "b")]
    with pytest.raises(TemporaryError, match="DynamoDB is busy"):
        await busy.get_all(keys)
    with pytest.raises(TemporaryError, match="DynamoDB is busy"):
        await busy.delete_all(keys)


class Bucket:
    """A bucket that lists a thousand objects at a time, as S3 does."""

    def __init__(self, keys: list[str], undeletable: str = "") -> None:
        self.keys = keys
        self.undeletable = undeletable

    def list_objects_v2(self, Bucket: str, Prefix: str) -> Mapping[str, Any]:  # noqa: N803
        found = [{"Key": key} for key in self.keys if key.startswith(Prefix)][:1_000]
        return {"Contents": found} if found else {}

    def delete_objects(self, Bucket: str, Delete: dict[str, Any]) -> Mapping[str, Any]:  # noqa: N803
        gone = {one["Key"] for one in Delete["Objects"]} - {self.undeletable}
        self.keys = [key for key in self.keys if key not in gone]
        return {"Errors": [{"Key": self.undeletable}]} if self.undeletable else {}


async def test_s3_drop_removes_more_bodies_than_a_list_page_holds() -> None:
    bucket = Bucket([*(f"blobs/run1/{n}" for n in range(2_005)), "blobs/run10/1", "bundles/run1/1"])
    await S3Blobs(Aws(), bucket, "b").drop("run1")  # type: ignore[arg-type]
    assert bucket.keys == ["blobs/run10/1", "bundles/run1/1"]


async def test_bodies_that_s3_did_not_remove_raise_temporary_error() -> None:
    with pytest.raises(TemporaryError, match="did not remove some bodies"):
        await S3Blobs(Aws(), Bucket(["blobs/run1/1"], "blobs/run1/1"), "b").drop("run1")  # type: ignore[arg-type]


class Forgetful(MemoryTable):
    """A table that loses the response of each write, so that the SDK repeats it."""

    async def write(self, write: Any) -> Refused | None:
        await super().write(write)
        return await super().write(write)

    async def transact(self, writes: Any) -> Refused | None:
        await super().transact(writes)
        return await super().transact(writes)


async def test_journal_commit_with_a_lost_dynamodb_response_is_recognized_as_own() -> None:
    store, (_, blobs) = DynamoStore(Forgetful()), memory_stores()
    pen = await claimed(store)
    journal, _ = await open_journal("run1", store, blobs, pen)
    journal.add(MessageReceived("user", "hello"))
    assert await journal.commit()
    assert len(await read_journal("run1", store, blobs)) == 2


async def test_journal_commit_that_meets_the_frame_of_another_owner_is_fenced() -> None:
    shared, (_, blobs) = MemoryTable(), memory_stores()
    store = DynamoStore(shared)
    pen = await claimed(store)
    mine, _ = await open_journal("run1", store, blobs, pen)
    theirs, _ = await open_journal("run1", DynamoStore(shared), blobs, Pen("them", make_outside()))
    theirs.add(MessageReceived("user", "theirs"))
    await theirs.commit()
    mine.add(MessageReceived("user", "mine"))
    with pytest.raises(Fenced):
        await mine.commit()


class Contested:
    """A bucket in which the next writes conflict with writes of others."""

    def __init__(self, conflicts: int) -> None:
        self.conflicts = conflicts
        self.kept: dict[str, bytes] = {}

    def put_object(self, **place: Any) -> Mapping[str, Any]:
        if self.conflicts:
            self.conflicts -= 1
            raise refused("ConditionalRequestConflict")
        self.kept[place["Key"]] = place["Body"]
        return {}

    def get_object(self, **_: object) -> Mapping[str, Any]:
        raise AssertionError


async def test_s3_body_under_conflicting_writes_is_retried_and_never_assumed_stored() -> None:
    bucket = Contested(2)
    await S3Bodies(Aws(), bucket, "b").put("run1/1", b"body")
    assert bucket.kept == {"blobs/run1/1": b"body"}
    busy = Contested(1_000)
    blobs = S3Bodies(Aws(), busy, "b")
    with pytest.raises(TemporaryError, match="other processes are writing"):
        await blobs.put("run1/1", b"body")
    busy.conflicts = 0
    await blobs.put("run1/1", b"body")
    assert busy.kept == {"blobs/run1/1": b"body"}
