"""What a workflow could do at worst, if its model obeyed an attacker: one paragraph, from its file and its tools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.triggers import ASKING, DESTINATIONS, SERVING
from gofer.tools.definition import AnyTool
from gofer.workflows.grants import MOST_WRITES, Grant
from gofer.workflows.schema import Workflow

_OUTSIDE = ("guests", "externals", "everyone")
"""The entries of `who` that admit people from outside the company, in every system."""
_NAMES = {"customers": "customers of service projects", "anonymous": "events that name no person"}
"""Entries of `who` in plain words, where these differ."""


def worst_case(workflow: Workflow, tools: Mapping[str, AnyTool]) -> str:
    """Return what a workflow could do at worst. `tools` are all tools by name."""
    reach = Reach(workflow, tools)
    return " ".join([*_starts(workflow), *_reads(reach), *_writes(reach), _harm(reach)])


def outsiders(workflow: Workflow) -> Sequence[str]:
    """Return the entries of `who` by which people from outside the company start a workflow."""
    found = [entry for entry in workflow.who if entry in _OUTSIDE]
    if "customers" in workflow.who and _serves(workflow):
        found.append("customers")
    return found


@dataclass(frozen=True, slots=True)
class Reach:
    """The outside systems that the runs of a workflow reach."""

    workflow: Workflow
    tools: Mapping[str, AnyTool]

    @property
    def listed(self) -> Sequence[tuple[Grant, AnyTool]]:
        """The tools that reach a system outside, as the workflow lists them."""
        granted = [(grant, self.tools[grant.name]) for grant in self.workflow.tools if grant.name in self.tools]
        return [(grant, tool) for grant, tool in granted if tool.target.system]

    @property
    def readers(self) -> Sequence[AnyTool]:
        """The tools that read."""
        return [tool for _, tool in self.listed if tool.effect == "read"]

    @property
    def private(self) -> Mapping[str, Sequence[str]]:
        """The entries of `reads`, by the system of a tool that reads them."""
        systems = {_key(tool): tool for tool in self.readers}
        entries = {key: self.workflow.reads.entries(key) for key in systems}
        return {systems[key].target.system: listed for key, listed in entries.items() if listed}

    @property
    def asked(self) -> Sequence[str]:
        """The tools of which people approve every call before it is made."""
        if self.workflow.approve is None:
            return ()
        return self.workflow.approve.tools

    @property
    def writers(self) -> Sequence[tuple[Grant, AnyTool]]:
        """The tools that write."""
        return [(grant, tool) for grant, tool in self.listed if tool.effect != "read"]

    @property
    def unasked(self) -> Sequence[tuple[Grant, AnyTool]]:
        """The writing tools whose calls need no approval where the run may write."""
        return [(grant, tool) for grant, tool in self.writers if tool.name not in self.asked]

    @property
    def has_model(self) -> bool:
        """Whether a model decides the next step."""
        return self.workflow.coordinator == "llm"


def _key(tool: AnyTool) -> str:
    """Return the key of a tool's system in workflow files."""
    return tool.name.partition("_")[0]


def _starts(workflow: Workflow) -> Iterator[str]:
    kinds = dict.fromkeys(trigger.kind for trigger in workflow.when)
    if kinds:
        has_customers = _serves(workflow)
        people = [_NAMES.get(entry, entry) for entry in workflow.who if entry != "customers" or has_customers]
        yield f"It is started by {_listed(_ticked(kinds))}, for {_listed(people or workflow.who)}."
    else:
        yield "No event starts it."
    for hook in (trigger.hook for trigger in workflow.when if trigger.hook and trigger.hook.fields):
        yield f"Of a call of `{hook.name}` it gets only {_listed(_ticked(hook.fields))}."


def _reads(reach: Reach) -> Iterator[str]:
    systems = dict.fromkeys(tool.target.system for tool in reach.readers)
    if not systems:
        yield "It reads only what it is about."
        return
    yield f"It reads {_listed(systems)}: the place where it was started, and what all members or its asker may read."
    for system, entries in reach.private.items():
        yield f"Of what only some people see, it reads {_listed(entries)} in {system}."


def _writes(reach: Reach) -> Iterator[str]:
    if not reach.unasked:
        yield "It writes nothing outside without asking."
    for grant, tool in reach.unasked:
        yield f"Without asking, it calls `{tool.name}`{_bounds(reach, grant)}{_places(reach, tool)}."
    if reach.asked and reach.workflow.approve:
        approvers = _listed(reach.workflow.approve.by, "or")
        yield f"It asks {approvers} before each call of {_listed(_ticked(reach.asked))}."
    if reach.writers and _asks(reach.workflow):
        yield "It asks its asker before it writes in any other place."
    if reach.workflow.links:
        yield f"Its texts may link each page of {_listed(reach.workflow.links)}."


def _bounds(reach: Reach, grant: Grant) -> str:
    most = grant.most
    if most is None and reach.has_model:
        most = MOST_WRITES
    bounds = [f" at most {most} times in a run,"] * (most is not None)
    bounds += [" once for each message, issue or page,"] * (grant.once is not None)
    if grant.arguments:
        bounds.append(f" with bounds for {_listed(_ticked(grant.arguments))},")
    return "".join(bounds)


def _places(reach: Reach, tool: AnyTool) -> str:
    """Return where a call goes without a question."""
    system = _key(tool)
    entries = reach.workflow.writes.entries(system)
    if system not in DESTINATIONS or tool.target.where is None:
        return f" in {tool.target.system}: anywhere"
    places = ["where it was started"] * (tool.target.writes is not None and system in _origins(reach.workflow))
    places += ["where its asker's own words say"] * _asks(reach.workflow)
    if entries:
        places.append(f"in {_listed(entries)}")
    return f" in {tool.target.system}: {_listed(places or ('nowhere',), 'or')}"


def _origins(workflow: Workflow) -> frozenset[str]:
    """Return the sources of the events that start a workflow."""
    return frozenset(trigger.kind.partition(".")[0] for trigger in workflow.when)


def _asks(workflow: Workflow) -> bool:
    """Return whether a person may start a workflow whom Gofer can ask about a place."""
    return not _origins(workflow).isdisjoint(ASKING)


def _serves(workflow: Workflow) -> bool:
    """Return whether customers may start a workflow if its key `who` admits them."""
    return not _origins(workflow).isdisjoint(SERVING)


def _harm(reach: Reach) -> str:
    """Return what is left to a model that obeys an attacker."""
    if not reach.has_model:
        return "A script decides each step, so a text that it reads changes only values, and what its subagents answer."
    harmed = ["its answer false"] * (reach.workflow.reply != "none")
    if reach.unasked:
        harmed.append("these calls say what the attacker wants, or what it read, to all who can read those places")
    return f"At worst, a text that it reads makes {_listed(harmed or ('it do nothing',))}."


def _ticked(names: Iterable[str]) -> Sequence[str]:
    return [f"`{name}`" for name in names]


def _listed(names: Iterable[str], last: str = "and") -> str:
    """Return names as a phrase: `a, b and c`."""
    *others, end = names
    if not others:
        return end
    return f"{', '.join(others)} {last} {end}"
