"""What does a run rely on that is not its own: stores, the model, tools, prices, links, the outside?"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gofer.blobs.store import Blobs
from gofer.engine.effects import Patience
from gofer.journal.store import Store
from gofer.models.abilities import Abilities
from gofer.models.model import Model
from gofer.models.prices import Prices
from gofer.outside import Outside
from gofer.secret import Secret
from gofer.tools.tool import Provenance, Tool
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Workflow
from gofer.workflows.script import Script


@dataclass(frozen=True, slots=True)
class Links:
    """Where people look at runs and prompts."""

    base_url: str
    """Gofer's own pages, without a slash at the end."""
    prompts: str | None = None
    """Where prompts are edited, with {file}; None means Gofer's own page of the prompt."""

    def provenance(self, workflow: str, prompt_file: str, run: str, private: bool) -> Provenance:
        """The links that everything a run writes ends with; a private run has no link to itself."""
        own_page = f"{self.base_url}/prompts/{workflow}"
        prompt_url = self.prompts.replace("{file}", prompt_file) if self.prompts else own_page
        return Provenance(workflow, prompt_url, run, None if private else f"{self.base_url}/runs/{run}")


@dataclass(frozen=True, slots=True)
class Services:
    """The same for all runs of a process."""

    store: Store
    blobs: Blobs
    model: Model
    tools: Mapping[str, Tool[Any]]
    prices: Prices
    links: Links
    outside: Outside
    patience: Patience = field(default_factory=Patience)
    scripts: Mapping[str, Script] = field(default_factory=dict[str, Script])
    """The Python that decides in some workflows, by file; live, as the code of tools is."""
    installation_key: Secret = field(default_factory=lambda: Secret(""))
    """What buttons are stamped with, so that nobody else can make one; empty where nothing is ever asked for."""
    abilities: Abilities = field(default_factory=lambda: Abilities({}))
    """What each model takes."""

    def of(self, catalog: Catalog) -> "Services":
        """The same with the scripts and the links of other workflows."""
        links = replace(self.links, prompts=catalog.defaults.prompt_links)
        return replace(self, scripts=catalog.scripts, links=links)

    def granted(self, workflow: Workflow) -> Mapping[str, Tool[Any]]:
        """The tools that the runs of a workflow may ask for: those it lists, and those that every run has.

        What Gofer calls by itself alone is none of them.
        """
        listed = {name: self.tools[name] for name in workflow.tool_names if name in self.tools}
        kinds = ("all", "model") if workflow.coordinator == "llm" else ("all",)
        kinds += ("subagents",) if workflow.coordinator == "llm" and workflow.subagents else ()
        kinds += ("plan",) if workflow.coordinator == "llm" and workflow.plan != "off" else ()
        base = {name: tool for name, tool in self.tools.items() if tool.base in kinds}
        return {name: tool for name, tool in {**listed, **base}.items() if not tool.internal}
