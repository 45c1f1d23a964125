"""The skills that the runs of a workflow may load, and the skills and tools that its prompt does not list."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gofer.values.errors import ConfigError
from gofer.workflows.schema import Skills, Workflow
from gofer.workflows.skill import SCRIPTS, Skill

SIZE_LIMIT = 2_000_000
"""Bytes of all skills of one workflow at most: every run keeps them."""
_HOW = "Load what fits with `load_skills` before you begin."


def granted_skills(skills: Skills, known: Mapping[str, Skill]) -> Mapping[str, Skill]:
    """Return the skills that the runs of a workflow have, by name: required, and those they may load.

    Raises ConfigError for one that is not there, and for too much of them.
    """
    wanted = _wanted(skills, known)
    if missing := sorted(wanted - set(known)):
        raise ConfigError(f"There is no skill {missing[0]!r}; create skills/{missing[0]}/SKILL.md or correct its name.")
    if too_many(skills, known):
        raise ConfigError(f"The skills of one workflow have {SIZE_LIMIT} bytes at most; name fewer in `allowed`.")
    return {name: known[name] for name in sorted(wanted)}


def too_many(skills: Skills, known: Mapping[str, Skill]) -> bool:
    """Return whether those of a workflow that are there are more than every one of its runs can keep."""
    return sum(known[name].size for name in _wanted(skills, known) if name in known) > SIZE_LIMIT


def _wanted(skills: Skills, known: Mapping[str, Skill]) -> set[str]:
    return {*skills.required, *(known if skills.allowed is None else skills.allowed)} - {*skills.prohibited}


def loadable(workflow: Workflow, skills: Mapping[str, Skill]) -> Sequence[Skill]:
    """Return the skills of a run that do not stand in its prompt."""
    return [skill for name, skill in skills.items() if name not in workflow.skills.required]


def tools_are_searched(workflow: Workflow) -> bool:
    """Return whether the tools that a workflow lists are too many for its prompt."""
    return len(workflow.tools) > workflow.search_above


def skills_are_searched(workflow: Workflow, skills: Mapping[str, Skill]) -> bool:
    """Return whether the skills that a run may load are too many for its prompt."""
    return len(loadable(workflow, skills)) > workflow.search_above


def required_text(skill: Skill, *, files: bool = True) -> str:
    """Return a required skill as the prompt has it; with its other files where the run has tools to read them."""
    text = f"# Skill: {skill.name}\n\n{skill.body}"
    if files and (told := other_files(skill)):
        return f"{text}\n\n{told}"
    return text


def other_files(skill: Skill) -> str:
    """Return the files of a skill beside its text, and what can be done with them; empty without any."""
    if not skill.files:
        return ""
    lines = [f"- {path} ({len(content)} bytes)" for path, content in skill.files.items()]
    scripts = any(path.startswith(SCRIPTS) for path in skill.files)
    told = ""
    if scripts:
        told = f"; what is in {SCRIPTS} is Python for the tool python"
    return "\n".join([f"Its other files, for load_subskill{told}:", *lines])


def section(workflow: Workflow, skills: Mapping[str, Skill]) -> str:
    """Return what a prompt says of skills to load and of tools to search for; empty when there are none."""
    return "\n\n".join(part for part in (_skills(workflow, skills), _tools(workflow)) if part)


def _skills(workflow: Workflow, skills: Mapping[str, Skill]) -> str:
    listed = loadable(workflow, skills)
    if not listed:
        return ""
    if skills_are_searched(workflow, skills):
        return f"# Skills\n\nThere are {len(listed)} skills; find those for your work with `tool_search`. {_HOW}"
    lines = [f"- `{skill.name}`: {' '.join(skill.description.split())}" for skill in listed]
    return "\n".join(["# Skills", "", _HOW, "", *lines])


def _tools(workflow: Workflow) -> str:
    if not tools_are_searched(workflow):
        return ""
    systems = Counter(name.partition("_")[0] for name in workflow.tool_names)
    counted = ", ".join(f"{system} ({count})" for system, count in sorted(systems.items()))
    return (
        f"# More tools\n\nYou have {len(workflow.tools)} tools beside those listed, of: {counted}. `tool_search` gives "
        "the names, descriptions and arguments of those that fit some words; `call_tool` calls one by its name."
    )
