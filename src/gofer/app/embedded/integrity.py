"""The check that a folder still has the database and the SQLite log that its installation key was used with.

Gofer would answer old mentions again if it had the key but not the runs. Two small files record what must be there:
`used` names the database that the key was used with, and `unclean` exists while a Gofer serves the folder. SQLite
removes its log when the last process closes the database in good order, so a missing log is a loss only after an
unclean stop.
"""

import contextlib
import hashlib
import secrets
import sqlite3
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from gofer.app.embedded.state_files import refused, serving_elsewhere, write_secret
from gofer.stores.sqlite.database import VERSION
from gofer.stores.sqlite.key_file import is_key_file
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret

DATABASE = "gofer.db"
LOG = "gofer.db-wal"
KEY = "installation.key"
BLOBS = "blobs"
KEYS = "keys"
"""The keys of runs."""
USED = "used"
"""The identity of the database that the key was used with, as `PRAGMA application_id`."""
WORLD = "world"
"""A file that exists while the folder holds the state of a simulated world."""
UNCLEAN = "unclean"
"""A file that exists while a Gofer serves the folder. A Gofer that stops in good order removes it."""
RESTORING = "restoring"
"""The folder in which `gofer restore` prepares the state. It exists until every file is in its place."""

_RISK = "without its runs Gofer would answer old mentions again"
_REMEDY = "Move the folder away and restore a backup with `gofer restore`, or delete the whole folder to start again."


def check_intact(data: Path, *, alone: bool) -> None:
    """Raise ConfigError if a file of a folder that was used before is missing or unreadable.

    `alone` says that this process holds the right to serve the folder, so no other process serves it.
    """
    try:
        holder = None
        if not alone:
            holder = serving_elsewhere(data)
        if holder is not None:
            _check_live(data, holder)
        _check(data)
    except OSError as error:
        raise refused(Path(error.filename or data), error) from error


def check_no_restore(data: Path) -> None:
    """Raise ConfigError for a folder into which a restore did not finish."""
    if (data / RESTORING).exists():
        raise ConfigError(f"A restore into {data} did not finish; run `gofer restore` with the backup again.")


def _check(data: Path) -> None:
    check_no_restore(data)
    used = _used(data)
    if used is not None:
        _check_there(data / DATABASE)
    else:
        _check_not_lost(data)
    _check_log(data)
    _check_ruined(data)
    if used is not None:
        _check_same(data, used)
        check_keys(data)


def _check_live(data: Path, holder: str) -> None:
    """Raise ConfigError if a file that the running Gofer uses is missing."""
    if not (data / UNCLEAN).exists():
        return
    for path in (data / DATABASE, data / LOG):
        if not path.exists():
            problem = f"{path} is missing, and the Gofer that serves {data} uses it ({holder})"
            raise ConfigError(f"{problem}. Stop that Gofer, which may still save the contents, then start it again.")


def _check_not_lost(data: Path) -> None:
    """Raise ConfigError if a folder without a database has keys or bodies, which only runs leave behind."""
    if not _size(data / DATABASE) and (_size(data / KEYS) or _has_bodies(data)):
        raise ConfigError(f"{data / DATABASE} is missing, and {_RISK}. {_REMEDY}")


def _has_bodies(data: Path) -> bool:
    try:
        return any((data / BLOBS).iterdir())
    except FileNotFoundError:
        return False


def check_key(data: Path, key: InstallationKey) -> None:
    """Raise ConfigError for runs of another key that is not listed any more."""
    listed = [(_hash(one),) for one in key.every]
    before = _read(data / DATABASE, "SELECT key_sha256 FROM installation")
    if before and before[0] not in listed and has_heads(data / DATABASE):
        raise ConfigError(
            f"{data / KEY} does not hold the key that was used here before, and with another key Gofer would answer "
            "old mentions again. Put that key back, or write it behind the new one with a comma between."
        )


def mark_used(data: Path, key: InstallationKey) -> None:
    """Record which database the installation key is used with, and in the database the hash of the key.

    Raises TemporaryError, ConfigError.
    """
    if not _size(data / DATABASE):
        return
    try:
        with contextlib.closing(sqlite3.connect(data / DATABASE, timeout=5, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            identity = _identify(connection)
            _keep_hash(connection, _hash(key.current))
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise TemporaryError(f"{data / DATABASE} cannot be opened ({error}); check the folder and the disk.") from error
    if _used(data) != str(identity):
        _write(data / USED, str(identity))


@contextlib.contextmanager
def unclean_until_closed(data: Path) -> Generator[None]:
    """Mark a folder as being served. Enter the block after opening the database, and leave it before closing it."""
    _write(data / UNCLEAN, "")
    try:
        yield
    finally:
        # The mark goes before the database is closed. A process killed in between leaves the log without the mark,
        # which is harmless. The opposite would look like a lost log.
        (data / UNCLEAN).unlink(missing_ok=True)


def forget_unclean_stop(data: Path) -> None:
    """Remove the mark of a killed Gofer if SQLite has moved the log of that Gofer into the database.

    Call it with the right to serve the folder.
    """
    if not (data / LOG).exists():
        (data / UNCLEAN).unlink(missing_ok=True)


def _check_there(path: Path) -> None:
    if not path.exists():
        raise ConfigError(f"{path} is missing, and {_RISK}. {_REMEDY}")
    if not _size(path):
        raise ConfigError(f"{path} is empty, and {_RISK}. {_REMEDY}")


def _check_log(data: Path) -> None:
    if (data / UNCLEAN).exists() and (data / DATABASE).exists() and not (data / LOG).exists():
        problem = f"{data / LOG} is missing. The last Gofer was killed, and its last writes were in this file."
        alternative = f"To accept the loss of these writes, delete {data / UNCLEAN} and start again."
        raise ConfigError(f"{problem} Put the file back, or restore a backup with `gofer restore`. {alternative}")


def _check_same(data: Path, used: str) -> None:
    found = _identity(data / DATABASE)
    if found is not None and found != used:
        raise ConfigError(f"{data / DATABASE} is not the one that {data / KEY} was used with, and {_RISK}. {_REMEDY}")


def check_keys(data: Path) -> None:
    """Raise ConfigError if there are runs but no file of keys, or a file without keys. Raises OSError."""
    _check_ruined(data)
    path = data / KEYS
    # A Gofer that was killed before its first run leaves an empty file.
    if not _size(path) and _needs_keys(data / DATABASE):
        problem = "is missing"
        if path.exists():
            problem = "is empty"
        raise ConfigError(f"{path} {problem}, and without it no run in {data} can be read. {_REMEDY}")


def _check_ruined(data: Path) -> None:
    path = data / KEYS
    if _size(path) and not is_key_file(path):
        raise ConfigError(f"{path} is not a file of keys, and without it no run in {data} can be read. {_REMEDY}")


def _needs_keys(path: Path) -> bool:
    """Return whether a database has frames, which can only be read with the separate file of keys."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            found = connection.execute("SELECT 1 FROM frames WHERE length(frame) > 0 LIMIT 1").fetchone()
    except sqlite3.Error:
        # The next function that opens the database reports the error.
        return False
    return version == VERSION and found is not None


def _used(data: Path) -> str | None:
    try:
        return (data / USED).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""


def _identity(path: Path) -> str | None:
    """Return the identity of a database: "0" if it has none, None if the database cannot be read."""
    for (identity,) in _read(path, "PRAGMA application_id"):
        return str(identity)
    return None


def _read(path: Path, statement: str) -> Sequence[tuple[Any, ...]]:
    """Return the rows of a statement; none if the database cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(statement).fetchall()
    except sqlite3.Error:
        # The next function that opens the database reports the error.
        return ()


def _identify(connection: sqlite3.Connection) -> int:
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    if not identity:
        identity = 1 + secrets.randbelow(2**31 - 1)
        connection.execute(f"PRAGMA application_id={identity}")
    return int(identity)


def _keep_hash(connection: sqlite3.Connection, current: str) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS installation (key_sha256 TEXT NOT NULL)")
    if connection.execute("SELECT key_sha256 FROM installation").fetchone() != (current,):
        connection.execute("DELETE FROM installation")
        connection.execute("INSERT INTO installation VALUES (?)", (current,))


def _hash(key: Secret) -> str:
    return hashlib.sha256(key.reveal().encode()).hexdigest()


def has_heads(database: Path) -> bool:
    """Return whether a database has runs, or cannot be read."""
    if not database.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM heads LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        # The next function that opens the database reports the error. Until then no new key may be created.
        return True


def _write(path: Path, text: str) -> None:
    try:
        write_secret(path, text)
    except OSError as error:
        raise refused(path, error) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
