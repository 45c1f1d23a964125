"""The backup of the embedded state into a folder, which also works while Gofer serves.

The database is copied first, then the bodies of its runs, then the keys. If a run is deleted meanwhile, its key is not
in the backup, so its copied contents cannot be read. Everything is written into a temporary folder, which is renamed
when all files are durable.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gofer.app.backup.backup_manifest import NAME, SEALED, CopiedFile, Manifest, binding, copied
from gofer.app.backup.copied_files import (
    bodies,
    clear,
    copy_database,
    copy_file,
    described,
    emptied_on_failure,
    make_folder,
    runs_of,
    sync_folders,
    write_file,
)
from gofer.app.backup.sealed_keys import WORK, Secrets, seal
from gofer.app.embedded.integrity import BLOBS, DATABASE, KEY, KEYS, USED, WORLD, check_keys
from gofer.app.embedded.state import read_state
from gofer.app.embedded.state_files import refused
from gofer.app.embedded.worlds import EVALS
from gofer.evals.history import FOLDER as HISTORY
from gofer.journal.blob_store import BUNDLES
from gofer.sources.receivers import RECEIVERS
from gofer.stores.sqlite.durable_files import sync_folder
from gofer.values.errors import ConfigError
from gofer.values.outside import Clock
from gofer.values.secret import Secret

_REGISTERED = [spec.registration.file for spec in RECEIVERS if spec.registration is not None]
SECRET_FILES = (KEY, USED, KEYS, *_REGISTERED, WORLD)
"""The secret files of the state, which are sealed if they exist."""
PARTIAL = ".partial"

Progress = Callable[[int, int], None]
"""Called with the number of copied files and the number of all files."""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """The figures of a finished backup."""

    at: int
    """When the database was copied, in unix milliseconds."""
    runs: int
    files: int
    bytes: int


def take_backup(
    data: Path, folder: Path, passphrase: Secret, clock: Clock, tell: Progress, *, work: int = WORK
) -> BackedUp:
    """Write a backup of the state into a new folder. Raises ConfigError, Corrupt, TemporaryError.

    `work` is the exponent of scrypt's cost, as `sealed_keys.WORK` explains.
    """
    _check_place(data, folder)
    try:
        with read_state(data, clock), _partial(folder) as partial:
            _check_keys(data)
            backup = _write(data, partial, passphrase, clock, tell, work)
            partial.rename(folder)
            sync_folder(folder.absolute().parent)
            return backup
    except OSError as error:
        raise refused(Path(error.filename or folder), error) from error


def _check_place(data: Path, folder: Path) -> None:
    inside = folder.resolve()
    if inside == data.resolve() or data.resolve() in inside.parents or inside in data.resolve().parents:
        raise ConfigError(f"{folder} and GOFER_DATA ({data}) must not contain each other; name another folder.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists already; name a new folder for each backup.")


def _check_keys(data: Path) -> None:
    """Raise ConfigError for a state without the keys that a usable backup needs."""
    if not (data / KEY).exists():
        problem = f"{data / KEY} is missing, and Gofer would answer old mentions again after a restore without it"
        raise ConfigError(f"{problem}. Put it back, or restore an earlier backup with `gofer restore`.")
    check_keys(data)


@contextlib.contextmanager
def _partial(folder: Path) -> Generator[Path]:
    """Yield an empty temporary folder to write into, after removing the remains of a killed backup."""
    if not folder.name:
        folder = folder.absolute()
    partial = folder.with_name(f"{folder.name}{PARTIAL}")
    make_folder(partial)
    handle = os.open(partial, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        clear(partial)
        with emptied_on_failure(partial):
            yield partial
    except BlockingIOError as error:
        raise ConfigError(f"Another `gofer backup` is writing {folder}; name another folder.") from error
    finally:
        os.close(handle)


def _write(data: Path, partial: Path, passphrase: Secret, clock: Clock, tell: Progress, work: int) -> BackedUp:
    at = int(clock.now() * 1000)
    copy_database(data / DATABASE, partial / DATABASE)
    runs = runs_of(partial / DATABASE)
    files = {DATABASE: described(partial / DATABASE), **_copy_bodies(data, partial, runs, tell)}
    files |= _copy_history(data, partial)
    sealed = seal(_secrets(data), passphrase, binding(at, files), os.urandom, work=work)
    write_file(partial / SEALED, sealed)
    manifest = Manifest(at=at, files=files, sealed=copied(sealed))
    write_file(partial / NAME, manifest.model_dump_json(indent=1).encode())
    sync_folders(partial)
    return BackedUp(at=at, runs=len(runs), files=len(files), bytes=sum(one.size for one in files.values()))


def _copy_bodies(data: Path, partial: Path, runs: frozenset[str], tell: Progress) -> Mapping[str, CopiedFile]:
    found = bodies(data / BLOBS, runs | {BUNDLES})
    files: dict[str, CopiedFile] = {}
    for n, path in enumerate(found, start=1):
        name = path.relative_to(data).as_posix()
        # A missing body belongs to a run that was deleted meanwhile. Its key will not be in the backup either.
        with contextlib.suppress(FileNotFoundError):
            files[name] = copy_file(path, partial / name)
        tell(n, len(found))
    return files


def _copy_history(data: Path, partial: Path) -> Mapping[str, CopiedFile]:
    """Copy the scores of evals, which outlive their runs. A line that is being written is ignored when it is read."""
    found = sorted((data / EVALS / HISTORY).glob("*.jsonl"))
    names = [path.relative_to(data).as_posix() for path in found]
    return {name: copy_file(data / name, partial / name) for name in names}


def _secrets(data: Path) -> Secrets:
    secrets: dict[str, bytes] = {}
    for name in SECRET_FILES:
        with contextlib.suppress(FileNotFoundError):
            secrets[name] = (data / name).read_bytes()
    return secrets
