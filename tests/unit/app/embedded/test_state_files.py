"""File system errors of the state folder, and secrets on disk."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from gofer.app.embedded.state_files import refused, write_secret


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (errno.EROFS, "is on a read-only file system; mount it for writing"),
        (errno.EACCES, "is not accessible to this user; start Gofer as the owner of the folder"),
        (errno.ENOSPC, "does not fit on the disk; free some space"),
        (errno.EIO, "the disk failed; check the disk, then restore a backup"),
        (errno.EISDIR, "check the folder and the disk"),
    ],
)
def test_file_system_error_names_the_file_and_the_remedy(code: int, told: str) -> None:
    path = Path(".gofer/installation.key")
    said = str(refused(path, OSError(code, os.strerror(code), str(path))))
    assert said.startswith(f"{path} ")
    assert told in said


def test_secret_left_half_written_by_a_killed_process_is_overwritten_and_removed(tmp_path: Path) -> None:
    left = tmp_path / "installation.key.4711"
    left.write_text("a key")
    other = tmp_path / "installation.key.kept"
    other.write_text("of an operator")
    os.link(left, tmp_path / "blocks")
    write_secret(tmp_path / "installation.key", "another key")
    assert (tmp_path / "blocks").read_bytes() == bytes(5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocks", "installation.key", "installation.key.kept"]


def test_secret_being_written_by_another_process_is_left_alone(tmp_path: Path) -> None:
    written = tmp_path / "installation.key.4711"
    written.write_text("a key")
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_secret(tmp_path / "installation.key", "another key")
    assert written.read_text() == "a key"


def test_secret_file_is_removed_when_the_rename_fails(tmp_path: Path) -> None:
    (tmp_path / "installation.key").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_secret(tmp_path / "installation.key", "a key")
    assert [path.name for path in tmp_path.iterdir()] == ["installation.key"]
