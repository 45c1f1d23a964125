"""A run with subagents for tests of the engine, and a model that answers each of them."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gofer.engine import loop, script
from gofer.engine.loop import Ending
from gofer.engine.own_step import OwnStep
from gofer.engine.subagent_runs import working_step_of
from gofer.files.child import Children
from gofer.journal.entries import MessageReceived, Recorded, SubagentStarted
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.files.tools import TOOLS as FILE_TOOLS
from gofer.tools.plan import TOOLS as PLAN_TOOLS
from gofer.tools.search import TOOLS as SEARCH_TOOLS
from gofer.tools.skills import TOOLS as SKILL_TOOLS
from gofer.tools.subagent import TOOLS as SUBAGENT_TOOLS
from gofer.workflows.allowed_skills import granted_skills
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Subagent
from gofer.workflows.skill import Skill
from gofer.workflows.subagent import LoadedSubagent, reached
from support.engine.memory_run import PROVENANCE, MemoryRun, says
from support.models.served import served

SKILLED = bind_all((*SKILL_TOOLS, *SEARCH_TOOLS), None)
BASE = {
    tool.name: tool
    for tool in (
        *bind_all(FILE_TOOLS, Children()),
        *bind_all((*PLAN_TOOLS, *SUBAGENT_TOOLS), None),
        *SKILLED,
    )
}


@dataclass(frozen=True)
class Asked:
    """A request, parsed."""

    system: str
    prompt: str
    """The first message, without the time."""
    turn: int
    """The number of answers before this request."""
    said: Sequence[str]
    """Every message except the last, which is the tail."""
    tools: frozenset[str]
    body: bytes


@dataclass
class ModelOfMany:
    """A model that answers each request by a function."""

    think: Callable[[Asked], Answer | Exception]
    asked: list[Asked] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        request = json.loads(body)
        messages = request["messages"]
        one = Asked(
            messages[0]["content"],
            messages[1]["content"].rpartition(" UTC.\n\n")[2],
            sum(message["role"] == "assistant" for message in messages),
            [str(message.get("content")) for message in messages[1:-1]],
            frozenset(tool["function"]["name"] for tool in request.get("tools", [])),
            body,
        )
        self.asked.append(one)
        # Other agents continue meanwhile, as they do while a provider answers.
        await asyncio.sleep(0)
        answer = self.think(one)
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class RunWithSubagents(MemoryRun):
    """A run that may ask subagents."""

    many: ModelOfMany = field(default_factory=lambda: ModelOfMany(lambda asked: says("?")))
    listed: tuple[str, ...] = ()
    """The names of the subagents that the run may ask."""
    more: dict[str, object] = field(default_factory=dict)
    """Further keys of the workflow."""

    skills: dict[str, Skill] = field(default_factory=dict)
    """All skills by name."""
    withdrawn: frozenset[str] = frozenset()
    """The skills that its workflow prohibits meanwhile."""

    def subagent(self, name: str, **keys: object) -> None:
        """Declare a subagent that the run may ask."""
        one = Subagent.model_validate({"description": f"does {name}", **keys})
        named = {*one.skills.required, *(one.skills.allowed or ())}
        skills = {name: it for name, it in self.skills.items() if name in named}
        self.subagents[name] = LoadedSubagent(one, f"You are {name}.", served("m"), skills)
        self.listed = (*self.listed, name)

    def services(self):
        made = super().services()
        return type(made)(
            made.stores,
            self.many,
            {**self.tools, **BASE},
            made.prices,
            made.links,
            made.outside,
            made.patience,
            made.scripts,
            installation_key=made.installation_key,
        )

    def bundle(self) -> Bundle:
        workflow = Workflow.model_validate(
            {
                "description": "d",
                "owner": "#o",
                "when": ["slack.mention"],
                "tools": list(self.tools),
                "limits": self.limits.model_dump(),
                "subagents": list(self.listed),
                "coordinator": "script" if self.script else "llm",
                "coordinator_script": "coordinators/s.py" if self.script else "",
                **self.more,
            }
        )
        loaded = Loaded(
            "answer-here",
            workflow,
            "You are a test.",
            "agents/answer-here.md",
            served(*self.models),
            subagents=reached(self.subagents, self.listed),
            skills=granted_skills(workflow.skills, self.skills),
        )
        return self.services().new_bundle(loaded)

    async def owned_step(self, owner: str = "me") -> OwnStep:
        """Return the step of a new owner, as `owner.py` passes it to a coordinator."""
        step = await self.step(owner)
        if not step.conversation.parts and not self.script:
            step.note(MessageReceived("please"))
        await step.commit()
        return step

    async def resume(self, owner: str = "me") -> Ending:
        """Coordinate the run from its current state as a new owner, and commit at the end."""
        return await self.resume_with(await self.owned_step(owner))

    async def resume_with(self, step: OwnStep) -> Ending:
        """Coordinate the run with an existing step, and commit at the end."""
        coordinate = script.coordinate if self.script else loop.coordinate
        try:
            bundle = step.bundle = self.bundle()
            working = working_step_of(step, bundle, alone=True, withdrawn=self.withdrawn)
            return await coordinate(working, bundle, PROVENANCE)
        finally:
            await step.commit()

    async def subagent_journals(self, run: str = "run1") -> dict[str, Sequence[Recorded]]:
        """Return the journals of all subagents of a run, by call."""
        found: dict[str, Sequence[Recorded]] = {}
        for recorded in await read_journal(run, self.store, self.blobs):
            if isinstance(recorded.entry, SubagentStarted) and recorded.entry.run:
                found[recorded.entry.call] = await read_journal(recorded.entry.run, self.store, self.blobs)
                found |= {
                    f"{recorded.entry.call}>{call}": it
                    for call, it in (await self.subagent_journals(recorded.entry.run)).items()
                }
        return found


def run_with_subagents(think: Callable[[Asked], Answer | Exception]) -> RunWithSubagents:
    made = RunWithSubagents(None, {})  # type: ignore[arg-type]
    made.many = ModelOfMany(think)
    return made
