"""The skills that the runs of a workflow may load, and whether skills and tools are too many for its prompt."""

from collections.abc import Mapping, Sequence

from gofer.values.errors import ConfigError
from gofer.workflows.schema import Skills, Workflow
from gofer.workflows.skill import Skill

SIZE_LIMIT = 2_000_000
"""Bytes of all skills of one workflow at most: every run keeps them."""


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
