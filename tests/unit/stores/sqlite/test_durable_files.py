"""Removal of key files: their blocks on the disk are overwritten."""

import os
from pathlib import Path

import pytest

from gofer.app.backup.copied_files import clear, emptied_on_failure
from gofer.stores.sqlite.durable_files import erase

KEY = b"the key of a run" * 10_000


def written(path: Path, blocks: Path) -> None:
    """Write a file, and link its blocks to a second name."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(KEY)
    os.link(path, blocks)


def test_erased_key_file_is_overwritten_with_zeros(tmp_path: Path) -> None:
    written(tmp_path / "keys", tmp_path / "blocks")
    erase(tmp_path / "keys")
    assert not (tmp_path / "keys").exists()
    assert (tmp_path / "blocks").read_bytes() == bytes(len(KEY))
    erase(tmp_path / "keys")


def test_erasing_a_symlink_keeps_the_target(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(KEY)
    (tmp_path / "keys").symlink_to(tmp_path / "elsewhere")
    erase(tmp_path / "keys")
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]
    assert (tmp_path / "elsewhere").read_bytes() == KEY


def test_clearing_a_folder_overwrites_key_files(tmp_path: Path) -> None:
    written(tmp_path / "folder" / "keys", tmp_path / "blocks")
    clear(tmp_path / "folder", erased=("keys", "installation.key"))
    assert not any((tmp_path / "folder").iterdir())
    assert (tmp_path / "blocks").read_bytes() == bytes(len(KEY))


def test_failure_in_a_folder_with_keys_overwrites_the_keys(tmp_path: Path) -> None:
    written(tmp_path / "folder" / "keys", tmp_path / "blocks")
    with pytest.raises(FileNotFoundError), emptied_on_failure(tmp_path / "folder", erased=("keys",)):
        (tmp_path / "nowhere").read_bytes()
    assert not (tmp_path / "folder").exists()
    assert (tmp_path / "blocks").read_bytes() == bytes(len(KEY))
