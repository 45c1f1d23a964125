"""The merge of a new version of Gofer into the repository of a company.

Each file has three texts: the one that an earlier version wrote, the one in the repository, and the one of the new
version. A file that the company left alone is replaced. In a changed file, `git merge-file` joins both changes, and it
marks conflicts. Prompts and skills that the company changed are never merged: the new text lies beside them.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal

from gofer.app.new_repository.locking import OWN_LOCK
from gofer.app.new_repository.shipped import gofer_version
from gofer.app.new_repository.writing import (
    FACTS,
    PRISTINE,
    Asked,
    installed_parts,
    local_wheel,
    new_files,
    notes,
)
from gofer.app.whole_files import write_all
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ConfigError

Action = Literal["added", "replaced", "merged", "conflict", "beside", "kept deleted", "not shipped any more"]
"""What happened to a file: it is new; the company had left it alone; both changes are joined; joined with marked
conflicts; the new text lies beside the changed one; the company had deleted it; the new version does not have it."""
SUFFIX = ".new"
"""The end of the name of a text that lies beside a changed one."""
_TEXTS_OF_PEOPLE = ("agents", "subagents", "skills")
"""The folders with Markdown that is never merged."""
_BESIDE = (".json",)
"""The suffixes of files in which a marked conflict would make the whole file unreadable."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an upgrade does with one file."""

    path: str
    action: Action
    writes: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The content of each file to write, by its path."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade that was made."""

    before: str
    after: str
    changes: tuple[Change, ...]


def upgrade(folder: Path) -> Upgrade:
    """Merge the installed version into a repository that `gofer init` wrote. Raises ConfigError for another folder."""
    facts = _facts(folder)
    names = tuple(map(str, as_list(facts.get("workflows"))))
    asked = Asked(
        folder,
        names,
        installed_parts(folder),
        as_text(facts.get("repository")),
        facts.get("aws") is True,
        [str(owner) for owner in as_list(facts.get("owners"))],
    )
    wheel = local_wheel()
    made = new_files(asked, wheel)
    changes = tuple(_changes(folder, made))
    texts = {path: content for change in changes for path, content in change.writes.items()}
    write_all({folder / path: content for path, content in {**texts, **notes(asked, made, wheel)}.items()})
    _remove_earlier_wheels(folder, wheel)
    return Upgrade(as_text(facts.get("gofer")), gofer_version(), changes)


def _remove_earlier_wheels(folder: Path, wheel: Path | None) -> None:
    if wheel is not None:
        for earlier in (folder / "vendor").glob("gofer-*.whl"):
            if earlier.name != wheel.name:
                earlier.unlink()


def _facts(folder: Path) -> Mapping[str, object]:
    """Return what `gofer init` noted. Raises ConfigError."""
    path = folder / FACTS
    try:
        return as_object(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ConfigError(
            f"{path} is missing: `gofer init` writes it, and without it an upgrade cannot tell your changes from ours."
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read; restore it with git.") from error


def _changes(folder: Path, made: Mapping[str, bytes]) -> Iterator[Change]:
    """Yield what happens with each file that differs between the two versions."""
    pristine = folder / PRISTINE / "files"
    earlier = {path.relative_to(pristine).as_posix(): path.read_bytes() for path in _files(pristine)}
    for path in sorted({*earlier, *made}):
        base, theirs = earlier.get(path), made.get(path)
        place = folder / path
        ours = place.read_bytes() if place.is_file() else None
        if path == OWN_LOCK and theirs is not None:
            # It follows from pyproject.toml, so it is neither merged nor kept away.
            base = ours
        if base == theirs:
            continue
        if theirs is None:
            if ours is not None:
                yield Change(path, "not shipped any more")
        elif ours is None and base is not None:
            yield Change(path, "kept deleted")
        elif ours is None:
            yield Change(path, "added", {path: theirs})
        elif ours == base:
            yield Change(path, "replaced", {path: theirs})
        elif ours != theirs:
            yield _joined(path, ours=ours, base=base, theirs=theirs)


def _joined(path: str, *, ours: bytes, base: bytes | None, theirs: bytes) -> Change:
    """Return the change of a file that both sides changed."""
    is_of_people = path.endswith(".md") and PurePosixPath(path).parts[0] in _TEXTS_OF_PEOPLE
    if base is None or is_of_people or path.endswith(_BESIDE):
        return Change(path, "beside", {f"{path}{SUFFIX}": theirs})
    text, conflicts = _merged(ours, base, theirs)
    return Change(path, "conflict" if conflicts else "merged", {path: text})


def _merged(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """Return a text with the changes of both sides, and whether it has marked conflicts. Raises ConfigError."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("yours", "before", "gofer")]
        for path, content in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(content)
        labels = [word for label in ("yours", "before", "new version of Gofer") for word in ("-L", label)]
        command = ["git", "merge-file", "-p", *labels, *map(str, paths)]
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - fixed words and own paths
    if done.returncode < 0 or done.returncode > 127:
        raise ConfigError(f"git could not merge a file: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout, done.returncode > 0


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
