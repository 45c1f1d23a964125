"""The files of a workflow that a suggestion may edit: its prompt, and the skills that its runs loaded."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from gofer.journal.workspace_entries import SkillLoaded
from gofer.learning.suggestions.question import fits
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.load import Loaded
from gofer.workflows.skill import FOLDER, NAMES

_MARKDOWN = ".md"


def editable_texts(root: Path, loaded: Loaded, records: Iterable[RunRecord]) -> Mapping[str, str]:
    """Return the prompt, and each skill file that a run read, by path from `root`. Only Markdown counts.

    Raises ConfigError if they are too large for a question.
    """
    paths = [loaded.prompt_file]
    for name in loaded.workflow.skills.required:
        paths += [f"{FOLDER}/{name}/{file}" for file in NAMES]
    for record in records:
        for recorded in record.entries:
            if isinstance(recorded.entry, SkillLoaded):
                paths += _files(recorded.entry, loaded)
    found = {path: text for path in dict.fromkeys(paths) if (text := _text(root, path)) is not None}
    if not fits(list(found.values())):
        raise ConfigError(f"The prompt of {loaded.name} and its skills are too long for a question; shorten them.")
    return found


def _files(entry: SkillLoaded, loaded: Loaded) -> Iterable[str]:
    """Return the paths of a skill or of one of its files; none if the workflow does not have it any more."""
    skill = loaded.skills.get(entry.skill)
    if skill is None:
        return []
    if entry.file:
        return [f"{FOLDER}/{entry.skill}/{file}" for file in skill.files if file == entry.file]
    return [f"{FOLDER}/{entry.skill}/{file}" for file in NAMES]


def _text(root: Path, path: str) -> str | None:
    """Return a Markdown file below the folder; None for another file, and for a link."""
    file = root / path
    if PurePosixPath(path).suffix != _MARKDOWN or file.is_symlink() or not file.is_file():
        return None
    if not file.resolve().is_relative_to(root.resolve()):
        return None
    text, _ = read_text(file)
    return text
