"""Changes of files and folders that survive a power cut, and the removal of files that hold keys."""

import contextlib
import os
from pathlib import Path

_CHUNK = 1 << 16


def sync_folder(folder: Path) -> None:
    """Make the entries of one folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def erase(path: Path) -> None:
    """Overwrite a file in place, with random bytes and then zeros, and remove it. Raises OSError.

    A file that is removed alone stays readable in the blocks that the file system gives back.
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
    """Overwrite an open file, with random bytes and then zeros, each of them durable. Raises OSError."""
    size = os.fstat(handle).st_size
    for content in (os.urandom, bytes):
        offset = 0
        while offset < size:
            offset += os.pwrite(handle, content(min(_CHUNK, size - offset)), offset)
        os.fsync(handle)
