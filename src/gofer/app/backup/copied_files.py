"""Copies of files: written whole, hashed on the way, and durable when the caller goes on."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path

from gofer.app.backup.backup_manifest import CopiedFile
from gofer.stores.sqlite.durable_files import erase, sync_folder

_CHUNK = 1 << 20


def copy_file(source: Path, target: Path) -> CopiedFile:
    """Copy a file for its owner only and return what was written. Raises OSError."""
    digest = hashlib.sha256()
    size = 0
    make_folder(target.parent)
    with source.open("rb") as from_file, _created(target) as handle:
        while chunk := from_file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            _write_all(handle, chunk)
        os.fsync(handle)
    return CopiedFile(size=size, sha256=digest.hexdigest())


def write_file(target: Path, content: bytes) -> None:
    """Write a new file for its owner only. Raises OSError."""
    make_folder(target.parent)
    with _created(target) as handle:
        _write_all(handle, content)
        os.fsync(handle)


def described(path: Path) -> CopiedFile:
    """Return the size and the hash of a file, after making it durable. Raises OSError."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256")
        return CopiedFile(size=file.tell(), sha256=digest.hexdigest())


def bodies(blobs: Path, folders: frozenset[str]) -> Sequence[Path]:
    """Return the bodies in these folders; what is being written just now is left out."""
    found = [path for name in sorted(folders) for path in _listed(blobs / name)]
    return [path for path in found if not path.name.startswith(".")]


def sync_folders(top: Path) -> None:
    """Make the entries of a folder and of all folders below it durable. Raises OSError."""
    for folder, _, _ in os.walk(top, topdown=False):
        sync_folder(Path(folder))


def make_folder(folder: Path) -> None:
    """Create a folder for its owner only, and those above it. Raises OSError."""
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def clear(folder: Path, *, keep: Sequence[str] = (), erased: Sequence[str] = ()) -> None:
    """Remove what is in a folder but not in `keep`; overwrite the files in `erased` first. Raises OSError."""
    for name in erased:
        if name not in keep:
            erase(folder / name)
    for path in folder.iterdir():
        if path.name in keep:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextlib.contextmanager
def emptied_on_failure(folder: Path, *, erased: Sequence[str] = ()) -> Generator[None]:
    """Remove a folder and everything in it when the block fails; overwrite the files in `erased` first."""
    try:
        yield
    except BaseException:
        for name in erased:
            # On a disk that failed, the others are removed all the same.
            with contextlib.suppress(OSError):
                erase(folder / name)
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _listed(folder: Path) -> Sequence[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return ()


@contextlib.contextmanager
def _created(path: Path) -> Generator[int]:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _write_all(handle: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
