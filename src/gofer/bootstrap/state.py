"""Where does the embedded state live, and who may serve it?"""

import contextlib
import fcntl
import os
import re
import secrets
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gofer.blobs.directory import DirectoryBlobs
from gofer.bootstrap.private_files import make_private
from gofer.database import Database
from gofer.errors import ConfigError
from gofer.journal import sqlite as journal
from gofer.journal.key_file import KeyFile
from gofer.journal.sqlite import SqliteStore
from gofer.journal.sqlite_upgrade import move_keys
from gofer.outside import Clock
from gofer.queue import sqlite as queue
from gofer.queue.sqlite import SqliteQueue
from gofer.scheduler import marks
from gofer.scheduler.marks import SqliteMarks
from gofer.secret import Secret


@dataclass(frozen=True, slots=True)
class State:
    """The embedded state of one GOFER_DATA folder."""

    store: SqliteStore
    blobs: DirectoryBlobs
    queue: SqliteQueue
    marks: SqliteMarks


@contextlib.contextmanager
def open_state(data: Path, clock: Clock, *, upgrade: bool = True) -> Generator[State]:
    """The state of a folder, made if it is not there; closed afterwards. Raises TemporaryError.

    With `upgrade` a state of the version before is taken over: no other process may use the folder then.
    """
    _make_folder(data)
    keys = KeyFile(data / "keys")
    schema = journal.SCHEMA + queue.SCHEMA + marks.SCHEMA
    database = Database(data / "gofer.db", schema, partial(move_keys, keys) if upgrade else None)
    try:
        store = SqliteStore(database, keys)
        blobs = DirectoryBlobs(data / "blobs")
        yield State(store, blobs, SqliteQueue(database, clock), SqliteMarks(database))
    finally:
        database.close()
        keys.close()


@contextlib.contextmanager
def read_state(data: Path, clock: Clock) -> Generator[State]:
    """The state of a folder that somebody has used already. Raises ConfigError when there is none."""
    if not (data / "gofer.db").exists():
        raise ConfigError(f"There are no runs in {data} yet; start `gofer demo`, or set GOFER_DATA to where they are.")
    with open_state(data, clock, upgrade=False) as state:
        yield state


@contextlib.contextmanager
def serving(data: Path) -> Generator[None]:
    """Holds the right to serve a folder. Raises ConfigError when another process has it."""
    _make_folder(data)
    handle = os.open(data / "serving.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ConfigError(f"Another Gofer serves {data}; stop it, or set GOFER_DATA to another folder.") from error
    finally:
        os.close(handle)


def installation_key(data: Path) -> Secret:
    """The key that run ids are made with; created on first use and kept beside the state. Raises ConfigError."""
    path = data / "installation.key"
    if not path.exists():
        if _has_heads(data / "gofer.db"):
            told = "is missing, and with another one old mentions would be answered again"
            raise ConfigError(f"{path} {told}; restore it from a backup, or delete the whole folder to start anew.")
        write_secret(path, secrets.token_hex(32))
    text = path.read_bytes().decode("ascii", "replace").strip()
    if not re.fullmatch("[0-9a-f]{64}", text):
        # With another key a mention that was answered before would be answered again.
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete the whole folder to start anew.")
    return Secret(text)


def write_secret(path: Path, text: str) -> None:
    """Writes a file that only its owner can read: whole, and as durable as the state. Raises OSError."""
    aside = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
    # A rename is durable only once its folder is.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _has_heads(database: Path) -> bool:
    if not database.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM heads LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        # Who opens it next says what is wrong with it; until then nothing may be made anew.
        return True


def _make_folder(data: Path) -> None:
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private(data)
    except OSError as error:
        raise ConfigError(f"GOFER_DATA cannot be the folder {data} ({error.strerror}); name another.") from error
