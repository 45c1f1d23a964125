"""How are bodies kept in S3?"""

from collections import OrderedDict
from typing import Any, Protocol

from gofer.aws import Aws, Operation, Refusal
from gofer.blobs.store import verified
from gofer.errors import TemporaryError

PREFIX = "blobs/"
"""What keys begin with; the bucket holds more than bodies."""
_KNOWN = 1_000
"""Keys that are known to stand; the bundle of a workflow is stored again by every run of it."""


class S3Client(Protocol):
    """What is used of boto3's client."""

    put_object: Operation
    get_object: Operation
    list_objects_v2: Operation
    delete_objects: Operation


class S3Blobs:
    """One object per body. Where a reader may not list the bucket, S3 calls a missing object forbidden."""

    def __init__(self, aws: Aws, client: S3Client, bucket: str) -> None:
        self._aws = aws
        self._client = client
        self._bucket = bucket
        self._known: OrderedDict[str, None] = OrderedDict()

    async def put(self, key: str, body: bytes) -> None:
        """See Blobs.put."""
        if key in self._known:
            return
        # A body that is there is the one its name says, or damaged; in neither case is it replaced.
        place = {"Bucket": self._bucket, "Key": PREFIX + key}
        refusals = ["PreconditionFailed"]
        await self._aws.ask(self._client.put_object, refusals=refusals, **place, Body=body, IfNoneMatch="*")
        self._known[key] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    async def get(self, key: str) -> bytes:
        """See Blobs.get."""

        def read(**place: str) -> bytes:
            # On its thread: the body comes over the network too.
            return self._client.get_object(**place)["Body"].read()

        read.__name__ = "get_object"
        found: Any = await self._aws.ask(read, refusals=["NoSuchKey"], Bucket=self._bucket, Key=PREFIX + key)
        return verified(key, None if isinstance(found, Refusal) else found)

    async def drop(self, folder: str) -> None:
        """See Blobs.drop."""
        self._known = OrderedDict((key, None) for key in self._known if not key.startswith(f"{folder}/"))
        place = {"Bucket": self._bucket, "Prefix": f"{PREFIX}{folder}/"}
        while names := (await self._aws.answer(self._client.list_objects_v2, **place)).get("Contents"):
            listed = {"Objects": [{"Key": name["Key"]} for name in names], "Quiet": True}
            done = await self._aws.answer(self._client.delete_objects, Bucket=self._bucket, Delete=listed)
            if done.get("Errors"):
                raise TemporaryError("S3 did not remove some bodies; the next purge tries again.")
            if len(names) < 1_000:
                return
