"""Immutable bodies in S3."""

import asyncio
from collections import OrderedDict
from typing import Any, Protocol

from typing_extensions import override

from gofer.journal.blob_store import Blobs, Bodies, verified
from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.values.errors import TemporaryError

PREFIX = "blobs/"
"""What keys begin with; the bucket holds more than bodies."""
_KNOWN = 1_000
"""Keys that are known to stand; the bundle of a workflow is stored again by every run of it."""

_THERE = "PreconditionFailed"
_CONTESTED = "ConditionalRequestConflict"
_TRIES = 5
_PAUSE = 0.05
"""Seconds before a body that others write just now is written again; then twice as long each time."""


class S3Objects(Protocol):
    """What is used of boto3's client to add and to read objects."""

    put_object: Operation
    get_object: Operation


class S3Client(S3Objects, Protocol):
    """What is used of boto3's client."""

    list_objects_v2: Operation
    delete_objects: Operation


class S3Bodies(Bodies):
    """One object per body. Where a reader may not list the bucket, S3 calls a missing object forbidden."""

    def __init__(self, aws: Aws, client: S3Objects, bucket: str) -> None:
        self._aws = aws
        self._objects = client
        self._bucket = bucket
        self._known: OrderedDict[str, None] = OrderedDict()

    @override
    async def put(self, key: str, body: bytes) -> None:
        if key in self._known:
            return
        await self._stand(key, body)
        self._known[key] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    async def _stand(self, key: str, body: bytes) -> None:
        """Returns when a body of this name stands. Raises TemporaryError."""
        # A body that is there is the one its name says, or damaged; in neither case is it replaced.
        place = {"Bucket": self._bucket, "Key": PREFIX + key, "Body": body, "IfNoneMatch": "*"}
        for attempt in range(_TRIES):
            found = await self._aws.ask(self._objects.put_object, refusals=[_THERE, _CONTESTED], **place)
            if not isinstance(found, Refusal) or found.code == _THERE:
                return
            # Whether the other one succeeds is not known yet, so nothing is concluded from it.
            await asyncio.sleep(_PAUSE * 2**attempt)
        raise TemporaryError("S3 did not keep a body now: others write the same one.")

    @override
    async def get(self, key: str) -> bytes:
        def read(**place: str) -> bytes:
            # On its thread: the body comes over the network too.
            return self._objects.get_object(**place)["Body"].read()

        read.__name__ = "get_object"
        found: Any = await self._aws.ask(read, refusals=["NoSuchKey"], Bucket=self._bucket, Key=PREFIX + key)
        return verified(key, None if isinstance(found, Refusal) else found)


class S3Blobs(S3Bodies, Blobs):
    """The same, with folders that can be dropped."""

    def __init__(self, aws: Aws, client: S3Client, bucket: str) -> None:
        super().__init__(aws, client, bucket)
        self._client = client

    @override
    async def drop(self, folder: str) -> None:
        self._known = OrderedDict((key, None) for key in self._known if not key.startswith(f"{folder}/"))
        place = {"Bucket": self._bucket, "Prefix": f"{PREFIX}{folder}/"}
        while names := (await self._aws.answer(self._client.list_objects_v2, **place)).get("Contents"):
            listed = {"Objects": [{"Key": name["Key"]} for name in names], "Quiet": True}
            done = await self._aws.answer(self._client.delete_objects, Bucket=self._bucket, Delete=listed)
            if done.get("Errors"):
                raise TemporaryError("S3 did not remove some bodies; the next purge tries again.")
            if len(names) < 1_000:
                return
