"""The fingerprint of a repository's workflow files, cheap enough to compute every second."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gofer.workflows.publication import FOLDERS
from gofer.workflows.script_source import FOLDER as COORDINATORS

Fingerprint = Mapping[str, tuple[int, int, int, int]]
"""Size, modification time, change time (both nanoseconds) and inode of each file, by path."""


def fingerprint(root: Path, folders: Sequence[str] = (*FOLDERS, COORDINATORS)) -> Fingerprint:
    """Return the state of every file in some folders, by default the folders that workflows are read from.

    No content is read. A file or folder that disappears while the folders are listed is left out.
    """
    return {path: state for folder in folders for path, state in _files(root / folder)}


def _files(folder: Path) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
    walked: set[tuple[int, int]] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        try:
            found = Path(place).stat()
        except OSError:
            folders.clear()
            continue
        if (found.st_dev, found.st_ino) in walked:
            # A link to a parent folder would be followed for ever.
            folders.clear()
            continue
        walked.add((found.st_dev, found.st_ino))
        # Python writes its own files into `__pycache__` during imports.
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        for path in (Path(place, name) for name in names):
            with contextlib.suppress(OSError):
                yield str(path), _state(path)


def _state(path: Path) -> tuple[int, int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
