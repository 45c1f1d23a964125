"""What the file system refuses is told with the file, what happened to it, and what to do."""

import errno
import os
from pathlib import Path

import pytest

from gofer.bootstrap.disk import refused


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.EROFS, "is on a read-only file system; mount it for writing"),
        (errno.EACCES, "may not be used by this user; start Gofer as the user that owns the folder"),
        (errno.ENOSPC, "does not fit on the disk; free some space"),
        (errno.EIO, "the disk failed; check the disk, then restore a backup"),
        (errno.EISDIR, "check the folder and the disk"),
    ],
)
def test_each_refusal_of_a_file_system_says_what_to_do(code: int, told: str) -> None:
    path = Path(".gofer/installation.key")
    said = str(refused(path, OSError(code, os.strerror(code), str(path))))
    assert said.startswith(f"{path} ")
    assert told in said
