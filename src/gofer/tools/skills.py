"""The tools that load a skill, and the files of its folder, when a model needs them."""

import mimetypes
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from gofer.journal.workspace_entries import SkillLoaded
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.values.errors import ToolError
from gofer.values.tokens import estimate
from gofer.workflows.prompt_sections import other_files
from gofer.workflows.skill import NAMES, SCRIPTS, Skill

AT_ONCE = 5
"""The most skills that one call loads."""
_AGAIN = Field(default=False, description="Also skills that the conversation already contains.")
_ABOVE = "is already in this conversation; read it there, or load it with again=true if you no longer see it."

_LEFT = f"One call loads {AT_ONCE} skills; these are left, load them with another call: {{}}."
_NAMED = 10
"""The most unknown names that a refusal lists."""
_LONG = "is too long for one result; it is now the file {} of this run: read it with file_read."


class LoadSkills(Arguments):
    """The skills to load."""

    names: list[str] = Field(min_length=1)
    again: bool = _AGAIN


class LoadSubskill(Arguments):
    """The file to load, and its skill."""

    skill: str
    file: str = Field(description='As "references/fields.md".')
    again: bool = _AGAIN


@tool(effect="read", base="skills")
async def load_skills(call: Call, arguments: LoadSkills) -> ToolResult:
    """Read how this company does something, before you begin."""
    # A skill that is too long for the rest of the result becomes a file.
    names = list(dict.fromkeys(arguments.names))
    skills, missing = _found(call, names)
    if not skills:
        code = "withdrawn" * all(name in call.run.repertoire.withdrawn for name in names)
        raise ToolError(" ".join(missing), code=code)
    left = [skill.name for skill in skills[AT_ONCE:]]
    skills = skills[:AT_ONCE]
    if left:
        missing = [*missing, _LEFT.format(", ".join(left))]
    shown = {*call.run.repertoire.in_prompt, *_loaded(call)}
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
    # Notes about missing skills come first, because the model would overlook them after long texts.
    parts[:0] = [f"[{sentence}]" for sentence in missing]
    return ToolResult("\n\n".join(parts), ", ".join(skill.name for skill in skills), facts=facts, files=files)


def _found(call: Call, names: Sequence[str]) -> tuple[Sequence[Skill], Sequence[str]]:
    """Return the skills of these names that the run may load, and sentences about the other names."""
    withdrawn = call.run.repertoire.withdrawn
    known = _loadable(call)
    missing = [_withdrawn(name) for name in names if name in withdrawn]
    unknown = [name for name in names if name not in withdrawn and name not in known]
    if unknown:
        missing.append(_unknown(unknown, known))
    return [known[name] for name in names if name in known], missing


@tool(effect="read", base="skills")
async def load_subskill(call: Call, arguments: LoadSubskill) -> ToolResult:
    """Read another file of a skill."""
    # A file that is not text becomes a file of the run.
    skill = _skill(call, arguments.skill)
    # `skill.files` holds only files of the folder, so a path that leads out of it is an unknown file.
    path = arguments.file.removeprefix("./")
    summary = f"{skill.name}: {path[:80]}"
    if path in NAMES:
        raise ToolError(f"{path} is the skill itself; read it with load_skills.")
    if path not in skill.files:
        raise ToolError(f"The skill {skill.name!r} has no file {path[:200]!r}. {_files(skill)}", code="no_such_file")
    if path in call.run.workspace.skills.get(skill.name, ()) and not arguments.again:
        return ToolResult(f"{path} of the skill {skill.name!r} {_ABOVE}", summary)
    loaded = SkillLoaded(skill.name, path)
    if (text := skill.text(path)) is not None and estimate(text) > _room(call):
        file = _long(path.rpartition("/")[2], text, skill)
        return ToolResult(f"{path} of the skill {skill.name!r} {_LONG.format(file.id)}", summary, files=(file,))
    if text is not None:
        return ToolResult(f"{path} of the skill {skill.name!r}:\n{text}", summary, facts=(loaded,))
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    file = NewFile(path.rpartition("/")[2], kind, skill.files[path], f"the skill {skill.name}")
    message = f"{path} of the skill {skill.name!r} is not text; it is now the file {file.id} of this run."
    return ToolResult(message, summary, files=(file,), facts=(loaded,))


def script_of(call: Call, name: str, script: str) -> str:
    """Return the text of a script of a skill that the run may load. Raises ToolError."""
    skill = _skill(call, name)
    path = script.removeprefix("./")
    text = None
    if path in skill.files and path.startswith(SCRIPTS):
        text = skill.text(path)
    if text is None:
        raise ToolError(f"The skill {name!r} has no script {path[:200]!r}. {_files(skill)}", code="no_such_file")
    return text


def _room(call: Call) -> int:
    """Return the tokens of one result. The model would see only the beginning of a longer result."""
    return call.run.whole_tokens * 9 // 10


def _long(name: str, text: str, skill: Skill) -> NewFile:
    return NewFile(name, "text/plain", text.encode(), f"the skill {skill.name}")


def _skill(call: Call, name: str) -> Skill:
    """Return a skill that the run may load. Raises ToolError."""
    skills = _loadable(call)
    if found := skills.get(name):
        return found
    if name in call.run.repertoire.withdrawn:
        raise ToolError(_withdrawn(name), code="withdrawn")
    raise ToolError(_unknown([name], skills))


def _loadable(call: Call) -> Mapping[str, Skill]:
    repertoire = call.run.repertoire
    return {name: skill for name, skill in repertoire.skills.items() if name not in repertoire.withdrawn}


def _loaded(call: Call) -> Iterator[str]:
    """Yield the skills that the run has loaded, except those of which only files were loaded."""
    return (name for name, files in call.run.workspace.skills.items() if "" in files)


def _withdrawn(name: str) -> str:
    return f"The skill {name!r} has been withdrawn; continue without it."


def _unknown(names: Sequence[str], known: Iterable[str]) -> str:
    """Return a sentence about unknown names, and one that lists the existing skills."""
    quoted = " or ".join(repr(name[:64]) for name in names[:_NAMED])
    more = ""
    if len(names) > _NAMED:
        more = f" (and {len(names) - _NAMED} more names)"
    listed = ", ".join(known) or "none"
    return f"There is no skill {quoted}{more} here. The skills of this workflow: {listed[:2_000]}."


def _shown(skill: Skill) -> str:
    return f"# Skill: {skill.name}\n\n{skill.body}\n\n{_files(skill)}".strip()


def _files(skill: Skill) -> str:
    return other_files(skill) or "It has no other files."


TOOLS = (load_skills, load_subskill)
"""The tools of every run with skills."""
