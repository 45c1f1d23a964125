"""How do published workflows stand in S3? Objects are created once, and the pointer is moved by compare-and-swap."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]

from gofer.bootstrap.refused import code
from gofer.errors import TemporaryError
from gofer.workflows.published import Found

T = TypeVar("T")
_MISSING = ("NoSuchKey", "404")
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


class S3Shelf:
    """Objects of one bucket, by a boto3 client."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    async def read(self, key: str) -> Found | None:
        """See Shelf.read."""

        def work() -> Found | None:
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if code(error) in _MISSING:
                    return None
                raise
            return Found(answer["Body"].read(), answer["ETag"])

        return await _ask(work)

    async def create(self, key: str, body: bytes) -> bool:
        """See Shelf.create."""
        return await self._put(key, body, IfNoneMatch="*")

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        """See Shelf.swap."""
        return await (self._put(key, body, IfMatch=tag) if tag else self.create(key, body))

    async def keys(self, prefix: str) -> Sequence[str]:
        """See Shelf.keys."""

        def work() -> Sequence[str]:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            return [str(found["Key"]) for page in pages for found in page.get("Contents", ())]

        return await _ask(work)

    async def _put(self, key: str, body: bytes, **condition: str) -> bool:
        def work() -> bool:
            try:
                self._client.put_object(
                    Bucket=self._bucket, Key=key, Body=body, ContentType="application/json", **condition
                )
            except ClientError as error:
                # A pointer that was there and is gone was changed, too.
                if code(error) in (*_TAKEN, *_MISSING):
                    return False
                raise
            return True

        return await _ask(work)


async def _ask(work: Callable[[], T]) -> T:
    """What a client answers, from a thread of its own."""
    try:
        return await asyncio.to_thread(work)
    except ClientError as error:
        raise TemporaryError(f"S3 refuses to keep or give published workflows ({code(error)}).") from error
    except BotoCoreError as error:
        raise TemporaryError(f"S3 cannot be reached for published workflows ({type(error).__name__}).") from error
