"""The embedded state in one GOFER_DATA folder, and the exclusive right to serve the folder."""

import contextlib
import fcntl
import logging
import os
import secrets
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from pathlib import Path

from gofer.app.embedded.integrity import (
    BLOBS,
    DATABASE,
    KEY,
    KEYS,
    LOG,
    UNCLEAN,
    check_intact,
    check_key,
    forget_unclean_stop,
    has_heads,
    mark_used,
    unclean_until_closed,
)
from gofer.app.embedded.state_files import LOCK, read_holder, refusal, refused, sign, write_secret
from gofer.app.operations import Operations, Place
from gofer.app.private_files import tighten_folder
from gofer.stores.one_place import Stores
from gofer.stores.sqlite import journal as journal
from gofer.stores.sqlite import queue as queue
from gofer.stores.sqlite import schedule_marks as marks
from gofer.stores.sqlite.blobs import DirectoryBlobs
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.journal import SqliteStore
from gofer.stores.sqlite.key_file import KeyFile
from gofer.stores.sqlite.queue import SqliteQueue
from gofer.stores.sqlite.schedule_marks import SqliteMarks
from gofer.values.errors import ConfigError, MachineError
from gofer.values.installation_key import InstallationKey, read_installation_key
from gofer.values.outside import Clock, SystemClock

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class State:
    """The embedded state of one GOFER_DATA folder."""

    store: SqliteStore
    blobs: DirectoryBlobs
    queue: SqliteQueue
    marks: SqliteMarks
    database: Database
    """The SQLite file that holds the journals, the queue and the schedule marks."""

    @property
    def stores(self) -> Stores:
        """Return journal, bodies and queue as one value."""
        return Stores(self.store, self.blobs, self.queue)


@contextlib.contextmanager
def open_state(data: Path, clock: Clock, *, alone: bool = True) -> Generator[State]:
    """Open the state of a folder for the block, and create the folder if needed. Raises ConfigError, TemporaryError.

    `alone` says that no other process serves the folder.
    """
    make_folder(data)
    check_intact(data, alone=alone)
    keys = KeyFile(data / KEYS)
    schema = journal.SCHEMA + queue.SCHEMA + marks.SCHEMA
    database = Database(data / DATABASE, schema)
    try:
        store = SqliteStore(database, keys)
        blobs = DirectoryBlobs(data / BLOBS)
        yield State(store, blobs, SqliteQueue(database, clock), SqliteMarks(database), database)
    finally:
        database.close()
        keys.close()
        _forget_unclean_stop(data)


@contextlib.asynccontextmanager
async def served_state(data: Path, clock: Clock) -> AsyncGenerator[State]:
    """Hold the right to serve a folder and open its state. Raises ConfigError, TemporaryError, Corrupt."""
    with serving(data), open_state(data, clock) as state, unclean_until_closed(data):
        await forgive_clock(state, clock)
        yield state


async def forgive_clock(state: State, clock: Clock) -> None:
    """Make runs and queue messages due that were scheduled by a clock ahead of the present one.

    Call it only with the right to serve the folder, which proves that every earlier owner is dead. Raises
    TemporaryError, Corrupt.
    """
    heads = await state.store.bring_back(int(clock.now() * 1000))
    messages = await state.queue.bring_forward()
    if heads or messages:
        _log.warning("the clock was set back; made due: runs %d, queue messages %d", heads, messages)


@contextlib.contextmanager
def read_state(data: Path, clock: Clock) -> Generator[State]:
    """Open the state of a folder for the block. Raises ConfigError if the folder has no state."""
    check_intact(data, alone=False)
    if not (data / DATABASE).exists():
        raise ConfigError(f"There are no runs in {data} yet; start `gofer demo`, or set GOFER_DATA to their folder.")
    with open_state(data, clock, alone=False) as state:
        yield state


@contextlib.contextmanager
def serving(data: Path) -> Generator[None]:
    """Hold the right to serve a folder. Raises ConfigError if another process holds it or the lock file fails."""
    make_folder(data)
    with _opened(data, os.O_RDONLY) as folder, _opened(data / LOCK, os.O_RDWR | os.O_CREAT) as file:
        # The folder is locked too, because the file may be deleted under a running Gofer.
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sign(file)
        except BlockingIOError as error:
            raise ConfigError(refusal(data, read_holder(file))) from error
        except OSError as error:
            raise refused(data / LOCK, error) from error
        yield


def installation_key(data: Path) -> InstallationKey:
    """Return the installation key, from which run ids are derived. The first use creates its file.

    This call also binds the folder to its present database. Raises ConfigError, TemporaryError.
    """
    path = data / KEY
    try:
        key = read_key(data)
        if key is None:
            write_secret(path, secrets.token_hex(32))
            key = read_installation_key(path.read_bytes().decode("ascii", "replace"))
    except OSError as error:
        raise refused(path, error) from error
    mark_used(data, key)
    return key


def read_key(data: Path) -> InstallationKey | None:
    """Return the installation key of a folder, or None for a folder that may get a new one.

    Raises ConfigError for a damaged key, and beside runs for a missing or another one. Raises OSError.
    """
    path = data / KEY
    # The key recognises mentions that were answered before. With a new key Gofer would answer them again.
    if not path.exists():
        if has_heads(data / DATABASE):
            problem = "is missing, and with a new key Gofer would answer old mentions again"
            raise ConfigError(f"{path} {problem}; restore it from a backup, or delete the whole folder to start again.")
        return None
    try:
        key = read_installation_key(path.read_bytes().decode("ascii", "replace"))
    except ValueError as error:
        raise ConfigError(
            f"{path} is damaged; restore it from a backup, or delete the whole folder to start again."
        ) from error
    check_key(data, key)
    return key


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Generator[int]:
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        raise refused(path, error) from error
    try:
        yield handle
    finally:
        os.close(handle)


def _forget_unclean_stop(data: Path) -> None:
    """Remove the mark of a killed Gofer if closing the database in this process removed the log."""
    if not (data / UNCLEAN).exists() or (data / LOG).exists():
        return
    with contextlib.suppress(ConfigError), serving(data):
        forget_unclean_stop(data)


def make_folder(data: Path) -> None:
    """Create the folder of a state, accessible to its owner only. Raises ConfigError; MachineError without rights."""
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        tighten_folder(data)
    except OSError as error:
        sentence = f"GOFER_DATA cannot be the folder {data} ({error.strerror}); set it to another folder."
        if isinstance(error, FileExistsError | NotADirectoryError):
            raise ConfigError(sentence) from error
        raise MachineError(sentence) from error


def is_served(data: Path) -> bool:
    """Return whether a process serves the folder now."""
    try:
        with serving(data):
            return False
    except ConfigError:
        return True


@contextlib.contextmanager
def open_operations(place: Place) -> Generator[Operations]:
    """Open the state in the folder of GOFER_DATA. Raises ConfigError if the folder has no state, TemporaryError."""
    clock = SystemClock()
    with read_state(place.data, clock) as state:
        yield Operations(state.stores, clock)
