"""How are bodies kept as files that survive a power cut?"""

import asyncio
import os
import tempfile
from pathlib import Path

from gofer.blobs.store import verified
from gofer.errors import TemporaryError


class DirectoryBlobs:
    """One file per body below a folder; written aside, synced, then renamed into place."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, body: bytes) -> None:
        """Stores the body; storing it again is the same as storing it once. Raises TemporaryError."""
        try:
            await asyncio.to_thread(_write, self._root / key, body)
        except OSError as error:
            raise TemporaryError(f"A body could not be written ({error.strerror}); check the disk.") from error

    async def get(self, key: str) -> bytes:
        """The body. Raises Damaged when it is missing or is not what its name says."""
        return verified(key, await asyncio.to_thread(_read, self._root / key))


def _write(path: Path, body: bytes) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".")
    with os.fdopen(handle, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    Path(aside).rename(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # A rename is durable only once its folder is.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
