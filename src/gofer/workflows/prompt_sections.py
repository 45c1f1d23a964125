"""The sections of a system prompt about plans, skills and tool search."""

from collections import Counter
from collections.abc import Mapping

from gofer.workflows.allowed_skills import loadable, skills_are_searched, tools_are_searched
from gofer.workflows.schema import Plan, Workflow
from gofer.workflows.skill import SCRIPTS, Skill

_REQUIRED = "Before anything else, write your plan; other tools refuse until there is one."
_OPTIONAL = "For three or more steps, write your plan first; for less, none is needed."
_EXAMPLE = (
    'Example: `todo_write(todos=[{"description": "Read both threads"}, {"description": "File a ticket per task"}])`; '
    'after each item `todo_update(id="1", status="completed")`.'
)
"""Models follow an example where rules alone do not help."""
_KEPT = "Answer only when all are `completed`, or `blocked`: a person must help, and `needs` says with what."
_HOW = "Load what fits with `load_skills` before you begin."


def planning(plan: Plan) -> str:
    """Return the section about plans; empty when the workflow has no plans."""
    match plan:
        case "off":
            return ""
        case "required":
            return f"# Your plan\n\n{_REQUIRED} {_EXAMPLE} {_KEPT}"
        case "optional":
            return f"# Your plan\n\n{_OPTIONAL} {_EXAMPLE} {_KEPT}"


def required_text(skill: Skill, *, files: bool = True) -> str:
    """Return the section of a required skill; with `files`, also the list of its other files."""
    text = f"# Skill: {skill.name}\n\n{skill.body}"
    if files and (listing := other_files(skill)):
        return f"{text}\n\n{listing}"
    return text


def other_files(skill: Skill) -> str:
    """Return the list of a skill's other files and how to read or run them; empty without other files."""
    if not skill.files:
        return ""
    lines = [f"- {path} ({len(content)} bytes)" for path, content in skill.files.items()]
    scripts = any(path.startswith(SCRIPTS) for path in skill.files)
    note = ""
    if scripts:
        note = f"; what is in {SCRIPTS} is Python for the tool python"
    return "\n".join([f"Its other files, for load_subskill{note}:", *lines])


def skills_and_tools(workflow: Workflow, skills: Mapping[str, Skill]) -> str:
    """Return the sections about skills to load and tools to search for; empty without either."""
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
