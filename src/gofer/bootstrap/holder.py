"""The process that holds the right to serve a folder, as the lock file and the kernel describe it."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

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


def refusal(data: Path, holder: Holder | None) -> str:
    """Return the sentence for the operator whose Gofer finds the folder taken."""
    if holder is None:
        return f"Another Gofer serves {data}; stop it, or set GOFER_DATA to another folder."
    since = f"{datetime.fromtimestamp(holder.since, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if not holder.stopped:
        named = f"process {holder.pid}, since {since}"
        return f"Another Gofer serves {data} ({named}); stop it, or set GOFER_DATA to another folder."
    return (
        f"Another Gofer holds {data} and is frozen (process {holder.pid}, since {since}, stopped by a signal). "
        f"Continue it with `kill -CONT {holder.pid}`, or end it with `kill -KILL {holder.pid}` and start again."
    )


def _state(stat: Path) -> str | None:
    """Return the letter of the process's state; the name before it may hold spaces and parentheses."""
    try:
        return stat.read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None
