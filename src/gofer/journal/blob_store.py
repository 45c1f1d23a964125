"""The promises of any store of bodies.

*Create-only*: a body is named by its hash and never changes. *Whole or absent*: a reader never sees half a body.
"""

import hashlib
from typing import Protocol

from gofer.values.errors import Corrupt

BUNDLES = "bundles"
"""The folder of the bundles, which runs share; every other folder belongs to one run."""


class Bodies(Protocol):
    """Immutable bodies to add to and to read; a key is `<folder>/<sha256 of the body>`."""

    async def put(self, key: str, body: bytes) -> None:
        """Store the body; storing it again is the same as storing it once. Raises TemporaryError."""
        ...

    async def get(self, key: str) -> bytes:
        """Return the body. Raises Corrupt when it is missing or is not what its name says."""
        ...


class Blobs(Bodies, Protocol):
    """A store of immutable bodies."""

    async def drop(self, folder: str) -> None:
        """Remove all bodies of a folder; nothing happens when there is none. Raises TemporaryError."""
        ...


def blob_key(folder: str, body: bytes) -> str:
    """Return the key of a body: `<folder>/<sha256>`."""
    return f"{folder}/{hashlib.sha256(body).hexdigest()}"


def verified(key: str, body: bytes | None) -> bytes:
    """Return the body, if it is the one its key names. Raises Corrupt."""
    if body is None:
        raise Corrupt(f"The body {key} is missing; restore it from a backup.")
    if hashlib.sha256(body).hexdigest() != key.rpartition("/")[2]:
        raise Corrupt(f"The body {key} is not the one that was written; restore it from a backup.")
    return body
