"""The skills that the runs of a workflow may load, and the thresholds above which models search skills and tools."""

from collections.abc import Mapping, Sequence

from gofer.values.errors import ConfigError
from gofer.workflows.schema import Skills, Workflow
from gofer.workflows.skill import Skill

SIZE_LIMIT = 2_000_000
"""The most bytes of all skills of one workflow together. Every run stores a copy."""


def granted_skills(skills: Skills, known: Mapping[str, Skill]) -> Mapping[str, Skill]:
    """Return the required skills of a workflow and those that its runs may load, by name.

    Raises ConfigError for a skill that does not exist, and for skills that are too large together.
    """
    names = _granted_names(skills, known)
    if missing := sorted(names - set(known)):
        raise ConfigError(f"There is no skill {missing[0]!r}; create skills/{missing[0]}/SKILL.md or correct its name.")
    if too_large(skills, known):
        raise ConfigError(
            f"The skills of this workflow are larger than {SIZE_LIMIT} bytes together; list fewer in `allowed`."
        )
    return {name: known[name] for name in sorted(names)}


def too_large(skills: Skills, known: Mapping[str, Skill]) -> bool:
    """Return whether the existing skills of a workflow are larger together than SIZE_LIMIT."""
    return sum(known[name].size for name in _granted_names(skills, known) if name in known) > SIZE_LIMIT


def _granted_names(skills: Skills, known: Mapping[str, Skill]) -> set[str]:
    return {*skills.required, *(known if skills.allowed is None else skills.allowed)} - {*skills.prohibited}


def loadable(workflow: Workflow, skills: Mapping[str, Skill]) -> Sequence[Skill]:
    """Return the skills of a run that are not part of its prompt."""
    return [skill for name, skill in skills.items() if name not in workflow.skills.required]


def tools_are_searched(workflow: Workflow) -> bool:
    """Return whether a workflow lists too many tools for its prompt, so that its models search for them."""
    return len(workflow.tools) > workflow.search_above


def skills_are_searched(workflow: Workflow, skills: Mapping[str, Skill]) -> bool:
    """Return whether a run may load too many skills for its prompt, so that its models search for them."""
    return len(loadable(workflow, skills)) > workflow.search_above
