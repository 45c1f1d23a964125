"""Immutable bodies in S3."""

import asyncio
from collections import OrderedDict
from typing import Any, Protocol

from typing_extensions import override

from gofer.journal.blob_store import Blobs, Bodies, verified
from gofer.stores.aws.calls import Aws, Operation, Refusal
from gofer.values.errors import TemporaryError

PREFIX = "blobs/"
"""The prefix of the keys of bodies; the bucket holds other objects too."""
_MOST_KNOWN = 1_000
"""The most keys that are cached as stored; every run of a workflow stores the same bundle again."""

_EXISTS = "PreconditionFailed"
_CONTESTED = "ConditionalRequestConflict"
_ATTEMPTS = 5
_FIRST_PAUSE = 0.05
"""Seconds until the second attempt, after another writer's request was in progress; doubles each time."""


class S3Objects(Protocol):
    """The methods of boto3's S3 client that add and read objects."""

    put_object: Operation
    get_object: Operation


class S3Client(S3Objects, Protocol):
    """All methods of boto3's S3 client that Gofer calls for bodies."""

    list_objects_v2: Operation
    delete_objects: Operation


class S3Bodies(Bodies):
    """Bodies in S3, one object each. A reader that may not list the bucket gets 403 for a missing object."""

    def __init__(self, aws: Aws, client: S3Objects, bucket: str) -> None:
        self._aws = aws
        self._objects = client
        self._bucket = bucket
        self._known: OrderedDict[str, None] = OrderedDict()

    @override
    async def put(self, key: str, body: bytes) -> None:
        if key in self._known:
            return
        await self._put_once(key, body)
        self._known[key] = None
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    async def _put_once(self, key: str, body: bytes) -> None:
        """Store a body unless an object of its name exists. Raises TemporaryError."""
        # An existing object is this body, or it is damaged. In neither case is it replaced.
        arguments = {"Bucket": self._bucket, "Key": PREFIX + key, "Body": body, "IfNoneMatch": "*"}
        for attempt in range(_ATTEMPTS):
            response = await self._aws.ask(self._objects.put_object, refusals=[_EXISTS, _CONTESTED], **arguments)
            if not isinstance(response, Refusal) or response.code == _EXISTS:
                return
            # Another writer's request is in progress and may still fail, so this one is sent again.
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
        raise TemporaryError("S3 did not store a body: other processes are writing the same one. Try again.")

    @override
    async def get(self, key: str) -> bytes:
        def read(**arguments: str) -> bytes:
            # Read the stream on the thread of the request, because it blocks on the network too.
            return self._objects.get_object(**arguments)["Body"].read()

        read.__name__ = "get_object"
        response: Any = await self._aws.ask(read, refusals=["NoSuchKey"], Bucket=self._bucket, Key=PREFIX + key)
        return verified(key, None if isinstance(response, Refusal) else response)


class S3Blobs(S3Bodies, Blobs):
    """Bodies in S3, with folders that can be dropped."""

    def __init__(self, aws: Aws, client: S3Client, bucket: str) -> None:
        super().__init__(aws, client, bucket)
        self._client = client

    @override
    async def drop(self, folder: str) -> None:
        self._known = OrderedDict((key, None) for key in self._known if not key.startswith(f"{folder}/"))
        arguments = {"Bucket": self._bucket, "Prefix": f"{PREFIX}{folder}/"}
        while names := (await self._aws.answer(self._client.list_objects_v2, **arguments)).get("Contents"):
            listed = {"Objects": [{"Key": name["Key"]} for name in names], "Quiet": True}
            done = await self._aws.answer(self._client.delete_objects, Bucket=self._bucket, Delete=listed)
            if done.get("Errors"):
                raise TemporaryError("S3 did not remove some bodies; the next purge tries again.")
            if len(names) < 1_000:
                return
