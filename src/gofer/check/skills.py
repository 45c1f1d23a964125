"""Are the skills that a workflow requires there, and of the form that skills have?"""

from collections.abc import Iterator
from pathlib import Path

from gofer.canonical import as_list, as_object
from gofer.errors import ConfigError
from gofer.workflows.mistake import START, Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.skill import FILE, read_skill
from gofer.workflows.source import Source


def check_skills(folder: Path, source: Source) -> Iterator[Mistake]:
    """Skills of `folder` that a workflow requires and that are not there, or not in order."""
    for at, name in enumerate(as_list(as_object(source.fields.get("skills")).get("required"))):
        if not isinstance(name, str) or not name:
            continue
        place = source.place(("skills", "required", at))
        if name not in _known(folder):
            message = f"There is no skill `{name[:80]}`."
            yield Mistake(source.file, place, "missing-skill", message, _instead(folder, name))
            continue
        try:
            read_skill(folder, name)
        except ConfigError as error:
            message, _, hint = str(error).partition(": ")[2].partition(". ")
            told = hint or "docs/workflow-file.md shows one."
            yield Mistake(folder / name / FILE, START, "invalid-skill", f"{message.removesuffix('.')}.", told)


def _known(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob(f"*/{FILE}"))


def _instead(folder: Path, name: str) -> str:
    meant = close_match(name, _known(folder))
    return f"Write `{meant}`." if meant else "Create skills/<name>/SKILL.md, or do without it."
