"""The small files beside the database: durable secret files, and the lock file that names the serving process."""

import contextlib
import errno
import fcntl
import glob
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gofer.stores.sqlite.durable_files import erase, sync_folder
from gofer.values.errors import MachineError

_SENTENCES = {
    errno.EROFS: "is on a read-only file system; mount it for writing, or name another folder",
    errno.EACCES: "is not accessible to this user; start Gofer as the owner of the folder, or change the owner",
    errno.EPERM: "is not accessible to this user; start Gofer as the owner of the folder, or change the owner",
    errno.ENOSPC: "does not fit on the disk; free some space and start again",
    errno.EFBIG: "is larger than this process may write; raise its limit (ulimit -f) and start again",
    errno.EDQUOT: "does not fit into the quota of this user; free some space and start again",
    errno.EIO: "cannot be read or written, because the disk failed; check the disk, then restore a backup",
}
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""The numbers of errors at a file that has no more room."""


def refused(path: Path | str, error: OSError) -> MachineError:
    """Return the error for an operator, which names the file, the failure and the remedy."""
    default = f"cannot be used ({error.strerror or error}); check the folder and the disk"
    return MachineError(f"{path} {_SENTENCES.get(error.errno or 0, default)}.")


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, durably and never in part. Raises OSError."""
    _erase_left_behind(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            # The lock shows other processes that this file has a writer. It ends when the writer is killed.
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            partial.rename(path)
    except OSError:
        with contextlib.suppress(OSError):
            erase(partial)
        raise
    # A rename is durable only after its folder is synced.
    sync_folder(path.parent)


def _erase_left_behind(path: Path) -> None:
    """Remove the partial files of killed writers."""
    for left in path.parent.glob(f"{glob.escape(path.name)}.*"):
        if not left.suffix[1:].isdigit():
            continue
        with contextlib.suppress(FileNotFoundError, BlockingIOError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            erase(left)


LOCK = "serving.lock"
"""The file that the serving process locks and writes its id into."""
STOPPED = ("T", "t")
"""Linux's letters for a process that a signal or a debugger stopped."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that wrote its id into the lock file."""

    pid: int
    since: float
    """When the process took the lock, in unix seconds."""
    stopped: bool
    """Whether the process is stopped, so that it holds the lock and does nothing."""


def sign(handle: int) -> None:
    """Write the id of this process into the lock file that it holds."""
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)


def read_holder(handle: int, processes: Path = Path("/proc")) -> Holder | None:
    """Return the process that signed the lock file, or None when the file names no process of this machine."""
    written = os.pread(handle, 32, 0).strip()
    if not written.isdigit():
        return None
    pid = int(written)
    state = _state(processes / str(pid) / "stat")
    if state is None and processes.is_dir():
        # The id belongs to a process on another machine, or in another container, that shares the folder.
        return None
    return Holder(pid, os.fstat(handle).st_mtime, stopped=state in STOPPED)


def serving_elsewhere(data: Path) -> str | None:
    """Return a description of the process that serves a folder, or None if no process does.

    Do not call this while holding the right to serve the folder: this process would count as the other. Raises OSError.
    """
    try:
        folder = os.open(data, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder_in(data / LOCK)
    finally:
        os.close(folder)
    return None


def _holder_in(lock: Path) -> str:
    """Return a description of the process that signed a lock file. Raises OSError."""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except FileNotFoundError:
        return "a process that is not visible here"
    try:
        holder = read_holder(handle)
    finally:
        os.close(handle)
    if holder is None:
        return "a process that is not visible here"
    return f"process {holder.pid}, since {_since(holder)}"


def refusal(data: Path, holder: Holder | None) -> str:
    """Return the error message for a folder that another process serves."""
    if holder is None:
        return f"Another Gofer serves {data}; stop it, or set GOFER_DATA to another folder."
    since = _since(holder)
    if not holder.stopped:
        named = f"process {holder.pid}, since {since}"
        return f"Another Gofer serves {data} ({named}); stop it, or set GOFER_DATA to another folder."
    return (
        f"Another Gofer holds {data} and is frozen (process {holder.pid}, since {since}, stopped by a signal). "
        f"Continue it with `kill -CONT {holder.pid}`, or end it with `kill -KILL {holder.pid}` and start again."
    )


def _since(holder: Holder) -> str:
    return f"{datetime.fromtimestamp(holder.since, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _state(stat: Path) -> str | None:
    """Return the letter of a process' state, or None if it cannot be read."""
    try:
        # The name of the process stands before the state and may hold spaces and parentheses.
        return stat.read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None
