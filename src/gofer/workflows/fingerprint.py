"""The state of a repository's workflow files, cheap enough to be taken every second."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gofer.workflows.publication import FOLDERS
from gofer.workflows.script_source import FOLDER as COORDINATORS

Fingerprint = Mapping[str, tuple[int, int, int, int]]
"""Size, times of the last change (nanoseconds, of content and of the entry) and inode of each file, by its path."""


def fingerprint(root: Path, folders: Sequence[str] = (*FOLDERS, COORDINATORS)) -> Fingerprint:
    """Return what tells one state of folders, by default those that workflows are read from, apart from another.

    No content is read. A file that goes while the folders are listed counts as gone.
    """
    return {path: state for folder in folders for path, state in _files(root / folder)}


def _files(folder: Path) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
    walked: set[tuple[int, int]] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        found = Path(place).stat()
        if (found.st_dev, found.st_ino) in walked:
            # A link that leads upward would be followed for ever.
            folders.clear()
            continue
        walked.add((found.st_dev, found.st_ino))
        # Python writes its own files there while it imports.
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        for path in (Path(place, name) for name in names):
            with contextlib.suppress(OSError):
                yield str(path), _state(path)


def _state(path: Path) -> tuple[int, int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
