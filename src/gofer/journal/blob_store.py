"""The promises of every store of bodies.

*Create-only*: a body is named by its hash and never changes. *Whole or absent*: a reader never sees a part of a body.
"""

import hashlib
from typing import Protocol

from gofer.values.errors import Corrupt

BUNDLES = "bundles"
"""The folder of bundles, which many runs share. Every other folder belongs to one run."""


class Bodies(Protocol):
    """A store of immutable bodies that can be added and read; a key is `<folder>/<sha256 of the body>`."""

    async def put(self, key: str, body: bytes) -> None:
        """Store a body; storing it again changes nothing. Raises TemporaryError."""
        ...

    async def get(self, key: str) -> bytes:
        """Return a body. Raises Corrupt when it is missing or does not match its name."""
        ...


class Blobs(Bodies, Protocol):
    """A store of immutable bodies with folders that can be removed."""

    async def drop(self, folder: str) -> None:
        """Remove all bodies of a folder; do nothing if there is none. Raises TemporaryError."""
        ...


def blob_key(folder: str, body: bytes) -> str:
    """Return the key of a body, `<folder>/<sha256>`."""
    return f"{folder}/{hashlib.sha256(body).hexdigest()}"


def verified(key: str, body: bytes | None) -> bytes:
    """Return the body if it exists and matches the hash in its key. Raises Corrupt."""
    if body is None:
        raise Corrupt(f"The body {key} is missing; restore it from a backup.")
    if hashlib.sha256(body).hexdigest() != key.rpartition("/")[2]:
        raise Corrupt(f"The body {key} is not the one that was written; restore it from a backup.")
    return body
