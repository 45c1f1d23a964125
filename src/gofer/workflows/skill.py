"""A skill: a folder of `skills/` with a SKILL.md, as the open Agent Skills format has it."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.frontmatter import divide, flaws, skill_name

FOLDER = "skills"
"""The folder of skills, beside the folder of workflows."""
FILE = "SKILL.md"
NAMES = (FILE, "skill.md")
"""What the file of a skill may be called."""
SCRIPTS = "scripts/"
"""Where a skill has what can be run."""
FILES = 200
"""Files of one skill at most, beside its SKILL.md."""
DEPTH = 8
"""Levels of folders in a skill; what lies deeper is no part of it."""
SIZE_LIMIT = 500_000
"""Bytes of all of them together at most: a run keeps every one of its skills."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as a model may read it, whole."""

    name: str
    description: str
    body: str
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The other files of its folder, by their paths below it."""

    @property
    def size(self) -> int:
        """Bytes of everything in it."""
        return len(self.body.encode()) + sum(map(len, self.files.values()))

    def text(self, file: str) -> str | None:
        """Return one of its files as text; None when it is something else."""
        try:
            return self.files[file].decode()
        except UnicodeDecodeError:
            return None

    def to_json(self) -> dict[str, object]:
        """Return it as a bundle keeps it."""
        files = {path: self.text(path) for path in self.files}
        kept = {path: text if text is not None else _encoded(self.files[path]) for path, text in files.items()}
        return {"description": self.description, "body": self.body, "files": kept}


def skill_from_json(name: str, value: Mapping[str, object]) -> Skill:
    """Return the skill of a bundle."""
    files = {path: _decoded(content) for path, content in as_object(value.get("files")).items()}
    return Skill(name=name, description=as_text(value.get("description")), body=as_text(value.get("body")), files=files)


def skill_folders(folder: Path) -> list[Path]:
    """Return the folders of skills in `skills/`, in the order of their names; hidden ones are none."""
    return sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.startswith((".", "__")))


def read_skill(folder: Path) -> Skill:
    """Return the skill of a folder. Raises ConfigError that says what is wrong with it."""
    file = skill_file(folder)
    text, mistakes = read_text(file)
    if text is None or mistakes:
        if mistakes:
            reason = f"{mistakes[0].message} {mistakes[0].hint}"
        else:
            reason = "It cannot be read."
        raise ConfigError(f"{file}: {reason}")
    try:
        fields, body = divide(text)
    except ValueError as error:
        raise ConfigError(f"{file}: The skill {error}.") from error
    if found := flaws(fields, folder.name):
        raise ConfigError(f"{file}: {'; '.join(found)}.")
    name = skill_name(as_text(fields["name"]))
    description = as_text(fields["description"]).strip()
    return Skill(name=name, description=description, body=body, files=_contents(folder, file))


def read_skills(folder: Path) -> Mapping[str, Skill]:
    """Return every skill of `skills/` by its name, in the order of their names.

    Raises ConfigError for the first wrong one.
    """
    skills = [read_skill(path) for path in skill_folders(folder)]
    return {skill.name: skill for skill in skills}


def skill_file(folder: Path) -> Path:
    """Return the SKILL.md of a folder; where there is none, the one that should be there."""
    return next((folder / name for name in NAMES if (folder / name).exists()), folder / FILE)


def _contents(folder: Path, file: Path) -> Mapping[str, bytes]:
    contents: dict[str, bytes] = {}
    left = SIZE_LIMIT
    try:
        for path in _files(folder, folder.resolve(), DEPTH):
            if path == file:
                continue
            name = path.relative_to(folder).as_posix()
            if not name.isprintable():
                raise ConfigError(f"{file}: The name of the file {name!r} cannot be printed; give it another one.")
            # Looked at before it is read: the file may be a film.
            left -= path.stat().st_size
            if left < 0 or len(contents) == FILES:
                most = f"{FILES} and {SIZE_LIMIT} bytes"
                raise ConfigError(f"{file}: The files of a skill are {most} at most; take out what no run reads.")
            contents[name] = path.read_bytes()
    except (OSError, RuntimeError) as error:
        # RuntimeError: links that lead round in a circle.
        raise ConfigError(f"{file}: The folder of the skill cannot be read whole: {error}.") from error
    return contents


def _files(folder: Path, home: Path, depth: int) -> Iterator[Path]:
    """Yield files of a folder and those below it, in order; hidden ones and links to elsewhere are none."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__pycache__")) or not path.resolve().is_relative_to(home):
            continue
        if path.is_dir() and not path.is_symlink() and depth:
            yield from _files(path, home, depth - 1)
        elif path.is_file():
            yield path


def _encoded(content: bytes) -> dict[str, object]:
    return {"base64": base64.b64encode(content).decode()}


def _decoded(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(as_text(as_object(value).get("base64")))
