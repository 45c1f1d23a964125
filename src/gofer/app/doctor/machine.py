"""This machine: Python, the parts of Gofer, the settings file, the folder of the state and its disk."""

import contextlib
import os
import platform
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.embedded.alarms import LEAST_FREE, free_bytes
from gofer.app.embedded.integrity import DATABASE, KEY, check_intact
from gofer.app.embedded.state import read_key
from gofer.app.new_repository.shipped import gofer_version
from gofer.app.settings import read_dotenv
from gofer.values.errors import ConfigError
from gofer.values.installation_key import RECOGNISED_DAYS
from gofer.values.parts import PARTS, is_installed

_GB = 1 << 30


def machine(root: Path, data: Path, free: Callable[[Path], int] = free_bytes) -> Iterator[Finding]:
    """Yield what there is to say about this machine, for a repository and the folder of its state."""
    yield works(
        "Gofer", f"{gofer_version()} on Python {platform.python_version()}, {sys.platform} {platform.machine()}"
    )
    installed = [part for part in sorted(PARTS) if is_installed(part)]
    yield works("parts", ", ".join(installed) or "the base installation only")
    yield from _dotenv(root / ".env")
    yield from _state(data)
    yield _disk(data, free)


def _dotenv(path: Path) -> Iterator[Finding]:
    try:
        names = read_dotenv(path)
    except ConfigError as error:
        yield wrong(".env", str(error), "")
        return
    if not names and not path.exists():
        yield works(".env", "there is none; settings come from the environment")
        return
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield wrong(".env", "other users of this machine can read its secrets", f"Run: chmod 600 {path.name}")
        return
    yield works(".env", f"{len(names)} settings, readable by you only")


def _state(data: Path) -> Iterator[Finding]:
    """Yield whether the folder of the state is complete, and its database undamaged."""
    if not data.exists():
        yield works("state", f"{data} does not exist yet; `gofer serve` makes it")
        return
    if not os.access(data, os.W_OK | os.X_OK):
        yield wrong("state", f"{data} cannot be written by this user", "Change its owner, or set GOFER_DATA.")
        return
    try:
        check_intact(data, alone=False)
    except ConfigError as error:
        yield wrong("state", str(error), "")
        return
    if (data / DATABASE).exists():
        yield _database(data / DATABASE)
    yield from _keys(data)


def _keys(data: Path) -> Iterator[Finding]:
    """Yield whether `gofer serve` takes the installation key, and when replaced ones may go."""
    path = data / KEY
    try:
        key = read_key(data)
        if key is None or len(key.every) == 1:
            return
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except ConfigError as error:
        yield wrong("keys", str(error), "")
        return
    except OSError as error:
        yield wrong("keys", f"{path} cannot be read ({error.strerror})", "Change its owner, or restore a backup.")
        return
    free = changed + timedelta(days=RECOGNISED_DAYS + 1)
    text = f"{len(key.every)} installation keys since {changed:%Y-%m-%d}; all but the first may go on {free:%Y-%m-%d}"
    yield works("keys", text)


def _database(path: Path) -> Finding:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return wrong("state", f"{path} cannot be read ({error})", "Stop Gofer, and restore a backup: gofer restore")
    if found != "ok":
        return wrong("state", f"{path} is damaged: {found}", "Stop Gofer, and restore a backup: gofer restore")
    return works("state", f"{path} is undamaged, {path.stat().st_size / 1e6:.1f} MB")


def _disk(data: Path, free: Callable[[Path], int]) -> Finding:
    there = next(folder for folder in (data.absolute(), *data.absolute().parents) if folder.exists())
    left = free(there)
    if left < LEAST_FREE:
        return wrong("disk", f"only {left / _GB:.1f} GB are free at {there}", "Make room, or set GOFER_DATA elsewhere.")
    return works("disk", f"{left / _GB:.0f} GB free")
