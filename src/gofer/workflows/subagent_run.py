"""The workflow of a subagent, below the run that asks it.

The permissions of the run that asks are the ceiling: its tools are those of both, and what a person has to approve,
what happens once, what may leave a private channel, and which skills are prohibited stays as it is there.
"""

from collections.abc import Mapping
from dataclasses import replace

from gofer.workflows.load import Loaded
from gofer.workflows.prompt_sections import skills_and_tools
from gofer.workflows.schema import Limits, Skills
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent, reached

DEPTH = 3
"""How many runs of subagents may stand below one another."""


def beneath(above: Loaded, name: str, asked: LoadedSubagent, limits: Limits, depth: int) -> Loaded:
    """Return the workflow of a subagent that stands `depth` runs below its root, with what it may use."""
    subagent = asked.subagent
    workflow = above.workflow
    if subagent.tools == "inherit":
        wanted = workflow.tool_names
    else:
        wanted = subagent.tools or ()
    tools = tuple(grant for grant in workflow.tools if grant.name in wanted)
    names = {grant.name for grant in tools}
    approve = workflow.approve
    if approve is not None:
        approve = approve.model_copy(update={"tools": tuple(tool for tool in approve.tools if tool in names)})
    skills, known = _skills(above, asked)
    changes: dict[str, object] = {
        "description": subagent.description,
        "coordinator": "llm",
        "coordinator_script": "",
        "prompt": "",
        "model": subagent.model,
        "tools": tools,
        "subagents": subagent.subagents if depth < DEPTH else (),
        "skills": skills,
        "context": subagent.context,
        "files": subagent.files,
        "approve": approve if approve and approve.tools else None,
        "reply": "none",
        "plan": subagent.plan,
        "output": subagent.output,
        "limits": limits,
    }
    own = workflow.model_copy(update=changes)
    return replace(
        above,
        name=name,
        workflow=own,
        system="\n\n".join(filter(None, [asked.system, skills_and_tools(own, known)])),
        models=asked.models,
        script_sha256="",
        skills=known,
        subagents=reached(above.subagents, subagent.subagents) if depth < DEPTH else {},
    )


def _skills(above: Loaded, asked: LoadedSubagent) -> tuple[Skills, Mapping[str, Skill]]:
    """Return the skills that it knows and may load, without those prohibited above it; its prompt has others anyway."""
    own = asked.subagent.skills
    barred = {*above.workflow.skills.prohibited} - {*own.required}
    known = {name: skill for name, skill in asked.skills.items() if name not in barred}
    allowed = tuple(name for name in known if name not in own.required)
    return Skills(required=own.required, allowed=allowed, prohibited=(*own.prohibited, *sorted(barred))), known
