"""What does a skill say: a folder of `skills/` with a SKILL.md, as the open Agent Skills format has it?"""

from dataclasses import dataclass
from pathlib import Path

import yaml

from gofer.canonical import as_object, as_text
from gofer.errors import ConfigError
from gofer.workflows.text import read_text

SKILLS = "skills"
"""The folder of skills, beside the folder of workflows."""
FILE = "SKILL.md"
_FENCE = "---\n"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as a model may read it."""

    name: str
    description: str
    body: str


def read_skill(folder: Path, name: str) -> Skill:
    """A skill of `skills/`. Raises ConfigError that says what is wrong with it."""
    file = folder / name / FILE
    text, _ = read_text(file)
    if text is None:
        raise ConfigError(f"{file}: The skill cannot be read as text. Create the file, or correct its name.")
    head, fence, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}")
    if not text.startswith(_FENCE) or not fence:
        raise ConfigError(f"{file}: A skill begins with `name` and `description` between two lines of `---`.")
    try:
        fields = as_object(yaml.load(head, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: What stands between the lines of `---` is not YAML.") from error
    description = as_text(fields.get("description")).strip()
    if fields.get("name") != name or not description:
        raise ConfigError(f"{file}: It needs `name: {name}`, as its folder is called, and a `description`.")
    return Skill(name, description, body.strip())


def skill_text(folder: Path, name: str) -> str:
    """A required skill as it stands in a system prompt. Raises ConfigError."""
    skill = read_skill(folder, name)
    return f"# Skill: {skill.name}\n\n{skill.body}"
