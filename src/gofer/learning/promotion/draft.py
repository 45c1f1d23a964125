"""The files of a draft: the script, the subagent with its prompt, and the changed workflow file."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.learning.promotion.judgements import judged_fields
from gofer.learning.promotion.promotion import Promotion
from gofer.learning.promotion.script_draft import script_text
from gofer.learning.promotion.subagent_draft import subagent_prompt, subagent_yaml
from gofer.learning.promotion.workflow_draft import with_script, workflow_diff
from gofer.workflows.schema import Workflow
from gofer.workflows.script_source import FOLDER as SCRIPTS
from gofer.workflows.subagent import FOLDER as SUBAGENTS
from gofer.workflows.yaml_source import Source

WORKFLOWS = "agents"


@dataclass(frozen=True, slots=True)
class Draft:
    """The files that a promotion proposes, by their paths in the repository."""

    script: str
    """The path of the script."""
    new: Mapping[str, str]
    """The contents of the new files: the script, and the subagent with its prompt if there is a judgement left."""
    workflow: str
    """The changed workflow file."""
    diff: str
    """The change of the workflow file."""


def draft(promotion: Promotion, workflow: Workflow, source: Source, prompt: str) -> Draft:
    """Return the draft for a workflow; `source` is its file, and `prompt` the text of its prompt."""
    name = promotion.workflow
    fields = judged_fields(promotion, with_answer=gives_an_answer(workflow))
    subagent = f"{name}-judgement"
    script = f"{SCRIPTS}/{name.replace('-', '_')}.py"
    new = {script: script_text(promotion, fields, subagent)}
    subagents: list[str] = []
    if fields:
        subagents = [subagent]
        new[f"{SUBAGENTS}/{subagent}.yaml"] = subagent_yaml(name, fields, workflow.model.name)
        new[f"{SUBAGENTS}/{subagent}.md"] = subagent_prompt(fields, prompt)
    before = "".join(f"{line}\n" for line in source.lines)
    after = with_script(source, script, subagents)
    return Draft(script, new, after, workflow_diff(f"{WORKFLOWS}/{source.file.name}", before, after))


def gives_an_answer(workflow: Workflow) -> bool:
    """Return whether the answers of a workflow reach people or programs."""
    return workflow.reply != "none" or bool(workflow.output)
