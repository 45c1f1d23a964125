"""A database in one SQLite file with one writer thread for many tasks.

The writer thread owns the only connection. Work that arrives while it is busy waits in a list. The thread then runs the
whole list in one transaction and commits once (group commit), so that a hundred runs share one fsync. A caller gets its
result only after the commit, so the result is on the disk (WAL, synchronous FULL). SQLite overwrites deleted data in
the file (secure_delete); the write-ahead log keeps a copy until `empty_log`.
"""

import asyncio
import contextlib
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from gofer.values.errors import NO_MEMORY, Corrupt, GoferError, OtherVersion, TemporaryError

T = TypeVar("T")

VERSION = 8
"""The format of the tables; files of another format are refused."""

PAGE_BYTES = 1024
"""The page size of a new file. Each table and index takes a page at least, and most commits change a few short rows, so
small pages keep a small file small and the log short. An existing file keeps its size."""

_ADDED = (
    ("heads", "facts", "TEXT NOT NULL DEFAULT ''"),
    ("heads", "by_person", "INTEGER NOT NULL DEFAULT 0"),
    ("queue_messages", "people", "INTEGER NOT NULL DEFAULT 1"),
    ("queue_messages", "workflow", "TEXT NOT NULL DEFAULT ''"),
)
"""Table, name and type of columns that files of this format may lack, because an earlier version wrote them."""

_SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors that SQLite raises. If bytes of the file changed, a table name in an error may be no valid text."""
_UNREADABLE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The codes that mean: the file is damaged, or this version of Gofer did not write it. Waiting does not help."""

_ADVICE = {
    sqlite3.SQLITE_READONLY: "mount its file system for writing, or start Gofer as the user that owns the file",
    sqlite3.SQLITE_PERM: "start Gofer as the user that owns the file",
    sqlite3.SQLITE_CANTOPEN: "check the folder: it has to be there, on a file system mounted for writing, and belong "
    "to the user that starts Gofer",
    sqlite3.SQLITE_FULL: "free some space on the disk; Gofer then goes on by itself",
    sqlite3.SQLITE_IOERR: "the disk failed to read or to write; check it and the log of the system",
    sqlite3.SQLITE_BUSY: "another process writes to it; try again",
    sqlite3.SQLITE_LOCKED: "another process writes to it; try again",
}
"""What the operator can do, by the code of the refusal."""
_LEAST_FREE_BYTES = 65_536
"""The free bytes that SQLite needs to open a database: shared memory and a page of the log."""


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], object] | None
    """The work to run in the transaction, or None to empty the log, which must happen outside a transaction."""
    savepoint: bool
    """Whether an error can leave something to undo; SQLite itself undoes a statement that fails."""
    future: "asyncio.Future[object]"
    loop: asyncio.AbstractEventLoop
    result: object = None
    error: Exception | None = None

    def settle(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Database:
    """One SQLite file and its writer thread. `close` finishes accepted work first."""

    def __init__(self, path: Path, schema: str) -> None:
        """Open the file, or create it."""
        self._path = path
        self._schema = schema
        self._syncs: list[Callable[[], None]] = []
        self._waiting: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._closing = False
        self._opened = threading.Event()
        self._open_error: GoferError | None = None
        self._thread = threading.Thread(target=self._serve, name="gofer-database", daemon=True)
        self._thread.start()
        self._opened.wait()
        if self._open_error is not None:
            raise self._open_error

    def sync_first(self, sync: Callable[[], None]) -> None:
        """Call `sync` on the writer thread before each commit; if it raises TemporaryError, nothing is committed."""
        self._syncs.append(sync)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, savepoint: bool = True) -> T:
        """Run `work` on the writer thread in a transaction, and return its result after the commit.

        Raises TemporaryError when the database refused (disk full, locked, read-only), and Corrupt when the file is
        damaged. In both cases nothing was written, and neither if `work` raises. A savepoint takes as long as a short
        statement. Work needs none if at most one of its statements writes and nothing after that raises.
        """
        return cast(T, await self._queued(work, savepoint=savepoint))

    async def empty_log(self) -> None:
        """Move the write-ahead log into the file and empty the log, so that it holds no copy of deleted data.

        Raises TemporaryError while another process reads the log.
        """
        await self._queued(None, savepoint=False)

    def _queued(
        self, work: Callable[[sqlite3.Connection], object] | None, *, savepoint: bool
    ) -> "asyncio.Future[object]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[object] = loop.create_future()
        with self._wake:
            if self._closing:
                raise TemporaryError(f"{self._path} is closed; start Gofer again.")
            self._waiting.append(_Job(work, savepoint, future, loop))
            self._wake.notify()
        return future

    def close(self) -> None:
        """Finish the accepted work and close the file."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _serve(self) -> None:
        try:
            connection = _connect(self._path, self._schema)
        except (*_SQLITE_ERRORS, OSError, Corrupt, TemporaryError) as error:
            self._open_error = self._open_error_of(error)
            self._opened.set()
            return
        self._opened.set()
        while batch := self._next_batch():
            self._commit(connection, batch)
            _empty_log(connection, [job for job in batch if job.work is None])
            _return_results(batch)
        connection.close()

    def _commit(self, connection: sqlite3.Connection, batch: list[_Job]) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._attempt(connection, job)
            for sync in self._syncs:
                sync()
            connection.execute("COMMIT")
        except (*_SQLITE_ERRORS, TemporaryError, MemoryError) as error:
            # The database may refuse the rollback too. The next BEGIN then fails in the same way.
            with contextlib.suppress(*_SQLITE_ERRORS, MemoryError):
                connection.rollback()
            for job in batch:
                job.error = self._refusal(error)

    def _attempt(self, connection: sqlite3.Connection, job: _Job) -> None:
        """Run one job of the batch. An error of the job itself undoes that job alone and goes to its caller."""
        if job.work is None:
            return
        if job.savepoint:
            connection.execute("SAVEPOINT job")
        try:
            job.result = job.work(connection)
        except Exception as error:
            if isinstance(error, sqlite3.OperationalError) and not _unreadable(error):
                raise  # the disk is full, locked or read-only, which fails the whole batch
            job.error = error
            if _unreadable(error):
                job.error = self._damaged(error)
            if isinstance(error, MemoryError):
                job.error = self._refusal(error)
            if job.savepoint:
                connection.execute("ROLLBACK TO job")
        if job.savepoint:
            connection.execute("RELEASE job")

    def _open_error_of(self, error: Exception) -> GoferError:
        if isinstance(error, Corrupt | TemporaryError):
            return error
        if _unreadable(error):
            return self._damaged(error)
        advice = _advice(self._path, error, "check the folder and the disk")
        return TemporaryError(f"{self._path} cannot be opened ({error}); {advice}.")

    def _refusal(self, error: Exception) -> GoferError:
        if isinstance(error, TemporaryError):
            return error
        if isinstance(error, MemoryError):
            return TemporaryError(f"{self._path} was not used: {NO_MEMORY}.")
        if _unreadable(error):
            return self._damaged(error)
        advice = _advice(self._path, error, "check the disk")
        return TemporaryError(f"{self._path} was refused ({error}) and nothing was written; {advice}.")

    def _damaged(self, error: Exception) -> Corrupt:
        # An error without a code is about a value that is no valid text, and its message would show that value.
        detail = "a value is not what was written"
        if hasattr(error, "sqlite_errorcode"):
            detail = str(error)
        advice = "restore the file from a backup: move the folder away, then run `gofer restore`"
        return Corrupt(f"{self._path} cannot be read ({detail}); stop Gofer and {advice}.")

    def _next_batch(self) -> list[_Job]:
        with self._wake:
            while not self._waiting and not self._closing:
                self._wake.wait()
            batch = list(self._waiting)
            self._waiting.clear()
            return batch


async def fetch(database: Database, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of one statement after the commit. Raises as `Database.run` does."""
    # A returned text that is not valid raises after the statement wrote.
    returning = "RETURNING" in statement
    return await database.run(lambda connection: connection.execute(statement, values).fetchall(), savepoint=returning)


def _connect(path: Path, schema: str) -> sqlite3.Connection:
    create_private(path)
    # isolation_level=None: this module begins and ends transactions itself.
    connection = sqlite3.connect(path, isolation_level=None)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if tables and version != VERSION:
        connection.close()
        raise OtherVersion(_other_version(path, version))
    connection.executescript(
        f"PRAGMA page_size={PAGE_BYTES}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "PRAGMA busy_timeout=5000; PRAGMA secure_delete=ON;"
        # Temporary tables and sorters stay in memory, so no content reaches a temporary file.
        "PRAGMA temp_store=MEMORY;"
    )
    # One transaction for tables and version: another process that opens the file sees both or none.
    if tables:
        _add_columns(connection)
        connection.executescript(schema)
    else:
        connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={VERSION}; COMMIT;")
    return connection


def _add_columns(connection: sqlite3.Connection) -> None:
    """Add the columns that an earlier version did not write; versions that do not know a column leave it empty."""
    for table, column, kind in _ADDED:
        if _lacks(connection, table, column):
            # Another process may add the column at the same time, so look again under the write lock.
            connection.execute("BEGIN IMMEDIATE")
            if _lacks(connection, table, column):
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
            connection.execute("COMMIT")


def _lacks(connection: sqlite3.Connection, table: str, column: str) -> bool:
    names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    return bool(names) and column not in names


def _other_version(path: Path, version: int) -> str:
    """Return the error text for a file in another format."""
    formats = f"format {version}, and this version reads format {VERSION}"
    if version > VERSION:
        return f"{path} was written by a newer version of Gofer ({formats}); update Gofer."
    advice = f"finish its runs with that version, or move {path.parent} away to begin anew"
    return f"{path} was written by an earlier version of Gofer ({formats}); {advice}."


def create_private(path: Path) -> None:
    """Create a database file if it is missing, and let only its owner use it and the files beside it.

    SQLite gives new files the mode of the database. An existing database is never opened here, because closing it would
    drop every lock that this process holds on the file.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(name).chmod(0o600)


def _advice(path: Path, error: Exception, otherwise: str) -> str:
    """Return what the operator can do about a refusal, by the file system's state or else by SQLite's code."""
    with contextlib.suppress(OSError):
        system = os.statvfs(path.parent)
        if system.f_flag & os.ST_RDONLY:
            return "its file system is read-only: mount it for writing, or set GOFER_DATA to another folder"
        if system.f_bavail * system.f_frsize < _LEAST_FREE_BYTES:
            return "the disk is full: free some space"
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return _ADVICE.get(code & 0xFF, otherwise)


def _unreadable(error: Exception) -> bool:
    if isinstance(error, UnicodeDecodeError):
        return True
    # Mistakes of a job have other classes. An error of the sqlite3 module itself about a value has no code.
    if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
        return False
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in _UNREADABLE


def _empty_log(connection: sqlite3.Connection, jobs: list[_Job]) -> None:
    if not jobs:
        return
    try:
        # Do not wait for readers of other processes: the caller tries again later.
        connection.execute("PRAGMA busy_timeout=0")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (sqlite3.Error, MemoryError):
        busy = 1
    with contextlib.suppress(MemoryError):
        connection.execute("PRAGMA busy_timeout=5000")
    for job in jobs:
        if busy:
            job.error = TemporaryError(
                "The log of the database could not be emptied, because another process reads it. Try again."
            )


def _return_results(batch: list[_Job]) -> None:
    """Settle the jobs of a batch, with one wake-up per event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, jobs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_all, jobs)


def _settle_all(jobs: list[_Job]) -> None:
    for job in jobs:
        job.settle()
