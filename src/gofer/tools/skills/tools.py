"""The tools that read a skill when a model needs it, and the files of its folder."""

import mimetypes
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from gofer.errors import ToolError
from gofer.files.tokens import estimate
from gofer.journal.workspace import SkillLoaded
from gofer.tools.tool import Arguments, Call, NewFile, Tool, ToolResult
from gofer.workflows.found import other_files
from gofer.workflows.skill import NAMES, SCRIPTS, Skill

AT_ONCE = 5
"""Skills that one call loads at most."""
_AGAIN = Field(default=False, description="Also what stands above.")
_ABOVE = "stands above already; read it there, or load it with again=true if you do not see it any more."

_LONG = "is too long to stand here; it is the file {} of this run now: read it with file_read."


class LoadSkills(Arguments):
    """Which skills."""

    names: list[str] = Field(min_length=1, max_length=AT_ONCE)
    again: bool = _AGAIN


class LoadSubskill(Arguments):
    """Which file of which skill."""

    skill: str
    file: str = Field(description='As "references/fields.md".')
    again: bool = _AGAIN


def skill_tools() -> tuple[Tool[Any], ...]:
    """The tools of every run that has skills."""
    return (
        Tool(
            name="load_skills",
            description="Read how something is done here, before you begin it.",
            effect="read",
            arguments=LoadSkills,
            act=load_skills,
            base="skills",
        ),
        Tool(
            name="load_subskill",
            description="Read another file of a skill.",
            effect="read",
            arguments=LoadSubskill,
            act=load_subskill,
            base="skills",
        ),
    )


async def load_skills(call: Call, arguments: LoadSkills) -> ToolResult:
    """Return the texts of skills, each with the list of its other files, and which of the names are no skills.

    A skill that does not fit beside the others becomes a file. Raises ToolError when no name is a skill.
    """
    names = list(dict.fromkeys(arguments.names))
    skills, missing = _found(call, names)
    if not skills:
        raise missing[0]
    shown = {*call.repertoire.in_prompt, *(name for name, files in call.workspace.skills.items() if "" in files)}
    if arguments.again:
        shown = set[str]()
    parts = list[str]()
    facts = list[SkillLoaded]()
    files = list[NewFile]()
    room = _room(call)
    for skill in skills:
        text = _shown(skill)
        what = f"The skill {skill.name!r}"
        if skill.name in shown:
            parts.append(f"{what} {_ABOVE}")
        elif (weight := estimate(text)) > room:
            files.append(_long(f"{skill.name}.md", text, skill))
            parts.append(f"{what} {_LONG.format(files[-1].id)}")
        else:
            room -= weight
            parts.append(text)
            facts.append(SkillLoaded(skill.name))
    # First: what is missing would be overlooked behind long texts.
    parts[:0] = [f"[{error.message_to_model}]" for error in missing]
    return ToolResult("\n\n".join(parts), ", ".join(skill.name for skill in skills), facts=facts, files=files)


def _found(call: Call, names: Sequence[str]) -> tuple[Sequence[Skill], Sequence[ToolError]]:
    """Return the skills of these names that the run may load, and for each other name why it may not."""
    found = list[Skill]()
    missing = list[ToolError]()
    for name in names:
        try:
            found.append(_skill(call, name))
        except ToolError as error:
            missing.append(error)
    return found, missing


async def load_subskill(call: Call, arguments: LoadSubskill) -> ToolResult:
    """A text of a skill's folder; anything else becomes a file of the run."""
    skill = _skill(call, arguments.skill)
    # Only what the folder held is there to be named: a path that leads out of it is just no file of the skill.
    path = arguments.file.removeprefix("./")
    summary = f"{skill.name}: {path[:80]}"
    if path in NAMES:
        raise ToolError(f"{path} is the skill itself; read it with load_skills.")
    if path not in skill.files:
        raise ToolError(f"The skill {skill.name!r} has no file {path[:200]!r}. {_files(skill)}", code="no_such_file")
    if path in call.workspace.skills.get(skill.name, ()) and not arguments.again:
        return ToolResult(f"{path} of the skill {skill.name!r} {_ABOVE}", summary)
    loaded = SkillLoaded(skill.name, path)
    if (text := skill.text(path)) is not None and estimate(text) > _room(call):
        file = _long(path.rpartition("/")[2], text, skill)
        return ToolResult(f"{path} of the skill {skill.name!r} {_LONG.format(file.id)}", summary, files=(file,))
    if text is not None:
        return ToolResult(f"{path} of the skill {skill.name!r}:\n{text}", summary, facts=(loaded,))
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    file = NewFile(path.rpartition("/")[2], kind, skill.files[path], f"the skill {skill.name}")
    told = f"{path} of the skill {skill.name!r} is no text; it is the file {file.id} of this run now."
    return ToolResult(told, summary, files=(file,), facts=(loaded,))


def script_of(call: Call, name: str, script: str) -> str:
    """The text of a script of a skill that the run may load. Raises ToolError."""
    skill, path = _skill(call, name), script.removeprefix("./")
    text = skill.text(path) if path in skill.files and path.startswith(SCRIPTS) else None
    if text is None:
        raise ToolError(f"The skill {name!r} has no script {path[:200]!r}. {_files(skill)}", code="no_such_file")
    return text


def _room(call: Call) -> int:
    """Tokens that fit one result: of a longer one only the beginning would be seen."""
    return call.whole_tokens * 9 // 10


def _long(name: str, text: str, skill: Skill) -> NewFile:
    return NewFile(name, "text/plain", text.encode(), f"the skill {skill.name}")


def _skill(call: Call, name: str) -> Skill:
    """A skill that the run may load. Raises ToolError."""
    skills = {key: skill for key, skill in call.repertoire.skills.items() if key not in call.repertoire.withdrawn}
    if found := skills.get(name):
        return found
    if name in call.repertoire.withdrawn:
        raise ToolError(f"The skill {name!r} is not used any more; go on without it.", code="withdrawn")
    named = ", ".join(skills) or "none"
    raise ToolError(f"There is no skill {name[:64]!r} here. The skills of this workflow: {named[:2_000]}.")


def _shown(skill: Skill) -> str:
    return f"# Skill: {skill.name}\n\n{skill.body}\n\n{_files(skill)}".strip()


def _files(skill: Skill) -> str:
    return other_files(skill) or "It has no other files."
