"""Bodies as files that survive a power failure."""

import asyncio
import contextlib
import os
from pathlib import Path

from gofer.journal.blob_store import verified
from gofer.stores.sqlite.durable_files import sync_folder
from gofer.values.errors import TemporaryError


class DirectoryBlobs:
    """A folder with one file per body. A file is written under a temporary name, synced, and then renamed."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, body: bytes) -> None:
        """Store a body; storing it again changes nothing. Raises TemporaryError."""
        try:
            await asyncio.to_thread(_write, self._root / key, body)
        except OSError as error:
            raise TemporaryError(f"A body could not be written ({error.strerror}); check the disk.") from error

    async def get(self, key: str) -> bytes:
        """Return a body. Raises Corrupt when it is missing or does not match its name, TemporaryError."""
        try:
            return verified(key, await asyncio.to_thread(_read, self._root / key))
        except OSError as error:
            raise TemporaryError(f"A body could not be read ({error.strerror}); check the disk.") from error

    async def drop(self, folder: str) -> None:
        """Remove all bodies of a folder. Raises TemporaryError."""
        try:
            await asyncio.to_thread(_remove, self._root / folder)
        except OSError as error:
            raise TemporaryError(f"Bodies could not be removed ({error.strerror}); check the disk.") from error


def _write(path: Path, body: bytes) -> None:
    _make_folder(path.parent)
    if not path.exists():
        _write_temporary(path, body)
    # Also if another process wrote the file: a rename is durable only after its folder was synced.
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
    """Create a folder and its missing parents, and make them durable."""
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
