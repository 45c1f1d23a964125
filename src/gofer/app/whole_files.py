"""Files of people that are written as a whole: all of them, or none."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from gofer.values.errors import ConfigError


def refuse_taken(paths: Mapping[Path, bytes], *, force: bool) -> None:
    """Raise ConfigError for a path that is taken, and with `force` for one that is no ordinary file.

    The folders of a relative path must be no links either.
    """
    for path in paths:
        for folder in path.parents:
            if folder.is_symlink() and not path.is_absolute():
                raise ConfigError(f"{folder} is a symbolic link; replace it with a folder.")
        if path.is_symlink():
            raise ConfigError(f"{path} is a symbolic link; remove it, or choose another --name.")
        if os.path.lexists(path) and not path.is_file():
            raise ConfigError(f"{path} is no file; remove it, or choose another --name.")
        if path.is_file() and not force:
            raise ConfigError(f"{path} exists; choose another --name, or replace it with --force.")


def write_new(contents: Mapping[Path, bytes], *, force: bool) -> None:
    """Write all files or none. Raises what `refuse_taken` raises, before the first write, and OSError."""
    refuse_taken(contents, force=force)
    write_all(contents)


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all files or none: each beside its place, and moved there once all are written. Raises OSError.

    A file that exists keeps its rights, and a link leads to the file that is written. Programs, which begin with
    `#!`, may be executed.
    """
    created = [folder for path in contents for folder in path.parents if not folder.exists()]
    staged: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            place = path.resolve()
            place.parent.mkdir(parents=True, exist_ok=True)
            staged[place] = _beside(place, path, content)
        for place, made in staged.items():
            made.replace(place)
    except BaseException:
        for made in staged.values():
            made.unlink(missing_ok=True)
        for folder in sorted(created, reverse=True):
            # A folder with files of others stays.
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _beside(place: Path, path: Path, content: bytes) -> Path:
    """Write a file beside its place, with its rights, and return the path. Raises OSError that names `path`."""
    made: Path | None = None
    try:
        with NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
            made = Path(file.name)
            file.write(content)
            file.flush()
            made.chmod(_rights(place, content))
        return made
    except BaseException as error:
        if made is not None:
            made.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise


def _rights(place: Path, content: bytes) -> int:
    if place.exists():
        return place.stat().st_mode & 0o777
    if content.startswith(b"#!"):
        return 0o755
    return 0o644
