"""The workflow of a subagent run.

A subagent run never has more permissions than the run that calls it. It has only tools that both list, and the caller's
approvals, `once` options, rules for private channels and prohibited skills apply to it.
"""

from collections.abc import Mapping
from dataclasses import replace

from gofer.workflows.load import Loaded
from gofer.workflows.prompt_sections import skills_and_tools
from gofer.workflows.schema import Limits, Skills
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent, reached

DEPTH = 3
"""The most levels of subagent runs below a run."""


def subagent_workflow(caller: Loaded, name: str, loaded: LoadedSubagent, limits: Limits, depth: int) -> Loaded:
    """Return the workflow of a subagent run at a depth below its root run, with its limits."""
    subagent = loaded.subagent
    workflow = caller.workflow
    if subagent.tools == "inherit":
        listed = workflow.tool_names
    else:
        listed = subagent.tools or ()
    tools = tuple(grant for grant in workflow.tools if grant.name in listed)
    names = {grant.name for grant in tools}
    approve = workflow.approve
    if approve is not None:
        approve = approve.model_copy(update={"tools": tuple(tool for tool in approve.tools if tool in names)})
    skills, known = _skills(caller, loaded)
    changes: dict[str, object] = {
        "description": subagent.description,
        "coordinator": "llm",
        "coordinator_script": "",
        "prompt": "",
        "model": subagent.model,
        "tools": tools,
        # The run at the top requires the effect, and a subagent may have been asked for something else.
        "requires": (),
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
        caller,
        name=name,
        workflow=own,
        system="\n\n".join(filter(None, [loaded.system, skills_and_tools(own, known)])),
        prompt_span=None,
        models=loaded.models,
        script_sha256="",
        skills=known,
        subagents=reached(caller.subagents, subagent.subagents) if depth < DEPTH else {},
    )


def _skills(caller: Loaded, loaded: LoadedSubagent) -> tuple[Skills, Mapping[str, Skill]]:
    """Return the skills of a subagent run, without loadable skills that the caller prohibits.

    A required skill stays even if the caller prohibits it, because the subagent's prompt contains it.
    """
    own = loaded.subagent.skills
    excluded = {*caller.workflow.skills.prohibited} - {*own.required}
    known = {name: skill for name, skill in loaded.skills.items() if name not in excluded}
    allowed = tuple(name for name in known if name not in own.required)
    return Skills(required=own.required, allowed=allowed, prohibited=(*own.prohibited, *sorted(excluded))), known
