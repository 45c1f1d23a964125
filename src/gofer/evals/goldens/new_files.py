"""Files that are written as a whole, and only where no link leads elsewhere."""

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


def write_files(contents: Mapping[Path, bytes], *, force: bool) -> None:
    """Write each file beside its place and move it there. Raises what `refuse_taken` raises, before the first write."""
    refuse_taken(contents, force=force)
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            made = Path(file.name)
            try:
                file.write(content)
                file.flush()
                made.chmod(0o644)
                made.replace(path)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
