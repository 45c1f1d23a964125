"""Published workflows in S3. Bundles are written once, and compare-and-swap moves the pointer to the current one."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from gofer.stores.aws.calls import Aws, Refusal
from gofer.workflows.published import BundleStore, Found

_MISSING = ("NoSuchKey",)
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey")
"""Codes of a lost race: another publisher wrote, is writing, or removed the object."""


class S3BundleStore(BundleStore):
    """Objects of one bucket, by a boto3 client."""

    def __init__(self, aws: Aws, client: Any, bucket: str) -> None:
        self._aws = aws
        self._client = client
        self._bucket = bucket

    @override
    async def read(self, key: str) -> Found | None:

        def get_object(**place: str) -> Found:
            # The body also comes over the network, so this thread reads it, and not the event loop.
            answer = self._client.get_object(**place)
            return Found(answer["Body"].read(), answer["ETag"])

        found: Any = await self._aws.ask(get_object, refusals=_MISSING, Bucket=self._bucket, Key=key)
        if isinstance(found, Refusal):
            return None
        return found

    @override
    async def create(self, key: str, body: bytes) -> bool:
        return await self._put(key, body, IfNoneMatch="*")

    @override
    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        if tag:
            return await self._put(key, body, IfMatch=tag)
        return await self.create(key, body)

    @override
    async def keys(self, prefix: str) -> Sequence[str]:

        def list_objects(**place: str) -> Sequence[str]:
            pages = self._client.get_paginator("list_objects_v2").paginate(**place)
            return [str(found["Key"]) for page in pages for found in page.get("Contents", ())]

        found: Any = await self._aws.answer(list_objects, Bucket=self._bucket, Prefix=prefix)
        return found

    async def _put(self, key: str, body: bytes, **condition: str) -> bool:
        place = {"Bucket": self._bucket, "Key": key, "Body": body, "ContentType": "application/json"}
        result = await self._aws.ask(self._client.put_object, refusals=_TAKEN, **place, **condition)
        return not isinstance(result, Refusal)
