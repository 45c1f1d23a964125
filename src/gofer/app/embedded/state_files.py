"""Files beside the database: written whole and durable, or refused with a sentence."""

import contextlib
import errno
import fcntl
import glob
import os
from pathlib import Path

from gofer.stores.sqlite.durable_files import erase, sync_folder
from gofer.values.errors import ConfigError

_SENTENCES = {
    errno.EROFS: "is on a read-only file system; mount it for writing, or name another folder",
    errno.EACCES: "may not be used by this user; start Gofer as the user that owns the folder, or change its owner",
    errno.EPERM: "may not be used by this user; start Gofer as the user that owns the folder, or change its owner",
    errno.ENOSPC: "does not fit on the disk; free some space and start again",
    errno.EDQUOT: "does not fit into the quota of this user; free some space and start again",
    errno.EIO: "cannot be read or written, because the disk failed; check the disk, then restore a backup",
}


def refused(path: Path, error: OSError) -> ConfigError:
    """Return the error for an operator: which file, what happened to it, and what to do."""
    said = f"cannot be used ({error.strerror}); check the folder and the disk"
    return ConfigError(f"{path} {_SENTENCES.get(error.errno or 0, said)}.")


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read: whole, and as durable as the state. Raises OSError."""
    _erase_left_behind(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            # It tells other processes that this file has a writer; a kill ends the lock.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            partial.rename(path)
    except OSError:
        with contextlib.suppress(OSError):
            erase(partial)
        raise
    # A rename is durable only once its folder is.
    sync_folder(path.parent)


def _erase_left_behind(path: Path) -> None:
    """Remove the files that killed processes were writing a secret into."""
    for left in path.parent.glob(f"{glob.escape(path.name)}.*"):
        if not left.suffix[1:].isdigit():
            continue
        with contextlib.suppress(FileNotFoundError, BlockingIOError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            erase(left)
