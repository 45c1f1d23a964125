"""Durable copies of files and of the database, hashed while they are written.

The database is copied while another process may write to it. All rows are read in one transaction, so the copy shows
one moment. Queue messages and leases are left out. The copy is a new file without free pages.
"""

import contextlib
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Generator, Sequence
from pathlib import Path

from gofer.app.backup.backup_manifest import CopiedFile
from gofer.stores.sqlite.durable_files import erase, sync_folder
from gofer.values.errors import Corrupt, GoferError, TemporaryError

_CHUNK = 1 << 20


def copy_file(source: Path, target: Path) -> CopiedFile:
    """Copy a file for its owner only, and return the size and the hash of the copy. Raises OSError."""
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
    """Make a file durable, and return its size and hash. Raises OSError."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256")
        return CopiedFile(size=file.tell(), sha256=digest.hexdigest())


def bodies(blobs: Path, folders: frozenset[str]) -> Sequence[Path]:
    """Return the files of bodies in these folders, without files that are still being written."""
    found = [path for name in sorted(folders) for path in _listed(blobs / name)]
    return [path for path in found if not path.name.startswith(".")]


def sync_folders(top: Path) -> None:
    """Make the directory entries of a folder and of all its subfolders durable. Raises OSError."""
    for folder, _, _ in os.walk(top, topdown=False):
        sync_folder(Path(folder))


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, accessible to the owner only. Raises OSError."""
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def clear(folder: Path, *, keep: Sequence[str] = (), erased: Sequence[str] = ()) -> None:
    """Remove the contents of a folder except `keep`, and overwrite the files in `erased` first. Raises OSError."""
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
    """Remove a folder with its contents if the block fails, and overwrite the files in `erased` first."""
    try:
        yield
    except BaseException:
        for name in erased:
            # An error of the disk at one file must not keep the others.
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


LEFT_OUT = ("leases", "queue_messages", "dead_letters")
"""Tables with rows that have no meaning after a restore."""
_VERSIONS = ("user_version", "application_id")


def copy_database(source: Path, target: Path) -> None:
    """Write a copy of a database into a new file. Raises Corrupt for an unreadable page, TemporaryError."""
    try:
        with _attached(source, target) as connection:
            connection.execute("BEGIN")
            _copy_tables(connection)
            _copy_the_rest(connection)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise _error_of(source, error) from error


def runs_of(database: Path) -> frozenset[str]:
    """Return the ids of all runs with frames in a database copy."""
    with contextlib.closing(_connect(database)) as connection:
        return frozenset(run for (run,) in connection.execute("SELECT DISTINCT run FROM frames"))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=5)


@contextlib.contextmanager
def _attached(source: Path, target: Path) -> Generator[sqlite3.Connection]:
    # The finished copy is synced as a file, so SQLite need not sync.
    target.touch(0o600)
    with contextlib.closing(_connect(target)) as connection:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;")
        connection.execute("ATTACH ? AS live", (f"{source.absolute().as_uri()}?mode=ro",))
        yield connection


def _copy_tables(connection: sqlite3.Connection) -> None:
    tables = "SELECT name, sql FROM live.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for name, sql in connection.execute(tables).fetchall():
        connection.execute(sql)
        if name not in LEFT_OUT:
            connection.execute(f'INSERT INTO main."{name}" SELECT * FROM live."{name}"')


def _copy_the_rest(connection: sqlite3.Connection) -> None:
    for (sql,) in connection.execute("SELECT sql FROM live.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"):
        connection.execute(sql)
    for name in _VERSIONS:
        (value,) = connection.execute(f"PRAGMA live.{name}").fetchone()
        connection.execute(f"PRAGMA main.{name} = {int(value)}")


def _error_of(source: Path, error: sqlite3.Error) -> GoferError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        remedy = "Keep the backups that you have, and restore the newest one with `gofer restore`."
        return Corrupt(f"{source} cannot be copied, because a page of it is damaged ({error}). {remedy}")
    if code == sqlite3.SQLITE_FULL:
        return TemporaryError(f"{source} does not fit on the disk of the backup; free some space there and try again.")
    return TemporaryError(f"{source} cannot be copied now ({error}); check both disks and try again.")
