"""The restore of a backup into an empty folder.

The state is prepared in a subfolder: files are copied and compared with the manifest, runs whose time has come are
deleted, and unfinished runs are held. Then everything is moved to its place. No Gofer opens the state while that
subfolder exists. A restore that was killed starts again from the backup.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gofer.app.backup.backup_manifest import SEALED, CopiedFile, Manifest, binding, copied, read_manifest
from gofer.app.backup.copied_files import clear, copy_file, emptied_on_failure, make_folder, sync_folders, write_file
from gofer.app.backup.sealed_keys import Secrets, unseal
from gofer.app.backup.take import SECRET_FILES, Progress
from gofer.app.embedded.integrity import DATABASE, KEY, RESTORING
from gofer.app.embedded.state import State, installation_key, open_state, serving
from gofer.app.embedded.state_files import LOCK, refused
from gofer.journal.coordination import Head
from gofer.runtime.restored_runs import hold_unfinished
from gofer.runtime.retention import Purger, delete
from gofer.stores.sqlite.durable_files import sync_folder
from gofer.values.errors import ConfigError, Corrupt
from gofer.values.outside import Clock
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret


@dataclass(frozen=True, slots=True)
class RestoredState:
    """The outcome of a restore for the runs of the backup."""

    backup_at: int
    """When the backup was made, in unix milliseconds."""
    deleted: int
    """The number of runs whose contents became due for deletion since the backup."""
    keyless: int
    """The number of runs without a key in the backup, because they were deleted while it was made."""
    held: Sequence[Head]
    """The runs that had not ended."""


def restore_backup(folder: Path, data: Path, passphrase: Secret, clock: Clock, tell: Progress) -> RestoredState:
    """Restore a backup into an empty GOFER_DATA. Raises ConfigError, Corrupt, TemporaryError."""
    manifest = read_manifest(folder)
    secrets = _open_secrets(folder, manifest, passphrase)
    with serving(data):
        _check_empty(data)
        try:
            clear(data, keep=(LOCK, RESTORING), erased=SECRET_FILES)
            staged = _staged(data)
            with emptied_on_failure(staged, erased=SECRET_FILES):
                restored = _prepare(folder, staged, manifest, secrets, clock, tell)
            _move(staged, data)
            return restored
        except OSError as error:
            raise refused(Path(error.filename or data), error) from error


def _open_secrets(folder: Path, manifest: Manifest, passphrase: Secret) -> Secrets:
    try:
        sealed = (folder / SEALED).read_bytes()
    except OSError as error:
        raise _damaged(folder, SEALED) from error
    if copied(sealed) != manifest.sealed:
        raise _damaged(folder, SEALED)
    secrets = unseal(sealed, passphrase, binding(manifest.at, manifest.files))
    if KEY not in secrets:
        raise Corrupt(f"{folder} has no {KEY}, so Gofer would answer old mentions again; restore an earlier backup.")
    return secrets


def _check_empty(data: Path) -> None:
    """Raise ConfigError unless the folder is empty or holds only the remains of a killed restore."""
    if (data / RESTORING).exists():
        return
    if any(path.name != LOCK for path in data.iterdir()):
        raise ConfigError(f"{data} is not empty; move it away, or set GOFER_DATA to a new folder, and restore there.")


def _staged(data: Path) -> Path:
    """Create and return the empty subfolder to prepare the state in. While it exists, no Gofer opens the state."""
    staged = data / RESTORING
    make_folder(staged)
    sync_folder(data)
    clear(staged, erased=SECRET_FILES)
    return staged


def _prepare(
    folder: Path, staged: Path, manifest: Manifest, secrets: Secrets, clock: Clock, tell: Progress
) -> RestoredState:
    _copy(folder, staged, manifest, tell)
    for name in SECRET_FILES:
        if name in secrets:
            write_file(staged / name, secrets[name])
    with open_state(staged, clock) as state:
        restored = asyncio.run(_settle(state, clock, Tokens(installation_key(staged)), manifest.at))
    sync_folders(staged)
    return restored


def _copy(folder: Path, staged: Path, manifest: Manifest, tell: Progress) -> None:
    for n, (name, expected) in enumerate(manifest.files.items(), start=1):
        if _copied(folder / name, staged / name) != expected:
            raise _damaged(folder, name)
        tell(n, len(manifest.files))


def _copied(source: Path, target: Path) -> CopiedFile | None:
    try:
        return copy_file(source, target)
    except FileNotFoundError:
        return None


async def _settle(state: State, clock: Clock, tokens: Tokens, backup_at: int) -> RestoredState:
    held = await hold_unfinished(state.stores, clock, tokens, backup_at)
    # The runs without keys go before the purge, which would count them as due.
    await delete(held.keyless, state.stores)
    purged = await Purger(state.stores, clock).purge()
    # Schedules between the backup and now either started runs then or were missed, so none is repeated.
    now = int(clock.now())
    await state.marks.write({name: max(at, now) for name, at in (await state.marks.read()).items()})
    return RestoredState(backup_at=backup_at, deleted=purged.deleted, keyless=len(held.keyless), held=held.heads)


def _move(staged: Path, data: Path) -> None:
    """Move all files to their place. The restore is complete when the subfolder is removed."""
    for path in sorted(staged.iterdir(), key=lambda path: path.name == DATABASE):
        path.rename(data / path.name)
    sync_folder(data)
    staged.rmdir()
    sync_folder(data)


def _damaged(folder: Path, name: str) -> Corrupt:
    problem = "is missing or damaged"
    return Corrupt(f"{folder / name} {problem}; restore an earlier backup. Nothing of this one was restored.")
