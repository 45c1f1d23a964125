"""What a script's `Run` does: each call is answered from the journal, or passes the gates and happens.

What ends the run (a limit, a cancel, another owner) goes through the script as an exception that no `except Exception`
catches. After it nothing more happens, and what the script returns does not count.
"""

import asyncio
import copy
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, cast

from typing_extensions import override

from gofer.coordinator import Run, ToolFailed
from gofer.engine import gates
from gofer.engine.gates import Limited
from gofer.engine.loop import LEAST_SECONDS
from gofer.engine.model_order import Parked
from gofer.engine.one_shot_subagent import handed, question
from gofer.engine.permitted_call import Asked as Asking
from gofer.engine.permitted_call import Permitted
from gofer.engine.results import cut
from gofer.engine.script_branches import Asked, Branch, Ledger
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import SubagentFinished, ToolResult
from gofer.journal.workspace_entries import FileAdded
from gofer.sources.part_values import Outcome
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import encode
from gofer.values.errors import RunStopped, ToolError
from gofer.values.events import Event
from gofer.workflows.bundle import Bundle
from gofer.workflows.script_module import file_of
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent

T = TypeVar("T")
VALUES = 1_000
"""Values of the clock and of chance that one run may record."""
_BRANCH: ContextVar[Branch | None] = ContextVar("branch", default=None)
"""The branch of a script that the current task is; None is the whole of it."""


class Halted(BaseException):
    """Nothing more happens in this run now; `ScriptRun.why` says why."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A branch that cannot go on now."""

    parked: Parked
    clicks: int
    """How many presses had been journaled when it looked."""


class ScriptRun(Run):
    """See gofer.coordinator.Run."""

    def __init__(self, step: WorkingStep, bundle: Bundle, provenance: Provenance, script: Script) -> None:
        self.why: BaseException | None = None
        """What ended the run while the script was at work."""
        self.under_way = 0
        """How many calls are happening."""
        self._branches = 1
        """How many branches are at work or wait, without those that wait for their own parts."""
        self._waiting: list[_Waiting] = []
        self._stuck = asyncio.Event()
        """Set when no branch can go on, or when the run is over."""
        self._step = step
        self._bundle = bundle
        self._provenance = provenance
        self._granted = step.repertoire.tools
        self._limits = bundle.loaded.workflow.limits
        self._ledger = Ledger(step.own.replay.effects)
        self._files = {file_of(module) for module in script.sources}
        self._root = Branch(script.file)
        self._root.learn(step.own.replay.files.get("", ()))
        self._fetching = asyncio.Lock()

    @property
    @override
    def event(self) -> Event:
        if self._step.own.progress.event is None:
            raise RunStopped(f"Run {self._step.own.run} has no event; its journal does not begin with a claim.")
        return copy.deepcopy(self._step.own.progress.event)

    @property
    @override
    def files(self) -> Mapping[str, Mapping[str, object]]:
        # What this branch was told, so that it is the same whenever the script is run again.
        return MappingProxyType({added.file: _described(added) for added in self._branch.files.values()})

    @override
    async def call(self, tool: str, /, **arguments: object) -> Any:
        asked = self._ask(tool, arguments)
        branch = self._branch
        outcome = await self._guarded(self._outcome(asked))
        branch.learn(self._step.own.replay.files.get(asked.call, ()))
        return _value(outcome, tool)

    @override
    async def subagent(self, name: str, prompt: str, files: Sequence[str] = ()) -> str:
        asked = self._ask(f"subagent.{name}", {"prompt": prompt, "files": list(files)})
        match await self._guarded(self._answer(asked, name, prompt, files)):
            case SubagentFinished(status="ok", text=text):
                return text
            case SubagentFinished(text=text, code=code):
                raise ToolFailed(text, code=code, tool=asked.tool)
            case refused:
                raise ToolFailed(refused.text, code="refused", tool=asked.tool)

    @override
    async def gather(self, *branches: Awaitable[T]) -> list[T]:
        self._alive()
        branch = self._branch
        parts = branch.split(len(branches), self._here())
        tasks = [asyncio.create_task(self._part(part, one)) for part, one in zip(parts, branches, strict=True)]
        self._branches += len(tasks) - 1
        try:
            if tasks:
                await asyncio.wait(tasks)
        finally:
            self._branches += 1
            await put_an_end_to(*tasks)
        for part in parts:
            branch.learn(part.files.values())
        # In the order given, so that the same error is raised whenever the script is run again.
        failed = [error for task in tasks if (error := task.exception())]
        self._alive()
        if failed:
            raise failed[0]
        return [task.result() for task in tasks]

    @override
    def now(self) -> datetime:
        seconds = self._recorded("now", self._step.own.services.outside.clock.now)
        return datetime.fromtimestamp(cast(float, seconds), UTC)

    @override
    def random(self) -> Random:
        chance = self._step.own.services.outside.random
        return Random(cast(int, self._recorded("random", partial(chance.getrandbits, 53))))  # noqa: S311

    def check_end(self, place: str) -> None:
        """The script is over. Raises what ended it before, or Diverged when something on record was not asked for."""
        if self.why is not None:
            raise self.why
        self._ledger.check_end((), place)

    def _alive(self) -> None:
        if self.why is not None:
            raise Halted from self.why

    def _halt(self, why: BaseException) -> NoReturn:
        self.why = self.why or why
        self._stuck.set()
        raise Halted from why

    async def _wait(self, parked: Parked) -> NoReturn:
        """A branch that has to wait does so until no other can go on; then the run is parked.

        Others come to the end of what they have claimed, and a press on what they ask for is looked at.
        """
        self._waiting.append(_Waiting(parked, len(self._step.own.progress.clicks)))
        self.under_way -= 1
        self._look_whether_stuck()
        try:
            await self._stuck.wait()
        finally:
            self.under_way += 1
        self._alive()
        # A person pressed a button after the branch had looked: it is run again at once.
        pressed = self._step.own.progress.clicks[min(one.clicks for one in self._waiting) :]
        asked = self._step.own.progress.approvals
        news = any((one := asked.get((click.about, click.call))) and one.decided is None for click in pressed)
        first = min((one.parked.entry for one in self._waiting), key=lambda entry: entry.until)
        self._halt(Parked(replace(first, until=self._step.own.now_ms()) if news else first))

    def _look_whether_stuck(self) -> None:
        if len(self._waiting) >= self._branches:
            self._stuck.set()

    def _here(self) -> str:
        """The line of the script that is being run; that of its branch when a call was handed to `gather` as it is."""
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                return f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return self._branch.place

    @property
    def _branch(self) -> Branch:
        return _BRANCH.get() or self._root

    def _ask(self, tool: str, arguments: Mapping[str, object]) -> Asked:
        self._alive()
        return self._branch.ask(tool, arguments, self._here())

    async def _guarded(self, work: Awaitable[T]) -> T:
        """Does the work of one call; what goes wrong with the run itself ends the script."""
        self.under_way += 1
        try:
            return await work
        except asyncio.CancelledError:
            raise
        except Parked as parked:
            await self._wait(parked)
        except BaseException as error:  # noqa: BLE001
            self._halt(error)
        finally:
            self.under_way -= 1

    async def _part(self, part: Branch, work: Awaitable[T]) -> T:
        """One part of a `gather`, in a task and so in a context of its own."""
        _BRANCH.set(part)
        try:
            result = await work
        except SystemExit as error:
            raise RuntimeError("it called exit") from error
        finally:
            self._branches -= 1
            self._look_whether_stuck()
        if self.why is None:
            try:
                self._ledger.check_end(part.path, part.place)
            except RunStopped as error:
                self._halt(error)
        return result

    async def _outcome(self, asked: Asked) -> Outcome:
        self._ledger.account(asked.call)
        if known := self._step.own.progress.outcomes.get(asked.call):
            return known
        try:
            if (tool := self._granted.get(asked.tool)) is None:
                names = ", ".join(self._granted) or "none"
                raise ToolError(f"There is no tool {asked.tool[:64]!r} here. The tools of this workflow: {names}.")
            item = Permitted(asked.call, tool, tool.parse(asked.arguments), asked.arguments, valued=True)
            return await self._step.call(item, self._provenance, partial(self._gate, asked, item))
        except ToolError as error:
            return self._refused(asked, error.message_to_model)

    def _gate(self, asked: Asked, item: Permitted) -> None:
        """Raises when a call may not begin: Diverged, Limited, or ToolError when it is only refused."""
        self._alive()
        if item.tool.effect != "read":
            self._ledger.check(asked)
        self._within_limits()
        if refused := gates.lock(item, self._step.own.locked):
            raise ToolError(refused.text)

    def _within_limits(self) -> None:
        # A refused call counts: a script that asks for the same in vain for ever has to end.
        step = self._step
        wanted = 1 + self._step.own.replay.refused
        if stop := gates.tool_calls(step.own.progress, self._limits, wanted, step.own.now_ms()):
            raise Limited(stop)

    def _refused(self, asked: Asked, why: str) -> ToolResult:
        self._within_limits()
        refused = ToolResult(asked.call, "refused", cut(why))
        self._step.own.note(refused)
        return refused

    async def _answer(
        self, asked: Asked, name: str, prompt: str, files: Sequence[str]
    ) -> SubagentFinished | ToolResult:
        self._ledger.account(asked.call)
        step = self._step
        known = self._bundle.loaded.direct_subagents
        if finished := step.own.replay.answers.get(asked.call):
            return finished
        if isinstance(refused := step.own.progress.outcomes.get(asked.call), ToolResult):
            return refused
        if name not in known:
            return self._refused(asked, f"There is no subagent {name[:64]!r}. There are: {', '.join(known) or 'none'}.")
        if known[name].subagent.needs_own_run:
            if unknown := [file for file in files if file not in step.own.workspace.files]:
                return self._refused(asked, f"The run has no file {str(unknown[0])[:64]!r}.")
            return await self._agent(asked, Asking(asked.call, name, prompt, tuple(files)), known[name])
        try:
            async with self._fetching:
                prompt = await handed(step.own, prompt, files, self._provenance)
        except ToolError as error:
            return self._refused(asked, error.message_to_model)
        left = self._limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
        timeout = min(known[name].subagent.limits.minutes * 60, max(left, LEAST_SECONDS))
        one_shot = question(asked.call, name, known[name], prompt, step.own.progress.accepted_at, timeout)
        return await step.ask_one_shot(one_shot, partial(self._gate_subagent, asked, name))

    async def _agent(self, asked: Asked, wanted: Asking, subagent: LoadedSubagent) -> SubagentFinished | ToolResult:
        """The answer of a subagent that works in a run of its own."""
        try:
            gate = partial(self._gate_agent, asked, subagent)
            return await self._step.agents.ask(self._step, wanted, self._provenance, gate)
        except ToolError as error:
            return self._refused(asked, error.message_to_model)

    def _gate_agent(self, asked: Asked, subagent: LoadedSubagent) -> None:
        self._alive()
        has = subagent.subagent.tools
        named = self._granted if has == "inherit" else has or ()
        if any(tool.effect != "read" for name, tool in self._granted.items() if name in named):
            self._ledger.check(asked)

    def _gate_subagent(self, asked: Asked, name: str) -> None:
        self._alive()
        step = self._step
        most = self._bundle.loaded.subagents[name].subagent.limits.calls
        if len(step.own.progress.subagents.get(name, set[str]()) - {asked.call}) >= most:
            raise Limited(gates.Stop(f"stopped after {most} calls of the subagent {name}"))
        if stop := gates.subagent_call(step.own.progress, self._limits, asked.call, step.own.now_ms()):
            raise Limited(stop)

    def _recorded(self, what: str, draw: Callable[[], object]) -> object:
        call = self._ask(what, {}).call
        values = self._step.own.replay.values
        if call not in values and len(values) >= VALUES:
            self._halt(Limited(gates.Stop(f"stopped after {VALUES} values of the clock and of chance")))
        return self._step.record_value(call, draw)


async def put_an_end_to(*tasks: asyncio.Task[Any]) -> None:
    """Cancels what is not done, more than once: a script may catch it."""
    for _ in range(10):
        if left := [task for task in tasks if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=1)
    for task in tasks:
        if task.done() and not task.cancelled():
            # Retrieved, so that asyncio does not log an error that was never retrieved.
            task.exception()


def _described(added: FileAdded) -> Mapping[str, object]:
    return MappingProxyType(
        {"name": added.name, "media_type": added.media_type, "size": added.size, "origin": added.origin}
    )


def _value(outcome: Outcome, tool: str) -> object:
    """Return what a script gets for the outcome of a call of a tool. Raises ToolFailed."""
    match outcome:
        case ToolResult(status="ok", text=text, details=details, value=value):
            # Through JSON, as it comes back from the journal: the same the first time and every other.
            return json.loads(encode({"text": text, **(details or {})} if value is None else value))
        case ToolResult(status="refused", text=text):
            raise ToolFailed(text, code="refused", tool=tool)
        case ToolResult(text=text, details=details):
            raise ToolFailed(text, code=str((details or {}).get("code", "")), tool=tool)
        case _:
            raise ToolFailed(outcome.text, code="unknown", tool=tool)
