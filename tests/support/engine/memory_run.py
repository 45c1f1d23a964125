"""A run for tests of the engine: memory stores, tools that record their calls, and a model with prepared answers."""

import json
import textwrap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gofer.engine import loop, script
from gofer.engine.effects import Patience
from gofer.engine.loop import Ending
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.engine.permitted_call import Gate, Permitted, SubagentCall, permit_all
from gofer.engine.results import DisplayLimits
from gofer.engine.services import Links, Services
from gofer.engine.step import CallContext, attempt
from gofer.engine.working_step import Agents, WorkingStep
from gofer.journal.entries import Effect, Entry, MessageReceived, Recorded, RunOwned, RunStarted, SubagentFinished
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.journal.store import Store
from gofer.models.language_model import Answer, RemoteModel
from gofer.models.served_model import Price, Prices
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.definition import Arguments, Call, InDoubt, Provenance, Repertoire, Target, Tool, ToolResult
from gofer.values.errors import TemporaryError
from gofer.values.messages import ToolAsk, Usage
from gofer.values.outside import Http
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Limits
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.models.served import served
from support.stand_ins import KEY, SetClock, claimed, make_outside

PROVENANCE = Provenance("answer-here", "http://localhost/prompts/answer-here", "run1", "http://localhost/runs/run1")
PRICES = Prices({"m": Price(input=1.0, cached_input=0.1, output=10.0, cache_write=2.0)})


class Unguarded:
    """A guard that allows every call."""

    async def clear(self, step: OwnStep, item: Permitted, provenance: Provenance) -> Permitted:
        return item


class NoAgents:
    """The subagents of a run that asks none. Searches are answered by their tool."""

    async def ask(
        self, step: WorkingStep, asked: SubagentCall, provenance: Provenance, gate: Gate = permit_all
    ) -> SubagentFinished:
        raise AssertionError(f"{asked.name} is asked in a run without subagents")

    async def answer(self, step: WorkingStep, item: Permitted, provenance: Provenance) -> Sequence[Entry]:
        sight = CallContext(
            provenance=provenance, shown=step.shown, repertoire=step.repertoire, long_as_file=not item.for_script
        )
        return await attempt(step.own, item, "", sight)


def at_work(
    own: OwnStep,
    bundle: Bundle | None = None,
    *,
    shown: DisplayLimits | None = None,
    agents: Agents | None = None,
    withdrawn: frozenset[str] = frozenset(),
) -> WorkingStep:
    """Return a working step that allows every call. Without a bundle it has every tool of its services."""
    repertoire = Repertoire(own.services.tools)
    if bundle is not None:
        loaded = bundle.loaded
        tools = own.services.granted(loaded.workflow, loaded.skills)
        repertoire = Repertoire(tools, loaded.skills, frozenset(loaded.workflow.skills.required), withdrawn)
    return WorkingStep(
        own=own, guard=Unguarded(), agents=agents or NoAgents(), repertoire=repertoire, shown=shown or DisplayLimits()
    )


async def coordinate(own: OwnStep, bundle: Bundle, provenance: Provenance) -> Ending:
    """Coordinate a run by its model, with a guard that allows every call."""
    return await loop.coordinate(at_work(own, bundle), bundle, provenance)


class Said(Arguments):
    """The arguments of a recording tool."""

    text: str = ""


@dataclass
class ListModel:
    """A model that returns prepared answers in order, and records its requests."""

    answers: list[Answer | Exception]
    requests: list[bytes] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        self.requests.append(body)
        self.timeouts.append(timeout)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class RemoteListModel(ListModel, RemoteModel):
    """A model behind HTTP that records what is added to its requests."""

    added: list[Mapping[str, object]] = field(default_factory=list)

    def within(self, traceparent: str) -> "RemoteListModel":
        return self

    def using(self, api: str) -> "RemoteListModel":
        return self

    def adding(self, fields: Mapping[str, object]) -> "RemoteListModel":
        self.added.append(fields)
        return self


def says(text: str, *asks: tuple[str, dict[str, object] | str], tokens: int = 10) -> Answer:
    """Return an answer with tool calls, given as (tool, arguments)."""
    made = tuple(
        ToolAsk(f"call_{i}", tool, args if isinstance(args, str) else json.dumps(args))
        for i, (tool, args) in enumerate(asks)
    )
    return Answer(text, made, "tool_calls" if made else "stop", "m", Usage(tokens, 1, 0))


@dataclass
class MemoryRun:
    """A run and its parts: stores, tools, model and clock."""

    model: ListModel
    tools: dict[str, Tool[Any]]
    clock: SetClock = field(default_factory=SetClock)
    store: Store = field(default_factory=MemoryStore)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    acted: list[str] = field(default_factory=list)
    """`tool:text` of every effect, in the order in which they began."""
    marked: dict[str, ToolResult] = field(default_factory=dict)
    """The results that a lookup finds, by the key of the call."""
    limits: Limits = field(default_factory=Limits)
    patience: Patience = field(default_factory=lambda: Patience(backoff=0.001))
    http: Http | None = None
    deadline: Deadline | None = None
    models: tuple[str, ...] = ("m",)
    output: object = None
    script: str = ""
    """The text of coordinators/s.py, which coordinates instead of the model. `modules` has the modules beside it."""
    modules: dict[str, str] = field(default_factory=dict)
    subagents: dict[str, LoadedSubagent] = field(default_factory=dict)

    def tool(self, name: str, effect: Effect, act: Callable[[Call, Said], Awaitable[ToolResult]] | None = None) -> None:
        """Declare a tool. Without `act` it only records the call."""

        async def record(call: Call, said: Said) -> ToolResult:
            self.acted.append(f"{name}:{said.text}")
            if act is not None:
                return await act(call, said)
            self.marked[call.key] = ToolResult(f"{name} did {said.text}", f"{name} done", {"text": said.text})
            return self.marked[call.key]

        async def look(call: Call, said: Said) -> ToolResult | None:
            return self.marked.get(call.key)

        self.tools[name] = Tool(
            name,
            f"does {name}",
            effect,
            Said,
            record,
            timeout=5.0,
            in_doubt=InDoubt(look=look if effect == "lookup" else None),
            target=Target(destination=lambda said: said.text),
        )

    def services(self) -> Services:
        outside, links = make_outside(self.clock, self.http), Links("http://localhost")
        code = Script("coordinators/s.py", {"s": textwrap.dedent(self.script), **self.modules})
        scripts = {code.file: code} if self.script else {}
        return Services(
            Stores(self.store, self.blobs, MemoryQueue(self.clock)),
            self.model,
            self.tools,
            PRICES,
            links,
            outside,
            self.patience,
            scripts,
            installation_key=KEY,
        )

    def bundle(self) -> Bundle:
        workflow = Workflow(
            description="d",
            owner="#o",
            when=("slack.mention",),
            tools=tuple(self.tools),
            limits=self.limits,
            output=self.output,
            coordinator="script" if self.script else "llm",
            coordinator_script="coordinators/s.py" if self.script else "",
        )
        loaded = Loaded(
            "answer-here",
            workflow,
            "You are a test.",
            "agents/answer-here.md",
            served(*self.models),
            subagents=self.subagents,
        )
        return Bundle(loaded, [tool.schema() for tool in self.tools.values()])

    async def step(self, owner: str = "me") -> OwnStep:
        """Return the step of a new owner. A new run is claimed and started."""
        services = self.services()
        if not await self.store.frames("run1"):
            await claimed(self.store, outside=services.outside)
        journal, entries = await open_journal("run1", self.store, self.blobs, Pen(owner, services.outside))
        step = OwnStep(journal, services, entries, self.deadline or Deadline(self.clock))
        step.note(RunOwned())
        if step.progress.started is None:
            step.note(RunStarted("bundle", private=False))
        return step

    async def run(self) -> Ending:
        """Coordinate the run by its model after the message `please`."""
        step = await self.step()
        step.note(MessageReceived("please"))
        ending = await coordinate(step, self.bundle(), PROVENANCE)
        await step.commit()
        return ending

    async def run_script(self, owner: str = "me", step: OwnStep | None = None, bundle: Bundle | None = None) -> Ending:
        """Coordinate the run by its script as one owner, and commit at the end."""
        step = step or await self.step(owner)
        try:
            bundle = bundle or self.bundle()
            return await script.coordinate(at_work(step, bundle), bundle, PROVENANCE)
        finally:
            await step.commit()

    async def journal(self) -> Sequence[Recorded]:
        return await read_journal("run1", self.store, self.blobs)

    async def kinds(self) -> list[list[str]]:
        """Return the names of the entries of each frame after the first."""
        frames: dict[int, list[str]] = {}
        for recorded in await self.journal():
            frames.setdefault(recorded.n, []).append(type(recorded.entry).__name__)
        return [names for n, names in frames.items() if n > 1]


def memory_run(*answers: Answer | Exception) -> MemoryRun:
    return MemoryRun(ListModel(list(answers)), {})


async def no_answer(call: Call, said: Said) -> ToolResult:
    raise TemporaryError("nobody is there")
