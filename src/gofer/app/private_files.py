"""Protection of the state from other users: modes of files and folders, and no core dumps."""

import contextlib
import ctypes
import resource
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_OWNER = 0o700
_PR_SET_DUMPABLE = 4
"""The option of prctl(2)."""


def tighten_folder(data: Path) -> None:
    """Remove the permissions of other users from the folder of the state and its contents.

    Gofer creates new files and folders without such permissions. This corrects the ones that existed before, or that
    earlier versions made.
    """
    for path in _state_of(data):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            _tighten(path)


def forbid_core_dumps() -> None:
    """Forbid core dumps of this process, because its memory holds keys and contents."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        # The limit does not apply to dumps that a program takes through a pipe. This does, and also refuses debuggers.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _state_of(data: Path) -> Iterator[Path]:
    """Yield the folder, the files directly in it, and the folders of bodies."""
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
