"""What the file system refuses is told with the file, what happened to it, and what to do."""

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
def test_each_refusal_of_a_file_system_says_what_to_do(code: int, told: str) -> None:
    path = Path(".gofer/installation.key")
    said = str(refused(path, OSError(code, os.strerror(code), str(path))))
    assert said.startswith(f"{path} ")
    assert told in said


def test_a_secret_that_a_killed_process_was_writing_is_overwritten_and_removed(tmp_path: Path) -> None:
    left = tmp_path / "installation.key.4711"
    left.write_text("a key")
    other = tmp_path / "installation.key.kept"
    other.write_text("of an operator")
    os.link(left, tmp_path / "blocks")
    write_secret(tmp_path / "installation.key", "another key")
    assert (tmp_path / "blocks").read_bytes() == bytes(5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocks", "installation.key", "installation.key.kept"]


def test_a_secret_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    written = tmp_path / "installation.key.4711"
    written.write_text("a key")
    with written.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_secret(tmp_path / "installation.key", "another key")
    assert written.read_text() == "a key"


def test_a_secret_that_could_not_be_put_in_its_place_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "installation.key").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_secret(tmp_path / "installation.key", "a key")
    assert [path.name for path in tmp_path.iterdir()] == ["installation.key"]
