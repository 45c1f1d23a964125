"""Skills: folders of `skills/` with a SKILL.md in the open Agent Skills format."""

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
"""The allowed names of a skill's main file."""
SCRIPTS = "scripts/"
"""The folder of a skill's scripts."""
FILES = 200
"""The most files of one skill besides its SKILL.md."""
DEPTH = 8
"""The most levels of folders in a skill; deeper files are not part of the skill."""
SIZE_LIMIT = 500_000
"""The most bytes of all files of a skill together. Every run stores a copy of its skills."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill with its text and all its files."""

    name: str
    description: str
    body: str
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The other files of the skill's folder, by their paths in the folder."""

    @property
    def size(self) -> int:
        """The bytes of the text and all files together."""
        return len(self.body.encode()) + sum(map(len, self.files.values()))

    def text(self, file: str) -> str | None:
        """Return a file of the skill as text; None when the file is not UTF-8 text."""
        try:
            return self.files[file].decode()
        except UnicodeDecodeError:
            return None

    def to_json(self) -> dict[str, object]:
        """Return the skill as JSON for a bundle."""
        files = {path: self.text(path) for path in self.files}
        contents = {path: text if text is not None else _encoded(self.files[path]) for path, text in files.items()}
        return {"description": self.description, "body": self.body, "files": contents}


def skill_from_json(name: str, value: Mapping[str, object]) -> Skill:
    """Return the skill that `Skill.to_json` wrote."""
    files = {path: _decoded(content) for path, content in as_object(value.get("files")).items()}
    return Skill(name=name, description=as_text(value.get("description")), body=as_text(value.get("body")), files=files)


def skill_folders(folder: Path) -> list[Path]:
    """Return the folders in `skills/`, sorted by name, without hidden folders."""
    return sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.startswith((".", "__")))


def read_skill(folder: Path) -> Skill:
    """Return the skill of a folder. Raises ConfigError when the skill is invalid."""
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
    """Return every skill of `skills/` by name, sorted by folder.

    Raises ConfigError for the first invalid skill.
    """
    skills = [read_skill(path) for path in skill_folders(folder)]
    return {skill.name: skill for skill in skills}


def skill_file(folder: Path) -> Path:
    """Return the path of a folder's SKILL.md, whether it exists or not."""
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
            # The size is checked before the file is read, because the file may be very large.
            left -= path.stat().st_size
            if left < 0 or len(contents) == FILES:
                limit = f"{FILES} files and {SIZE_LIMIT} bytes"
                raise ConfigError(f"{file}: A skill may have at most {limit}; remove files that no run reads.")
            contents[name] = path.read_bytes()
    except (OSError, RuntimeError) as error:
        # RuntimeError: links that form a circle.
        raise ConfigError(f"{file}: The folder of the skill cannot be read: {error}.") from error
    return contents


def _files(folder: Path, home: Path, depth: int) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, sorted, without hidden files and links out of the folder."""
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
