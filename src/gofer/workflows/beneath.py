"""How does a subagent become a workflow of its own, below whoever asks it?

What whoever asks it may do is the ceiling: its tools and skills are those of both, and what somebody has to approve,
what happens once, and what may leave a private channel stays as it is there.
"""

from dataclasses import replace

from gofer.workflows.found import section
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Limits
from gofer.workflows.subagent import LoadedSubagent, reached

DEPTH = 3
"""How many runs of subagents may stand below one another."""


def beneath(above: Loaded, name: str, asked: LoadedSubagent, limits: Limits, depth: int) -> Loaded:
    """The workflow of a subagent that stands `depth` runs below its root, with what it may use."""
    subagent, workflow = asked.subagent, above.workflow
    wanted = workflow.tool_names if subagent.tools == "inherit" else subagent.tools or ()
    tools = tuple(grant for grant in workflow.tools if grant.name in wanted)
    names = {grant.name for grant in tools}
    approve = workflow.approve
    if approve is not None:
        approve = approve.model_copy(update={"tools": tuple(tool for tool in approve.tools if tool in names)})
    changes: dict[str, object] = {
        "description": subagent.description,
        "coordinator": "llm",
        "coordinator_script": "",
        "prompt": "",
        "model": subagent.model,
        "tools": tools,
        "subagents": subagent.subagents if depth < DEPTH else (),
        "skills": subagent.skills,
        "context": subagent.context,
        "files": subagent.files,
        "approve": approve if approve and approve.tools else None,
        "reply": "none",
        "plan": subagent.plan,
        "output": subagent.output,
        "limits": limits,
    }
    own = workflow.model_copy(update=changes)
    named = {*subagent.skills.required, *(subagent.skills.allowed or ())} - {*subagent.skills.prohibited}
    skills = {skill: it for skill, it in above.skills.items() if skill in named}
    return replace(
        above,
        name=name,
        workflow=own,
        system="\n\n".join(filter(None, [asked.system, section(own, skills)])),
        skills=skills,
        models=asked.models,
        script_sha256="",
        subagents=reached(above.subagents, subagent.subagents) if depth < DEPTH else {},
    )
