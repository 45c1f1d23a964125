"""Durable changes of files and folders, and the erasure of files that hold keys."""

import contextlib
import os
from pathlib import Path

_CHUNK = 1 << 16


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def erase(path: Path) -> None:
    """Overwrite a file in place, with random bytes and then zeros, and remove it. Raises OSError.

    Removal alone would leave the content readable in the blocks that the file system frees.
    """
    if path.is_symlink():
        path.unlink()
        return
    with contextlib.suppress(FileNotFoundError):
        handle = os.open(path, os.O_WRONLY)
        try:
            overwrite(handle)
        finally:
            os.close(handle)
        path.unlink()


def overwrite(handle: int) -> None:
    """Overwrite an open file durably, with random bytes and then with zeros. Raises OSError."""
    size = os.fstat(handle).st_size
    for content in (os.urandom, bytes):
        offset = 0
        while offset < size:
            offset += os.pwrite(handle, content(min(_CHUNK, size - offset)), offset)
        os.fsync(handle)
