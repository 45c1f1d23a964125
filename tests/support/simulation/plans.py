"""The plan of a seed: workflow, mentions, approvers, and calls that happen once per message."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values.events import Event
from gofer.workflows.grants import Approve, Grant
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults, Limits, Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.models.served import served
from support.simulation.delegating_runs import HELPER, delegating
from support.simulation.people import LEAD
from support.stand_ins import mention

LIMITS = Limits(tool_calls=100, llm_calls=100, tokens=10**9, minutes=10**6, usd=1e9)
TOOLS = ("search", "page", "ticket", "mail")
GRANTS = tuple(Grant(name=name, most=100) for name in TOOLS)
"""The tools, which the model of a schedule calls more often than a model may by default."""
WORKFLOW = Workflow(
    description="d", owner="#o", when=("slack.mention",), tools=GRANTS, limits=LIMITS, private_channels="allow"
)
APPROVED = (("page",), ("ticket",), ("mail",), ("ticket", "mail"))
"""Tools whose calls need an approval, one choice for a schedule."""
PRIVATE = replace(mention(ts="1.0"), private=True)
"""The mention whose run is deleted as soon as it ended."""
CODE = """
from gofer.coordinator import Run, ToolFailed


async def attempt(run, tool, text):
    try:
        await run.call(tool, text=text)
    except ToolFailed:
        pass


async def pair(run, word):
    await attempt(run, "search", word)
    await attempt(run, "ticket", "same")
    await attempt(run, "page", word)


async def ask(run):
    try:
        return await run.subagent("s", f"{run.now():%H}?")
    except ToolFailed:
        return ""


async def coordinate(run):
    lots = run.random()
    words = [str(lots.randrange(10**9)) for _ in range(4)]
    await attempt(run, "ticket", words[0])
    await run.gather(pair(run, words[1]), ask(run), pair(run, words[2]), attempt(run, "mail", words[3]))
    await attempt(run, "mail", words[1] + await ask(run))
    return "Done."
"""
SCRIPT = Script("coordinators/s.py", {"s": CODE})
"""A script with several branches at once."""
ASKED = LoadedSubagent(Subagent(description="d"), "Be brief.", served("m", "n"))


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one schedule."""

    workflow: Workflow
    events: Sequence[Event]
    script: bool
    """Whether a script decides, with branches that are under way at once, and not a model."""
    once: str = ""
    """The tool that has one effect for each message; empty for none."""
    stopped: int = 1
    """The number of the event whose run may be cancelled."""
    delegates: bool = False
    """Whether its runs have long results, a small window and subagents in runs of their own."""

    @property
    def catalog(self) -> Catalog:
        """The workflow as workers load it."""
        asked = {"s": HELPER if self.delegates else ASKED}
        if not self.script:
            loaded = Loaded("w", self.workflow, "Simulate.", "agents/w.md", served("m", "n"))
            return Catalog({"w": replace(loaded, subagents=asked) if self.delegates else loaded}, Defaults())
        scripted = self.workflow.model_copy(update={"coordinator": "script", "coordinator_script": SCRIPT.file})
        loaded = Loaded("w", scripted, "", SCRIPT.file, served("m"), subagents=asked)
        return Catalog({"w": loaded}, Defaults(), scripts={SCRIPT.file: SCRIPT})

    @property
    def asks(self) -> bool:
        """Return whether people are asked for approvals."""
        return self.workflow.approve is not None or self.workflow.private_channels == "reply_only"

    def gates(self, event: Event, tool: str, effect: str) -> list[str]:
        """Return the approvals that a call needs: for the call, and for leaving a private channel."""
        approve = self.workflow.approve
        leaves = self.workflow.private_channels == "reply_only" and event.private and effect != "read"
        return ["call"] * (approve is not None and tool in approve.tools) + ["leaving"] * bool(leaves)


def plan(seed: int) -> Plan:
    """Return the plan of a seed; one of seventeen uses subagents in addition."""
    made = _plan(seed)
    return replace(made, workflow=delegating(made.workflow), delegates=True) if seed % 17 == 2 else made


def _plan(seed: int) -> Plan:
    """Of five schedules one is plain, one has approvals, one asks before something leaves a private channel, and two do
    something once per message, in one conversation and in two."""
    events = [PRIVATE, mention(ts="2.0", channel="C2"), mention(ts="3.0", channel="C2")]
    events[2] = replace(events[2], conversation=events[1].conversation)
    script, chance = seed % 4 == 3, random.Random(f"plan {seed}")
    match seed % 5:
        case 1:
            return Plan(_workflow(approve=chance.choice(APPROVED)), events, script)
        case 2:
            return Plan(_workflow(private_channels="reply_only"), events, script, stopped=0)
        case 3:
            events[2] = replace(events[2], place=events[1].place)
            once = chance.choice(("page", "ticket"))
            return Plan(_workflow(once=once), events, script, once)
        case 4:
            # The first of the two may be private, and so be deleted before the other one looks for its result.
            first = chance.choice(events[:2])
            events[2] = replace(events[2], place=first.place, conversation="slack:elsewhere")
            once = chance.choice(("page", "ticket", "mail"))
            approve = (once,) if chance.random() < 0.3 else ()
            return Plan(_workflow(once=once, approve=approve), events, script, once)
        case _:
            return Plan(WORKFLOW, events, script)


def _workflow(*, once: str = "", approve: Sequence[str] = (), private_channels: str = "allow") -> Workflow:
    changes: dict[str, object] = {"private_channels": private_channels}
    if once:
        changes["tools"] = tuple(
            grant.model_copy(update={"once": "per_message"}) if grant.name == once else grant for grant in GRANTS
        )
    if approve:
        changes["approve"] = Approve(tools=tuple(approve), by=(LEAD,), expires="5 minutes")
    return WORKFLOW.model_copy(update=changes)
