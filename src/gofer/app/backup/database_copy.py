"""The copy of a database while another process writes to it.

Rows are read in one transaction, so the copy is what was there at one moment. Queue messages and leases are left out,
and the file is written anew, without free pages.
"""

import contextlib
import sqlite3
from collections.abc import Generator
from pathlib import Path

from gofer.values.errors import Corrupt, GoferError, TemporaryError

LEFT_OUT = ("leases", "queue_messages", "dead_letters")
"""Tables with rows that mean nothing after a restore."""
_VERSIONS = ("user_version", "application_id")


def copy_database(source: Path, target: Path) -> None:
    """Write a copy of a database into a new file. Raises Damaged for an unreadable page, TemporaryError."""
    try:
        with _attached(source, target) as connection:
            connection.execute("BEGIN")
            _copy_tables(connection)
            _copy_the_rest(connection)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise _told(source, error) from error


def runs_of(database: Path) -> frozenset[str]:
    """Return the ids of all runs that a copy has frames of."""
    with contextlib.closing(_connect(database)) as connection:
        return frozenset(run for (run,) in connection.execute("SELECT DISTINCT run FROM frames"))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=5)


@contextlib.contextmanager
def _attached(source: Path, target: Path) -> Generator[sqlite3.Connection]:
    # The copy is made durable as a file when it is whole, so SQLite need not.
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


def _told(source: Path, error: sqlite3.Error) -> GoferError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        kept = "Keep the backups that you have, and restore the newest of them with `gofer restore`"
        return Corrupt(f"{source} cannot be copied, because a page of it is not what was written ({error}). {kept}.")
    if code == sqlite3.SQLITE_FULL:
        return TemporaryError(f"{source} does not fit on the disk of the backup; free some space there and try again.")
    return TemporaryError(f"{source} cannot be copied now ({error}); check both disks and try again.")
