"""What nobody used for thirty days: workflows without runs, and granted skills and tools that no run used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.runtime.weekly.figures import Figures
from gofer.sources.runs.follow_ups import SOURCE
from gofer.workflows.allowed_skills import loadable
from gofer.workflows.load import Loaded

FEWEST_RUNS = 10
"""The runs of a workflow from which on an unused skill or tool is named."""


@dataclass(frozen=True, slots=True)
class Unused:
    """What one workflow did not use."""

    workflow: str
    is_idle: bool = False
    """Whether the workflow had no run that is not private."""
    skills: tuple[str, ...] = ()
    """The skills that its runs may load and that none loaded."""
    tools: tuple[str, ...] = ()
    """The tools of its file that no run called."""


def unused(workflows: Mapping[str, Loaded], figures: Mapping[str, Figures]) -> Sequence[Unused]:
    """Return what each workflow did not use, without workflows that used everything. The order is that of the names."""
    found = [_unused(workflows[name], figures[name]) for name in sorted(figures)]
    return [one for one in found if one.is_idle or one.skills or one.tools]


def _unused(loaded: Loaded, figures: Figures) -> Unused:
    used = figures.month
    if not used.runs:
        return Unused(loaded.name, is_idle=not _waits_for_runs(loaded))
    # The facts of a long run leave out the tools and skills that it used least.
    if used.runs < FEWEST_RUNS or figures.uncertain:
        return Unused(loaded.name)
    skills = [skill.name for skill in loadable(loaded.workflow, loaded.skills) if not used.skills[skill.name]]
    tools = [name for name in loaded.workflow.tool_names if name not in used.tools]
    if loaded.workflow.coordinator != "llm":
        skills = []
    return Unused(loaded.name, skills=tuple(sorted(skills)), tools=tuple(sorted(tools)))


def _waits_for_runs(loaded: Loaded) -> bool:
    """Return whether only what follows other runs starts the workflow. Without bad news it rightly has no run."""
    return all(trigger.kind.partition(".")[0] == SOURCE for trigger in loaded.workflow.when)
