"""What a run relies on that is not its own: stores, the model, tools, prices, links, the outside."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.engine.effects import Patience
from gofer.files.document import Fitted
from gofer.journal.blob_store import Blobs
from gofer.journal.store import Store
from gofer.models.abilities import Abilities, Ability, common, load_abilities
from gofer.models.language_model import Model, Refused
from gofer.models.served_model import Endpoint, Prices, ServedModel
from gofer.stores.one_place import Stores
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.messages import ProviderError
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from gofer.workflows.allowed_skills import skills_are_searched, tools_are_searched
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Workflow
from gofer.workflows.script_source import Script
from gofer.workflows.skill import Skill


@dataclass(frozen=True, slots=True)
class Links:
    """Where people look at runs and prompts."""

    base_url: str
    """Gofer's own pages, without a slash at the end; empty where a process has none."""
    prompts: str | None = None
    """Where prompts are edited, with {file}; None means Gofer's own page of the prompt."""
    signs_in: bool = False
    """Whether the pages know who looks, so that private runs have pages for the people concerned."""

    def run_url(self, run: str) -> str:
        """Return the address of the page of a run."""
        return f"{self.base_url}/runs/{run}"

    def provenance(self, workflow: str, prompt_file: str, run: str, private: bool) -> Provenance:
        """The links that everything a run writes ends with; a private run has no link to itself."""
        prompt_url = f"{self.base_url}/prompts/{workflow}"
        run_url = None if private else self.run_url(run)
        if not self.base_url:
            # A process without pages has nothing to link to.
            prompt_url = ""
            run_url = None
        if self.prompts:
            prompt_url = self.prompts.replace("{file}", prompt_file)
        return Provenance(workflow=workflow, prompt_url=prompt_url, run=run, run_url=run_url)


def refuse_all(endpoint: Endpoint) -> Model:
    """Raise Refused: the endpoints of a process that has none beside its own."""
    raise Refused(f"This process reaches no endpoint but its own, and not `{endpoint.name}`.", ProviderError("refused"))


@dataclass(frozen=True, slots=True)
class Services:
    """The same for all runs of a process."""

    stores: Stores
    model: Model
    """The default endpoint."""
    tools: Mapping[str, AnyTool]
    prices: Prices
    """Of what answers in place of a model; other prices come with the models of a workflow."""
    links: Links
    outside: Outside
    patience: Patience = field(default_factory=Patience)
    scripts: Mapping[str, Script] = field(default_factory=dict[str, Script])
    """The Python that decides in some workflows, by file; live, as the code of tools is."""
    installation_key: Secret = field(kw_only=True)
    """What buttons are stamped with and names in rows are hidden by."""
    abilities: Abilities = field(default_factory=load_abilities)
    """What models take beside text, where the files of a run do not say."""
    reach: Callable[[Endpoint], Model] = refuse_all
    """Opens the models behind an endpoint that the files name. Raises Refused when the deployment does not allow it."""
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that the models of the files take at most, by name, where that is known."""
    fit: Callable[[bytes, int], Awaitable[Fitted]] | None = None
    """Makes an image ready for a model, in so many bytes; None where small ones are shown as they are."""
    pages: Callable[[bytes], Awaitable[int]] | None = None
    """How many pages a PDF has; raises ToolError for one that cannot be opened. None where no process looks."""

    @property
    def store(self) -> Store:
        """The journals and the coordination rows beside them."""
        return self.stores.journals

    @property
    def blobs(self) -> Blobs:
        """The bodies that journals name."""
        return self.stores.blobs

    @property
    def tokens(self) -> Tokens:
        """The names that rows hold in place of conversations, people and messages."""
        return Tokens(self.installation_key)

    def ability(self, models: Iterable[ServedModel]) -> Ability:
        """Return what every one of some models takes."""
        return common(model.ability or self.abilities.of(model.name) for model in models)

    def of(self, catalog: Catalog) -> "Services":
        """The same with the scripts and the links of other workflows."""
        links = replace(self.links, prompts=catalog.defaults.prompt_links)
        return replace(self, scripts=catalog.scripts, links=links, windows=catalog.windows())

    def granted(self, workflow: Workflow, skills: Mapping[str, Skill] | None = None) -> Mapping[str, AnyTool]:
        """The tools that the runs of a workflow with some skills may ask for: those it lists, and those every run has.

        What Gofer calls by itself alone is none of them.
        """
        kinds = _kinds(workflow, skills or {})
        base = [tool for kind in kinds for tool in self.tools.values() if tool.base == kind]
        listed = [self.tools[name] for name in workflow.tool_names if name in self.tools]
        # First what most runs share, so that the requests of all workflows begin with the same bytes.
        return {tool.name: tool for tool in [*base, *listed] if not tool.internal}

    def offered(self, loaded: Loaded) -> Sequence[AnyTool]:
        """The tools that stand in the prompt of a run; when a workflow lists too many, they are searched for."""
        granted = self.granted(loaded.workflow, loaded.skills).values()
        searched = tools_are_searched(loaded.workflow)
        return [tool for tool in granted if tool.base or not searched]


def _kinds(workflow: Workflow, skills: Mapping[str, Skill]) -> Sequence[str]:
    """Return the kinds of base tools that the runs of a workflow have, beginning with the kind that most runs have."""
    if workflow.coordinator != "llm":
        return ("all",)
    searched = tools_are_searched(workflow)
    had = {
        "all": True,
        "model": True,
        "plan": workflow.plan != "off",
        "skills": bool(skills),
        "search": searched or skills_are_searched(workflow, skills),
        "calls": searched,
        "subagents": bool(workflow.subagents),
    }
    return [kind for kind, has in had.items() if has]
