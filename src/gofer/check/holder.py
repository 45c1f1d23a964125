"""The tools, skills and subagents of a workflow or a subagent, as far as its file tells.

A key in a wrong form is reported elsewhere and counts as granted here.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from gofer.check.tools import granted
from gofer.tools.definition import AnyTool
from gofer.values.canonical_json import as_list, as_object
from gofer.workflows.yaml_source import Source


@dataclass(frozen=True, slots=True)
class Holder:
    """A workflow or a subagent, by its YAML file."""

    source: Source
    kind: Literal["workflow", "subagent"]

    def has_tool(self, tool: AnyTool, skills: Collection[str]) -> bool:
        """Return whether its model is offered a tool, or can search for it; `skills` are all that there are."""
        match tool.base:
            case "":
                inherits = self.kind == "subagent" and isinstance(self.source.fields.get("tools"), str)
                return inherits or tool.name in granted(self.source)
            case "plan":
                # YAML reads a bare `off` as false.
                return self.source.fields.get("plan", self._unsaid("optional", "off")) not in ("off", False)
            case "subagents":
                return self._asks()
            case "skills":
                return any(map(self.has_skill, skills))
            case _:
                # Those that depend on how much a run has cannot be determined here.
                return True

    def has_skill(self, name: str) -> bool:
        """Return whether its prompt has a skill, or it may load it."""
        fields = self.source.fields
        skills = as_object(fields.get("skills"))
        chosen = [*as_list(skills.get("required")), *as_list(skills.get("allowed"))]
        open_to_all = self.kind == "workflow" and not isinstance(skills.get("allowed"), list)
        return (open_to_all or name in chosen) and name not in as_list(skills.get("prohibited"))

    def has_subagent(self, name: str) -> bool:
        """Return whether it may ask a subagent."""
        fields = self.source.fields
        if isinstance(fields.get("subagents"), list):
            return name in as_list(fields["subagents"])
        return self._asks()

    def _asks(self) -> bool:
        chosen = self.source.fields.get("subagents")
        if chosen is None:
            # A script may ask all of them, and a model none.
            return self.source.fields.get("coordinator") == "script"
        return chosen != []

    def _unsaid(self, workflow: str, subagent: str) -> str:
        if self.kind == "workflow":
            return workflow
        return subagent
