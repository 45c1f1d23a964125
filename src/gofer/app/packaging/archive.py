"""The files of a package, and its archive."""

import zipfile
from collections.abc import Sequence
from pathlib import Path


def files(folder: Path) -> Sequence[Path]:
    """Return all files of a folder, ordered by path."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def size(folder: Path) -> int:
    """Return the size of all files of a folder in bytes."""
    return sum(path.stat().st_size for path in files(folder))


def zipped(folder: Path) -> Path:
    """Zip a folder into an archive beside it and return the archive. The same files make the same bytes."""
    archive = folder.parent / f"{folder.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o100644
            if path.stat().st_mode & 0o100:
                mode = 0o100755
            entry.external_attr = mode << 16
            out.writestr(entry, path.read_bytes())
    return archive
