"""The services that all runs of a process share: stores, models, tools, prices, links, and the outside world."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer import __version__
from gofer.engine.drift import Drift, log_drift
from gofer.engine.effects import Patience
from gofer.files.document import Fitted
from gofer.journal.blob_store import Blobs
from gofer.journal.conversations import Conversation, conversation_of
from gofer.journal.store import Store
from gofer.models.abilities import Abilities, Ability, common, load_abilities
from gofer.models.language_model import Model, Refused
from gofer.models.served_model import Endpoint, Prices, ServedModel
from gofer.stores.one_place import Stores
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.installation_key import InstallationKey
from gofer.values.messages import ProviderError
from gofer.values.outside import Outside
from gofer.values.row_tokens import Tokens
from gofer.workflows.allowed_skills import skills_are_searched, tools_are_searched
from gofer.workflows.bundle import Bundle
from gofer.workflows.grants import MOST_WRITES, Grant
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Workflow
from gofer.workflows.script_source import Script
from gofer.workflows.skill import Skill

MODEL = "the model"
"""The name of the models among the systems that answer or are away."""


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses of the pages of runs and prompts."""

    base_url: str
    """The address of Gofer's own pages, without a slash at the end; empty if the process has no pages."""
    prompts: str | None = None
    """The address where people edit prompts, with {file}; None means Gofer's own page of the prompt."""
    signs_in: bool = False
    """Whether people sign in to the pages, so that private runs can have pages for the people concerned."""
    hosts: frozenset[str] = frozenset()
    """The hosts of the company's own systems, such as its issue tracker. Texts for people may link their pages."""

    def run_url(self, run: str) -> str:
        """Return the address of the page of a run."""
        return f"{self.base_url}/runs/{run}"

    def provenance(self, workflow: str, prompt_file: str, run: str, private: bool) -> Provenance:
        """Return the links at the end of every text that a run writes; a private run has no link to itself."""
        prompt_url = ""
        run_url: str | None = None
        # A process without pages has nothing to link to.
        if self.base_url:
            prompt_url = f"{self.base_url}/prompts/{workflow}"
        if self.base_url and not private:
            run_url = self.run_url(run)
        if self.prompts:
            prompt_url = self.prompts.replace("{file}", prompt_file)
        return Provenance(workflow=workflow, prompt_url=prompt_url, run=run, run_url=run_url)


def refuse_all(endpoint: Endpoint) -> Model:
    """Raise Refused, because this process has no endpoint beside its own."""
    raise Refused(
        f"This process has no access to the endpoint `{endpoint.name}`, only to its own.", ProviderError("refused")
    )


def ignore_text(text: str) -> None:
    """Do nothing: this process has no operator to tell."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of a process, the same for all its runs."""

    stores: Stores
    model: Model
    """The models behind the default endpoint."""
    tools: Mapping[str, AnyTool]
    prices: Prices
    """The prices of stand-ins for a model; other prices come with the models of a workflow."""
    links: Links
    outside: Outside
    patience: Patience = field(default_factory=Patience)
    scripts: Mapping[str, Script] = field(default_factory=dict[str, Script])
    """The coordinator scripts, by file. Unlike bundles they are not pinned: a resumed run uses the deployed version."""
    installation_key: InstallationKey = field(kw_only=True)
    """The key that stamps approval buttons and hides names in rows."""
    abilities: Abilities = field(default_factory=load_abilities)
    """The kinds of content that models take beside text, for models that the files of a run do not describe."""
    reach: Callable[[Endpoint], Model] = refuse_all
    """Opener of the models behind an endpoint that the files name. Raises Refused if the deployment forbids it."""
    fit: Callable[[bytes, int], Awaitable[Fitted]] | None = None
    """Converter of an image for a model, to at most so many bytes. With None, small images are shown unchanged."""
    exports_spans: bool = False
    """Whether the spans of ended runs are sent to a collector."""
    pages: Callable[[bytes], Awaitable[int]] | None = None
    """Counter of the pages of a PDF; raises ToolError for a PDF that cannot be opened. None skips the check."""
    bundles: dict[str, tuple[Mapping[str, AnyTool], Loaded, Bundle]] = field(
        default_factory=dict[str, tuple[Mapping[str, AnyTool], Loaded, Bundle]], repr=False, compare=False
    )
    """The bundles with which new runs begin, by workflow, with the tools and the files that they were made of."""
    report_drift: Callable[[Drift], None] = log_drift
    """Called once for each run that is not private and each cause, as soon as a request shows that the context drifts.
    """
    note_away: Callable[[str], None] = ignore_text
    """Called with the name of a system that did not answer a call of a run; of a model, with MODEL."""
    note_answer: Callable[[str], None] = ignore_text
    """Called with the name of a system that answered a call."""
    tell_operator: Callable[[str], None] = ignore_text
    """Called with a notice to an owner without a channel."""
    version: str = __version__
    """The version of Gofer that owners note in their runs."""

    @property
    def store(self) -> Store:
        """The journals and the coordination rows beside them."""
        return self.stores.journals

    @property
    def blobs(self) -> Blobs:
        """The stored bodies that journals refer to."""
        return self.stores.blobs

    @property
    def tokens(self) -> Tokens:
        """The tokens that rows hold in place of conversations, people and messages."""
        return Tokens(self.installation_key)

    async def conversation(self, token: str) -> Conversation:
        """Return the conversation of a head's token, for its lease. Raises TemporaryError."""
        return await conversation_of(token, self.installation_key, self.store)

    def ability(self, models: Iterable[ServedModel]) -> Ability:
        """Return the ability that all of these models have in common."""
        return common(model.ability or self.abilities.of(model.name) for model in models)

    def of(self, catalog: Catalog) -> "Services":
        """Return these services with the scripts and links of a catalog."""
        links = replace(self.links, prompts=catalog.defaults.prompt_links)
        return replace(self, scripts=catalog.scripts, links=links)

    def granted(self, workflow: Workflow, skills: Mapping[str, Skill] | None = None) -> Mapping[str, AnyTool]:
        """Return the tools that the runs of a workflow may call: those that it lists, and those that every run has.

        Tools that only Gofer itself calls are left out.
        """
        return granted_tools(self.tools, workflow, skills or {})

    def new_bundle(self, loaded: Loaded) -> Bundle:
        """Return the bundle with which a run of a loaded workflow begins now. All its runs share one."""
        match self.bundles.get(loaded.name):
            case (tools, begun, bundle) if tools is self.tools and begun is loaded:
                return bundle
            case _:
                bundle = new_bundle(self.tools, loaded)
                self.bundles[loaded.name] = (self.tools, loaded, bundle)
                return bundle


def granted_tools(
    tools: Mapping[str, AnyTool], workflow: Workflow, skills: Mapping[str, Skill]
) -> Mapping[str, AnyTool]:
    """Return those of all tools that the runs of a workflow may call, as `Services.granted` does."""
    kinds = _kinds(workflow, skills)
    base = [tool for kind in kinds for tool in tools.values() if tool.base == kind]
    listed = [_within_bounds(tools[grant.name], grant) for grant in workflow.tools if grant.name in tools]
    # The tools that most runs share come first, so that the requests of all workflows begin with the same bytes.
    return {tool.name: tool for tool in [*base, *listed] if not tool.internal}


def new_bundle(tools: Mapping[str, AnyTool], loaded: Loaded) -> Bundle:
    """Return the bundle with which a run of a loaded workflow begins, with these tools.

    It says how often a model may call each tool that writes. A run that began without such a limit stays without it.
    """
    workflow = loaded.workflow
    if workflow.coordinator == "llm":
        grants = tuple(_bounded(grant, tools.get(grant.name)) for grant in workflow.tools)
        workflow = workflow.model_copy(update={"tools": grants})
    return Bundle(replace(loaded, workflow=workflow), [tool.schema() for tool in offered_tools(tools, loaded)])


def _bounded(grant: Grant, tool: AnyTool | None) -> Grant:
    if grant.most is not None or tool is None or tool.effect == "read":
        return grant
    return grant.model_copy(update={"most": MOST_WRITES})


def _within_bounds(tool: AnyTool, grant: Grant) -> AnyTool:
    if not grant.arguments:
        return tool
    return replace(tool, bounds=grant.arguments)


def offered_tools(tools: Mapping[str, AnyTool], loaded: Loaded) -> Sequence[AnyTool]:
    """Return those of all tools that are in the prompt of a run. If a workflow lists too many, the run searches."""
    granted = granted_tools(tools, loaded.workflow, loaded.skills).values()
    searched = tools_are_searched(loaded.workflow)
    return [tool for tool in granted if tool.base or not searched]


def _kinds(workflow: Workflow, skills: Mapping[str, Skill]) -> Sequence[str]:
    """Return the kinds of base tools that the runs of a workflow have, the most common kind first."""
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
