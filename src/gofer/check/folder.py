"""The check of a whole folder of workflows, with its scripts, skills and subagents."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from gofer.check.conditions import check_conditions
from gofer.check.dead_names import Former
from gofer.check.destinations import check_destinations
from gofer.check.feedback import check_feedback
from gofer.check.links import check_links
from gofer.check.models import FolderDefaults, check_models
from gofer.check.names import Known
from gofer.check.outputs import check_replies, check_schemas
from gofer.check.outsiders import check_outsiders
from gofer.check.pages import check_hints, check_pages, check_prompts, skill_names, words_of
from gofer.check.refusals import check_refusals
from gofer.check.run_checks import check_run_checks
from gofer.check.scripts import Tools, check_listed, check_scripts, is_script
from gofer.check.skills import check_amount, check_named_skills, check_skills, nameable
from gofer.check.subagents import check_subagents
from gofer.check.tools import check_tools
from gofer.check.triggers import check_triggers
from gofer.models.served_model import OPENAI_ENDPOINT, Endpoint, LookUp, unlisted
from gofer.sources.triggers import WORKPLACE_NAME, WORKPLACE_SOURCE
from gofer.sources.workflow_files import WorkflowForm, names_channel, used_sources
from gofer.tools.definition import AnyTool
from gofer.workflows.form import fill
from gofer.workflows.load import DEFAULTS, workflow_files
from gofer.workflows.mistake import START, Mistake, in_order
from gofer.workflows.schema import Defaults, Workflow
from gofer.workflows.skill import FOLDER as SKILLS
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import FOLDER as SUBAGENTS
from gofer.workflows.subagent import subagent_files
from gofer.workflows.yaml_source import Source, read_source

_NAME = re.compile(r"[a-z0-9-]+")
_OWN_KEY = {"workflow": "when", "subagent": "description"}
"""The key by which a file in another folder looks like a workflow or a subagent."""


def check_folder(
    folder: Path,
    tools: Mapping[str, AnyTool],
    look_up: LookUp = unlisted,
    former: Callable[[], Former] = Former,
    deployed: Endpoint = OPENAI_ENDPOINT,
) -> list[Mistake]:
    """Return every mistake and hint in the files of a folder, sorted by file and line. Never raises.

    `tools` contains all existing tools, and `look_up` is the price list for models without a price in the files.
    `former` returns the names in the history of the files, and `deployed` is the default endpoint. Scripts, skills and
    subagents are in folders beside `folder`.
    """
    workflows = [read_source(path) for path in workflow_files(folder)]
    defaults, filled, mistakes = _defaults(folder / DEFAULTS)
    mistakes += [*_names(folder, "workflow"), *_names(folder.parent / SUBAGENTS, "subagent")]
    skills: dict[str, Skill] = {}
    mistakes += check_skills(folder.parent / SKILLS, skills)
    all_skills = nameable(folder.parent / SKILLS)
    forms: dict[str, Workflow] = {}
    for source in workflows:
        workflow, wrong = fill(source, WorkflowForm)
        mistakes += wrong
        if workflow is not None and workflow.coordinator == "llm":
            mistakes += check_amount(source, workflow.skills, skills)
        if workflow is not None:
            forms[source.file.stem] = workflow
            mistakes += check_destinations(folder.parent, source, workflow, tools)
            mistakes += check_run_checks(source, workflow, filled or Defaults())
            mistakes += check_links(source, workflow.links)
            mistakes += check_outsiders(source, workflow, tools)
        mistakes += check_tools(source, tools)
        mistakes += check_named_skills(all_skills, source)
    mistakes += _owners(workflows, forms, filled or Defaults())
    mistakes += [*check_triggers(workflows), *check_conditions(workflows)]
    subagents = [read_source(path) for path in subagent_files(folder.parent)]
    names = [source.file.stem for source in subagents]
    # A script asks no model itself; only its subagents do.
    asking = [source for source in workflows if not is_script(source)]
    described = FolderDefaults(defaults, filled, look_up, deployed)
    mistakes += check_models([*asking, *subagents], described)
    mistakes += check_refusals(asking, forms, subagents, described)
    known = Known(
        folder.parent,
        tools,
        skills=skill_names(folder.parent),
        subagents=names,
        workflows=[source.file.stem for source in workflows],
        words={*WorkflowForm.model_fields, *(word for one in (*workflows, *subagents) for word in words_of(one))},
        former=former,
    )
    mistakes += check_prompts(folder, workflows, defaults, known)
    mistakes += check_pages(known, subagents)
    mistakes += check_hints(folder, asking, subagents, defaults, known)
    mistakes += [*check_schemas(folder, workflows), *check_replies(workflows)]
    base = [name for name, tool in tools.items() if tool.base == "all"]
    mistakes += check_scripts(folder.parent, workflows, Tools(tools, base), names)
    mistakes += [mistake for source in (*workflows, *subagents) for mistake in check_listed(source, names)]
    mistakes += check_subagents(subagents, tools, all_skills, skills)
    return in_order(mistakes)


def _defaults(path: Path) -> tuple[Source, Defaults | None, list[Mistake]]:
    """Return the defaults of all workflows and their mistakes; None in place of defaults that cannot be read."""
    if not path.exists():
        return Source(path), Defaults(), []
    source = read_source(path)
    defaults, mistakes = fill(source, Defaults)
    if defaults is not None:
        mistakes += check_feedback(source, defaults)
        mistakes += check_links(source, defaults.links)
    return source, defaults, mistakes


def _owners(workflows: Sequence[Source], forms: Mapping[str, Workflow], defaults: Defaults) -> Iterator[Mistake]:
    """Yield the owners outside of the workplace, if something in the folder needs the workplace."""
    use = used_sources(forms, defaults).get(WORKPLACE_SOURCE, "")
    for source in workflows:
        workflow = forms.get(source.file.stem)
        if use and workflow is not None and not names_channel(workflow.owner):
            message = f"`{workflow.owner[:80]}` is no {WORKPLACE_NAME} channel, and {use} needs {WORKPLACE_NAME}."
            hint = f'Write `owner: "#channel"`, or remove what needs {WORKPLACE_NAME} from every file.'
            yield Mistake(source.file, source.place(("owner",)), "owner-without-channel", message, hint)


def _names(folder: Path, kind: Literal["workflow", "subagent"]) -> Iterator[Mistake]:
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*/*.y*ml")):
        if not path.parent.name.startswith(".") and _OWN_KEY[kind] in read_source(path).fields:
            message = f"Gofer reads no {kind} in a folder of `{folder.name}/`."
            yield Mistake(path, START, "ignored-folder", message, f"Move it to `{folder.name}/{path.stem}.yaml`.")
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in (".yml", ".yaml") and path.suffix != ".yaml":
            message = f"Gofer does not read files that end in {path.suffix}."
            yield Mistake(path, START, "ignored-file", message, f"Rename it to `{path.stem}.yaml`.")
        elif path.suffix == ".yaml" and (kind, path.name) != ("workflow", DEFAULTS) and not _NAME.fullmatch(path.stem):
            better = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or kind
            message = f"`{path.stem}` cannot be the name of a {kind}."
            yield Mistake(path, START, "file-name", message, f"Use a-z, 0-9 and `-`, as in `{better}.yaml`.")
