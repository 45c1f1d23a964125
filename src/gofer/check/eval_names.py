"""The parts of Gofer and of a repository that eval files and goldens name."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gofer.check.eval_calls import Granted
from gofer.check.pages import skill_names
from gofer.evals.case_begin import FileOrData, Trigger
from gofer.evals.eval_file import Eval
from gofer.tools.definition import AnyTool
from gofer.workflows.load import workflow_files
from gofer.workflows.mistake import Mistake
from gofer.workflows.sentences import close_match
from gofer.workflows.subagent import subagent_files
from gofer.workflows.yaml_source import Source, read_source

Starts = Callable[[Eval, FileOrData | None, Trigger, Path], str]
"""Returns why a trigger does not start the workflow of an eval in a world, as one sentence; empty if it does. The path
is the folder of the file."""
WorldProblem = Callable[[FileOrData, Path, float, Collection[str]], str]
"""Returns what is wrong with a world at a time (unix seconds), as one sentence; empty for a correct one. The path is
the folder of its file; the collection has the systems that a world may have."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The parts of Gofer and of the repository that eval files name."""

    agents: Path
    """The folder of the workflow files; skills and subagents are beside it."""
    tools: Mapping[str, AnyTool]
    simulators: Collection[str]
    """The systems that have a simulator."""
    starts: Starts
    world_problem: WorldProblem
    today: date

    @property
    def company_systems(self) -> Mapping[str, bool]:
        """The systems of a company's tools by their key, and whether a mock keeps their state."""
        tools = [tool for tool in self.tools.values() if tool.system_key and tool.system_key not in self.simulators]
        kept = {tool.system_key for tool in tools if tool.keeps_state}
        return {tool.system_key: tool.system_key in kept for tool in tools}

    @property
    def systems(self) -> Collection[str]:
        """The systems that a world may have: those with a simulator, and those with a state that mocks keep."""
        return (*self.simulators, *(name for name, is_kept in self.company_systems.items() if is_kept))


class EvalNames:
    """The workflows, subagents and skills of a repository, read once for all its evals and goldens."""

    def __init__(self, repository: Repository) -> None:
        root = repository.agents.parent
        self.repository = repository
        self.workflows = {path.stem: read_source(path) for path in workflow_files(repository.agents)}
        self._subagents = [read_source(path) for path in subagent_files(root)]
        self._skills = skill_names(root)

    def granted(self, workflow: str) -> Granted:
        """Return the tools of a workflow."""
        return Granted(self.repository.tools, self.workflows[workflow], self._subagents, self._skills)

    def unknown_workflow(self, source: Source, name: str) -> Mistake:
        """Return the mistake of a file with a `workflow` that names no workflow."""
        hint = "Write the name of a file of agents/ without `.yaml`."
        if meant := close_match(name, self.workflows):
            hint = f"Write `{meant}`."
        message = f"There is no workflow `{name[:80]}`."
        return Mistake(source.file, source.place(("workflow",)), "unknown-workflow", message, hint)
