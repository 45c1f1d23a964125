"""A deleted private run on AWS: no table row and no object version reveals its contents."""

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, RunFinished, RunStarted
from gofer.journal.log import open_journal
from gofer.journal.seal import KEY_BYTES
from gofer.runtime.retention import Purger
from gofer.stores.one_place import Stores
from support.aws.moto_server import MotoCloud, client, new_clock
from support.journal.forensic_examiner import holding
from support.stand_ins import NOON, claimed, make_outside

pytestmark = pytest.mark.anyio

WORDS = "the salary of the captain"


def items(table: str) -> bytes:
    return repr(client("dynamodb").scan(TableName=table)["Items"]).encode()


def versions(bucket: str) -> list[bytes]:
    """Return every version of every object, deleted objects included."""
    s3 = client("s3")
    found = s3.list_object_versions(Bucket=bucket).get("Versions", [])
    place = [{"Bucket": bucket, "Key": one["Key"], "VersionId": one["VersionId"]} for one in found]
    return [s3.get_object(**one)["Body"].read() for one in place]


async def test_deleted_private_run_cannot_be_decrypted_from_tables_or_object_versions() -> None:
    clock = new_clock("aws")
    cloud = MotoCloud(clock)
    client("s3").put_bucket_versioning(Bucket=cloud.bucket, VersioningConfiguration={"Status": "Enabled"})
    pen = await claimed(cloud.store, "r", make_outside(clock))
    journal, _ = await open_journal("r", cloud.store, cloud.blobs, pen)
    journal.add(RunStarted("bundle", private=True))
    journal.add(MessageReceived(f"{WORDS} " * 2_000))
    await journal.commit()
    journal.add(RunFinished("done"))
    await journal.commit()
    key = await cloud.store.key("r")
    assert key is not None
    assert len(key) == KEY_BYTES
    await cloud.store.create_head(Head("r", "w", "c", int(NOON * 1000), "done", private=True))
    raw = client("dynamodb").scan(TableName=cloud.table._keys)["Items"][0]
    assert (raw["key"]["B"], repr(key).encode() in items(cloud.table._name)) == (key, False)

    await Purger(Stores(cloud.store, cloud.blobs, cloud.queue), clock).purge()

    assert client("dynamodb").scan(TableName=cloud.table._keys)["Items"] == []
    journals, bodies = items(cloud.table._name), versions(cloud.bucket)
    assert bodies != []
    assert [one for one in (journals, *bodies) if holding(one, WORDS.encode(), key)] == []
    assert [one for one in bodies if holding(one, key)] == []
    assert repr(key).encode() not in journals
