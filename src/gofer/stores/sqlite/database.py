"""A database in one SQLite file, which many tasks write to.

One thread owns the one connection. Work that arrives while it is busy waits in a list; the thread takes the
whole list, runs it in one transaction and commits once (group commit), so that a hundred runs share an fsync.
Results are handed back only after the commit: what a caller was told is on the disk (WAL, synchronous FULL). What was
deleted is overwritten in the file (secure_delete); the log keeps a copy until it is emptied.
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
from typing import TypeVar, cast

from gofer.values.errors import Corrupt, GoferError, OtherVersion, TemporaryError

T = TypeVar("T")

VERSION = 8
"""The format of the tables; a file with another one is refused."""

_TROUBLE = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; of a file with changed bytes it may name a table by bytes that are no text."""
_UNREADABLE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The file is not what was written, or not what this Gofer writes; waiting does not help."""

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
"""What the operator can do about each class of refusal."""
_ROOM = 65_536
"""Bytes without which SQLite cannot open a database: its shared memory and a page of the log."""


@dataclass(slots=True)
class _Job:
    work: Callable[[sqlite3.Connection], object] | None
    """None: to empty the log, which no transaction can."""
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
    """One SQLite file and its writer thread. `close` waits for what was accepted."""

    def __init__(self, path: Path, schema: str) -> None:
        """Open the file, and make it if it is not there."""
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
        """Call `sync` on the writer thread before each commit; when it raises TemporaryError, nothing is committed."""
        self._syncs.append(sync)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` on the writer thread, in a transaction; returns after the commit.

        Raises TemporaryError when the database refused (disk full, locked, read-only), and Corrupt when the file is
        not what was written: in both cases nothing was.
        """
        return cast(T, await self._queued(work))

    async def empty_log(self) -> None:
        """Moves the write-ahead log into the file and empties it, so that no copy of what was deleted is left there.

        Raises TemporaryError when another process reads the log just now.
        """
        await self._queued(None)

    def _queued(self, work: Callable[[sqlite3.Connection], object] | None) -> "asyncio.Future[object]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[object] = loop.create_future()
        with self._wake:
            if self._closing:
                raise TemporaryError(f"{self._path} is closed; start Gofer again.")
            self._waiting.append(_Job(work, future, loop))
            self._wake.notify()
        return future

    def close(self) -> None:
        """Finishes the work accepted so far and closes the file."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _serve(self) -> None:
        try:
            connection = _connect(self._path, self._schema)
        except (*_TROUBLE, OSError, Corrupt, TemporaryError) as error:
            self._open_error = self._told(error)
            self._opened.set()
            return
        self._opened.set()
        while batch := self._next_batch():
            self._commit(connection, batch)
            _empty_log(connection, [job for job in batch if job.work is None])
            _hand_back(batch)
        connection.close()

    def _commit(self, connection: sqlite3.Connection, batch: list[_Job]) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._attempt(connection, job)
            for sync in self._syncs:
                sync()
            connection.execute("COMMIT")
        except (*_TROUBLE, TemporaryError) as error:
            # A database that is in trouble may refuse that too; the next batch then finds it as it is.
            with contextlib.suppress(*_TROUBLE):
                connection.rollback()
            for job in batch:
                job.error = self._refusal(error)

    def _attempt(self, connection: sqlite3.Connection, job: _Job) -> None:
        """A job's own mistake or find undoes that job and reaches its caller; the rest of the batch goes on."""
        if job.work is None:
            return
        connection.execute("SAVEPOINT job")
        try:
            job.result = job.work(connection)
        except Exception as error:
            if isinstance(error, sqlite3.OperationalError) and not _unreadable(error):
                raise  # the disk's trouble, not the job's: full, locked, read-only
            job.error = error
            if _unreadable(error):
                job.error = self._damaged(error)
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")

    def _told(self, error: Exception) -> GoferError:
        if isinstance(error, Corrupt | TemporaryError):
            return error
        if _unreadable(error):
            return self._damaged(error)
        advice = _advice(self._path, error, "check the folder and the disk")
        return TemporaryError(f"{self._path} cannot be opened ({error}); {advice}.")

    def _refusal(self, error: Exception) -> GoferError:
        if isinstance(error, TemporaryError):
            return error
        if _unreadable(error):
            return self._damaged(error)
        advice = _advice(self._path, error, "check the disk")
        return TemporaryError(f"{self._path} was refused ({error}) and nothing was written; {advice}.")

    def _damaged(self, error: Exception) -> Corrupt:
        # Without a code it is a value that is no text, and the message would show it.
        said = "a value is not what was written"
        if hasattr(error, "sqlite_errorcode"):
            said = str(error)
        advice = "restore the file from a backup: move the folder away, then run `gofer restore`"
        return Corrupt(f"{self._path} cannot be read ({said}); stop Gofer and {advice}.")

    def _next_batch(self) -> list[_Job]:
        with self._wake:
            while not self._waiting and not self._closing:
                self._wake.wait()
            batch = list(self._waiting)
            self._waiting.clear()
            return batch


def _connect(path: Path, schema: str) -> sqlite3.Connection:
    create_private(path)
    # isolation_level=None: transactions are ours to begin and end.
    connection = sqlite3.connect(path, isolation_level=None)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if tables and version != VERSION:
        connection.close()
        raise OtherVersion(_other_version(path, version))
    connection.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000; PRAGMA secure_delete=ON;"
        # What SQLite sorts or sets apart never reaches a temporary file.
        "PRAGMA temp_store=MEMORY;"
    )
    # Tables and version in one transaction: another process that opens the file sees both or none.
    if tables:
        connection.executescript(schema)
    else:
        connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={VERSION}; COMMIT;")
    return connection


def _other_version(path: Path, version: int) -> str:
    """Return what happened to a file with other tables, and what to do."""
    formats = f"format {version}, and this version reads format {VERSION}"
    if version > VERSION:
        return f"{path} was written by a newer version of Gofer ({formats}); update Gofer."
    advice = f"finish its runs with that version, or move {path.parent} away to begin anew"
    return f"{path} was written by an earlier version of Gofer ({formats}); {advice}."


def create_private(path: Path) -> None:
    """Create a database file if it is missing, and let only its owner use it and the files beside it.

    SQLite gives new files the mode of the database. A database that exists is never opened here: closing it would drop
    every lock that this process holds on it.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(name).chmod(0o600)


def _advice(path: Path, error: Exception, otherwise: str) -> str:
    """Return what the operator can do about a refusal of SQLite, which the file system knows better."""
    with contextlib.suppress(OSError):
        system = os.statvfs(path.parent)
        if system.f_flag & os.ST_RDONLY:
            return "its file system is read-only: mount it for writing, or set GOFER_DATA to another folder"
        if system.f_bavail * system.f_frsize < _ROOM:
            return "the disk is full: free some space"
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return _ADVICE.get(code & 0xFF, otherwise)


def _unreadable(error: Exception) -> bool:
    if isinstance(error, UnicodeDecodeError):
        return True
    # The module's own complaint about a value has no code; of a mistake in a job it has another class.
    if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
        return False
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in _UNREADABLE


def _empty_log(connection: sqlite3.Connection, jobs: list[_Job]) -> None:
    if not jobs:
        return
    # This thread waits for no reader of another process: the caller comes again.
    connection.execute("PRAGMA busy_timeout=0")
    try:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        busy = 1
    connection.execute("PRAGMA busy_timeout=5000")
    for job in jobs:
        if busy:
            job.error = TemporaryError("The log of the database could not be emptied; it is read elsewhere. Try again.")


def _hand_back(batch: list[_Job]) -> None:
    """One wake-up per event loop, however many jobs it has in the batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, jobs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_all, jobs)


def _settle_all(jobs: list[_Job]) -> None:
    for job in jobs:
        job.settle()
