"""The manifest of a backup: every file with its size and hash, so that an incomplete backup is recognised."""

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gofer.values.canonical_json import encode
from gofer.values.errors import ConfigError

NAME = "backup.json"
"""The file of the manifest. It is written last, so a folder without it is not a complete backup."""
SEALED = "keys.sealed"
"""The file with the keys and tokens, encrypted under the passphrase."""
FORMAT = 2
"""The version of the manifest and of the state in a backup. Every other version is refused."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CopiedFile(_Part):
    """The size and the hash of one file of a backup."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Manifest(_Part):
    """The list of the files of a backup."""

    format: Literal[2] = FORMAT
    at: int = Field(ge=0)
    """When the database was copied, in unix milliseconds."""
    files: Mapping[str, CopiedFile]
    """All files except the sealed one, by their path in the backup, with slashes."""
    sealed: CopiedFile

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: Mapping[str, CopiedFile]) -> Mapping[str, CopiedFile]:
        for name in files:
            parts = PurePosixPath(name).parts
            if not parts or parts[0] == "/" or ".." in parts:
                raise ValueError("a path leaves the folder")
        return files


def binding(at: int, files: Mapping[str, CopiedFile]) -> bytes:
    """Return the hash that binds the sealed file to the other files. It opens only beside exactly these."""
    listed = {name: [one.size, one.sha256] for name, one in files.items()}
    return hashlib.sha256(encode([FORMAT, at, listed])).digest()


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raises ConfigError for a folder that is not a complete backup."""
    path = folder / NAME
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        problem = f"{folder} is not a backup, or its backup did not finish: {NAME} is missing"
        raise ConfigError(f"{problem}. Name the folder of a finished `gofer backup`.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); check the folder.") from error
    try:
        return Manifest.model_validate_json(raw)
    except ValidationError as error:
        if any(wrong["loc"] == ("format",) and wrong["input"] == 1 for wrong in error.errors()):
            formats = f"an earlier version of Gofer (format 1, and this version reads format {FORMAT})"
            raise ConfigError(f"{path} was written by {formats}; restore it with that version.") from error
        problem = "was changed, or another version of Gofer wrote it; use an earlier backup, or that version"
        raise ConfigError(f"{path} {problem}.") from error


def copied(content: bytes) -> CopiedFile:
    """Return the size and the hash of a content."""
    return CopiedFile(size=len(content), sha256=hashlib.sha256(content).hexdigest())
