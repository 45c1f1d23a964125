"""Access to the state for its owner only: modes of files and folders, and no dumps of memory."""

import contextlib
import ctypes
import resource
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_OWNER = 0o700
_PR_SET_DUMPABLE = 4
"""Of prctl(2)."""


def tighten_folder(data: Path) -> None:
    """Take away what other users may do with the folder of the state and what is in it.

    New files and folders are made this way. This mends those of earlier versions and of a folder that was there before.
    """
    for path in _state_of(data):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            _tighten(path)


def forbid_core_dumps() -> None:
    """Let the system write no image of this process' memory, which holds keys and contents, when it crashes."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        # A limit says nothing to a program that takes dumps through a pipe; this does, and also refuses debuggers.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _state_of(data: Path) -> Iterator[Path]:
    """Yield the folder, its files, and the folders of bodies."""
    yield data
    for path in data.iterdir():
        if path.is_file():
            yield path
    bodies = data / "blobs"
    if bodies.is_dir():
        yield bodies
        yield from (path for path in bodies.iterdir() if path.is_dir())


def _tighten(path: Path) -> None:
    found = path.lstat().st_mode
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):
        return
    mode = stat.S_IMODE(found) & _OWNER
    if mode != stat.S_IMODE(found):
        path.chmod(mode)
