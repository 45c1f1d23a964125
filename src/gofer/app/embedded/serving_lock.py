"""The process that holds the right to serve a folder, as the lock file and the kernel describe it."""

import fcntl
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

LOCK = "serving.lock"
"""Held by the process that serves the folder, with its id."""
STOPPED = ("T", "t")
"""States of a process that a signal or a debugger stopped, as Linux names them."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that wrote its id into the lock file."""

    pid: int
    since: float
    """When it took the lock, unix seconds."""
    stopped: bool
    """Whether it is frozen: it holds the lock and does nothing."""


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
        # Its id belongs to another machine or container that shares the folder.
        return None
    return Holder(pid, os.fstat(handle).st_mtime, stopped=state in STOPPED)


def serving_elsewhere(data: Path) -> str | None:
    """Return the name of the process that serves a folder, or None when no process does.

    Call it without the right to serve the folder: that would count as another process. Raises OSError.
    """
    try:
        handle = os.open(data / LOCK, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = read_holder(handle)
        return "a process elsewhere" if holder is None else f"process {holder.pid}, since {_since(holder)}"
    finally:
        os.close(handle)
    return None


def refusal(data: Path, holder: Holder | None) -> str:
    """Return the sentence for the operator whose Gofer finds the folder taken."""
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
    """Return the letter of the process's state; the name before it may hold spaces and parentheses."""
    try:
        return stat.read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None
