"""The contract of `journal/blob_store.py`, for every blob store."""

from pathlib import Path

import pytest

from gofer.journal.blob_store import Blobs, blob_key
from gofer.stores.aws.blobs import S3Blobs
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.sqlite.blobs import DirectoryBlobs
from gofer.values.errors import ConfigError, Corrupt, TemporaryError
from support.aws.moto_server import aws, client, new_bucket

pytestmark = pytest.mark.anyio

BODY = b"\x00 a body \xff" * 1000


@pytest.fixture(params=["memory", "directory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "s3":
        return S3Blobs(aws(), client("s3"), new_bucket())
    return MemoryBlobs() if request.param == "memory" else DirectoryBlobs(tmp_path / "blobs")


async def test_body_is_stored_byte_for_byte(blobs: Blobs) -> None:
    key = blob_key("run1", BODY)
    await blobs.put(key, BODY)
    await blobs.put(key, BODY)
    assert await blobs.get(key) == BODY


async def test_stored_body_is_never_replaced(blobs: Blobs) -> None:
    key = blob_key("run1", BODY)
    await blobs.put(key, BODY)
    await blobs.put(key, b"something else")
    assert await blobs.get(key) == BODY


async def test_missing_or_truncated_body_is_corrupt(blobs: Blobs) -> None:
    key = blob_key("run1", BODY)
    with pytest.raises(Corrupt, match="missing"):
        await blobs.get(key)
    await blobs.put(key, BODY[:-1])
    with pytest.raises(Corrupt, match="not the one that was written"):
        await blobs.get(key)


async def test_body_already_stored_is_not_sent_to_s3_again_until_dropped() -> None:
    blobs, requests = S3Blobs(aws(), client("s3"), new_bucket()), aws().requests
    key, before = blob_key("run1", BODY), requests["put_object"]
    for _ in range(3):
        await blobs.put(key, BODY)
    assert requests["put_object"] == before + 1
    await blobs.drop("run1")
    await blobs.put(key, BODY)
    assert (requests["put_object"], await blobs.get(key)) == (before + 2, BODY)


async def test_missing_bucket_is_reported() -> None:
    blobs = S3Blobs(aws(), client("s3"), "nowhere-at-all")
    with pytest.raises(ConfigError, match="GOFER_BUCKET"):
        await blobs.put(blob_key("run1", BODY), BODY)


async def test_changed_body_file_is_corrupt_and_left_in_place(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    key = blob_key("run1", BODY)
    await blobs.put(key, BODY)
    (tmp_path / key).write_bytes(BODY.replace(b"body", b"BODY"))
    with pytest.raises(Corrupt):
        await blobs.get(key)
    assert list((tmp_path / "run1").iterdir()) == [tmp_path / key]


async def test_unreadable_body_is_a_temporary_error_and_leaves_no_other_file(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    key = blob_key("run1", BODY)
    (tmp_path / key).mkdir(parents=True)  # a folder where the file should be: the rename fails
    (tmp_path / key / "in the way").touch()
    with pytest.raises(TemporaryError):
        await blobs.get(key)
    assert [path.name for path in (tmp_path / "run1").iterdir()] == [key.rpartition("/")[2]]


async def test_unwritable_body_folder_is_a_temporary_error(tmp_path: Path) -> None:
    (tmp_path / "run1").write_bytes(b"a file where a folder should be")
    with pytest.raises(TemporaryError, match="check the disk"):
        await DirectoryBlobs(tmp_path).put(blob_key("run1", BODY), BODY)


async def test_dropped_run_loses_only_bodies_of_that_run(blobs: Blobs) -> None:
    mine, theirs = blob_key("run1", BODY), blob_key("run10", BODY)
    await blobs.put(mine, BODY)
    await blobs.put(theirs, BODY)
    for _ in range(2):
        await blobs.drop("run1")
    with pytest.raises(Corrupt, match="missing"):
        await blobs.get(mine)
    assert await blobs.get(theirs) == BODY


async def test_dropped_run_leaves_no_half_written_file(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    await blobs.put(blob_key("run1", BODY), BODY)
    (tmp_path / "run1" / ".half").write_bytes(b"half a body")
    await blobs.drop("run1")
    assert list(tmp_path.iterdir()) == []


async def test_body_folder_that_cannot_be_removed_is_a_temporary_error(tmp_path: Path) -> None:
    (tmp_path / "run1" / "in the way").mkdir(parents=True)
    with pytest.raises(TemporaryError, match="check the disk"):
        await DirectoryBlobs(tmp_path).drop("run1")
