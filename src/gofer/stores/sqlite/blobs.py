"""Bodies as files that survive a power cut."""

import asyncio
import contextlib
import os
from pathlib import Path

from gofer.journal.blob_store import verified
from gofer.stores.sqlite.durable_files import sync_folder
from gofer.values.errors import TemporaryError


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
        """The body. Raises Corrupt when it is missing or is not what its name says."""
        try:
            return verified(key, await asyncio.to_thread(_read, self._root / key))
        except OSError as error:
            raise TemporaryError(f"A body could not be read ({error.strerror}); check the disk.") from error

    async def drop(self, folder: str) -> None:
        """Removes all bodies of a folder. Raises TemporaryError."""
        try:
            await asyncio.to_thread(_remove, self._root / folder)
        except OSError as error:
            raise TemporaryError(f"Bodies could not be removed ({error.strerror}); check the disk.") from error


def _write(path: Path, body: bytes) -> None:
    _make_folder(path.parent)
    if not path.exists():
        _write_temporary(path, body)
    # Also when another process wrote it: a rename is durable only once its folder is.
    sync_folder(path.parent)


def _write_temporary(path: Path, body: bytes) -> None:
    temporary = path.with_name(f".{os.urandom(8).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _remove(folder: Path) -> None:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
    # Another process may remove the same folder at the same time.
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()
    sync_folder(folder.parent)


def _make_folder(folder: Path) -> None:
    """Make a folder durable, with the folders above it that were missing."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)
    sync_folder(folder.parent)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
