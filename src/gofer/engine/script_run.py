"""The `Run` of a script: each call is answered from the journal, or passes the gates and is made.

A limit, a cancellation or another owner ends the run with an exception that no `except Exception` of the script
catches. After that no call is made, and the return value of the script does not count.
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
from gofer.engine.one_shot_subagent import UNFIT_ONCE, prompt_with_files
from gofer.engine.one_shot_subagent import ask as ask_one_shot
from gofer.engine.permitted_call import Permitted, SubagentCall
from gofer.engine.results import cut
from gofer.engine.script_branches import Branch, Ledger, ScriptCall
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import ApprovalClicked, SubagentFinished, ToolResult
from gofer.journal.workspace_entries import FileAdded
from gofer.sources.part_values import Outcome
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import encode
from gofer.values.errors import RunStopped, ToolError
from gofer.values.events import Event
from gofer.values.foreign_code import is_from_outside
from gofer.workflows.bundle import Bundle
from gofer.workflows.script_module import file_of
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent

T = TypeVar("T")
VALUES = 1_000
"""Greatest number of recorded times and random numbers of one run."""
_BRANCH: ContextVar[Branch | None] = ContextVar("branch", default=None)
"""The branch that the current task works on; None outside of any `gather`."""


class Halted(BaseException):
    """The run has ended for this worker; `ScriptRun.ended_by` holds the reason."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A branch that waits."""

    parked: Parked
    clicks: int
    """Number of journaled clicks when the branch last looked."""


class ScriptRun(Run):
    """The run that a script gets; see gofer.coordinator.Run."""

    def __init__(self, step: WorkingStep, bundle: Bundle, provenance: Provenance, script: Script) -> None:
        self.ended_by: BaseException | None = None
        """The exception that ended the run while the script was running."""
        self.calls_in_progress = 0
        """Number of calls in progress."""
        self._branches = 1
        """Number of branches that run or wait, without those that wait for their own parts."""
        self._waiting: list[_Waiting] = []
        self._stuck = asyncio.Event()
        """Set when no branch can continue, or when the run is over."""
        self._step = step
        self._bundle = bundle
        self._provenance = provenance
        self._granted = step.repertoire.tools
        self._limits = bundle.loaded.workflow.limits
        self._ledger = Ledger(step.own.replay.effects)
        self._files = {file_of(module) for module in script.sources}
        self._root = Branch(script.file)
        self._root.add_files(step.own.replay.files.get("", ()))
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
        # Only files that this branch knows, so that a script sees the same files each time it runs.
        return MappingProxyType({added.file: _described(added) for added in self._branch.files.values()})

    @override
    async def call(self, tool: str, /, **arguments: object) -> Any:
        asked = self._next_call(tool, arguments)
        branch = self._branch
        outcome = await self._guarded(self._outcome(asked))
        branch.add_files(self._step.own.replay.files.get(asked.call, ()))
        return _value(outcome, tool)

    @override
    async def subagent(self, name: str, prompt: str, files: Sequence[str] = ()) -> str:
        asked = self._next_call(f"subagent.{name}", {"prompt": prompt, "files": list(files)})
        match await self._guarded(self._subagent_answer(asked, name, prompt, files)):
            case SubagentFinished(status="ok", text=text):
                return text
            case SubagentFinished(text=text, code=code):
                raise ToolFailed(text, code=code, tool=asked.tool)
            case refused:
                raise ToolFailed(refused.text, code="refused", tool=asked.tool)

    @override
    async def gather(self, *branches: Awaitable[T]) -> list[T]:
        self._check_running()
        branch = self._branch
        parts = branch.split(len(branches), self._script_line())
        tasks = [asyncio.create_task(self._run_part(part, one)) for part, one in zip(parts, branches, strict=True)]
        self._branches += len(tasks) - 1
        try:
            if tasks:
                await asyncio.wait(tasks)
        finally:
            self._branches += 1
            await cancel_all(*tasks)
        for part in parts:
            branch.add_files(part.files.values())
        # The first error in the given order is raised, so that it is the same each time the script runs.
        failed = [error for task in tasks if (error := task.exception())]
        self._check_running()
        if failed:
            raise failed[0]
        return [task.result() for task in tasks]

    @override
    def now(self) -> datetime:
        seconds = self._recorded_value("now", self._step.own.services.outside.clock.now)
        return datetime.fromtimestamp(cast(float, seconds), UTC)

    @override
    def random(self) -> Random:
        chance = self._step.own.services.outside.random
        return Random(cast(int, self._recorded_value("random", partial(chance.getrandbits, 53))))  # noqa: S311

    def check_end(self, place: str) -> None:
        """Raise the exception that ended the run, or Diverged if the script did not ask again for a recorded write."""
        if self.ended_by is not None:
            raise self.ended_by
        self._ledger.check_end((), place)

    def _check_running(self) -> None:
        if self.ended_by is not None:
            raise Halted from self.ended_by

    def _halt(self, reason: BaseException) -> NoReturn:
        self.ended_by = self.ended_by or reason
        self._stuck.set()
        raise Halted from reason

    async def _wait(self, parked: Parked) -> NoReturn:
        """Wait until no other branch can continue, then park the run.

        Until then, other branches finish the calls that they have claimed, and react to clicks.
        """
        self._waiting.append(_Waiting(parked, len(self._step.own.progress.clicks)))
        self.calls_in_progress -= 1
        self._check_stuck()
        try:
            await self._stuck.wait()
        finally:
            self.calls_in_progress += 1
        self._check_running()
        seen = min(waiting.clicks for waiting in self._waiting)
        new_clicks = self._step.own.progress.clicks[seen:]
        first = min((waiting.parked.entry for waiting in self._waiting), key=lambda entry: entry.until)
        if any(map(self._is_undecided, new_clicks)):
            # A waiting branch has not seen this click, so the run is woken at once.
            first = replace(first, until=self._step.own.now_ms())
        self._halt(Parked(first))

    def _is_undecided(self, click: ApprovalClicked) -> bool:
        """Return whether the approval that a click belongs to is still open."""
        approval = self._step.own.progress.approvals.get((click.about, click.call))
        return approval is not None and approval.decided is None

    def _check_stuck(self) -> None:
        if len(self._waiting) >= self._branches:
            self._stuck.set()

    def _script_line(self) -> str:
        """Return `file:line` of the running script; without a frame of the script on the stack, that of the branch."""
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                return f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back
        return self._branch.place

    @property
    def _branch(self) -> Branch:
        return _BRANCH.get() or self._root

    def _next_call(self, tool: str, arguments: Mapping[str, object]) -> ScriptCall:
        self._check_running()
        return self._branch.next_call(tool, arguments, self._script_line())

    async def _guarded(self, work: Awaitable[T]) -> T:
        """Await the work of one call; an error of the run itself ends the script."""
        self.calls_in_progress += 1
        try:
            return await work
        except asyncio.CancelledError:
            raise
        except Parked as parked:
            await self._wait(parked)
        except BaseException as error:  # noqa: BLE001
            self._halt(error)
        finally:
            self.calls_in_progress -= 1

    async def _run_part(self, part: Branch, work: Awaitable[T]) -> T:
        """Await one part of a `gather`, in a task and therefore in a context of its own."""
        _BRANCH.set(part)
        try:
            result = await work
        except (SystemExit, KeyboardInterrupt) as error:
            # In a task, either of them would end the whole event loop.
            if is_from_outside(error):
                raise
            raise RuntimeError(f"it raised {type(error).__name__}") from error
        finally:
            self._branches -= 1
            self._check_stuck()
        if self.ended_by is None:
            try:
                self._ledger.check_end(part.path, part.place)
            except RunStopped as error:
                self._halt(error)
        return result

    async def _outcome(self, asked: ScriptCall) -> Outcome:
        self._ledger.mark_asked(asked.call)
        if known := self._step.own.progress.outcomes.get(asked.call):
            return known
        try:
            if (tool := self._granted.get(asked.tool)) is None:
                names = ", ".join(self._granted) or "none"
                known = f"The tools of this workflow: {names}."
                raise ToolError(f"There is no tool {asked.tool[:64]!r} here. {known}", code="unknown_tool")
            item = Permitted(
                asked.call, tool, gates.arguments_of(tool, asked.arguments), asked.arguments, for_script=True
            )
            return await self._step.call(item, self._provenance, partial(self._check_call, asked, item))
        except ToolError as error:
            return self._refused(asked, error.message_to_model, error.code or "broken")

    def _check_call(self, asked: ScriptCall, item: Permitted) -> None:
        """Raise Diverged or Limited when a call may not begin and the run ends, ToolError when it is only refused."""
        self._check_running()
        if item.tool.effect != "read":
            self._ledger.check(asked)
        self._within_limits()
        if refused := gates.lock(item, self._step.own.locked):
            raise ToolError(refused.text, code=refused.code)

    def _within_limits(self) -> None:
        # Refused calls count, so that a script that repeats a refused call for ever reaches the limit.
        step = self._step
        calls = 1 + self._step.own.replay.refused
        if stop := gates.tool_calls(step.own.progress, self._limits, calls, step.own.now_ms()):
            raise Limited(stop)

    def _refused(self, call: ScriptCall, reason: str, code: str) -> ToolResult:
        self._within_limits()
        refused = ToolResult(call.call, "refused", cut(reason), details={"code": code})
        self._step.own.note(refused)
        return refused

    async def _subagent_answer(
        self, asked: ScriptCall, name: str, prompt: str, files: Sequence[str]
    ) -> SubagentFinished | ToolResult:
        self._ledger.mark_asked(asked.call)
        step = self._step
        known = self._bundle.loaded.direct_subagents
        finished = step.own.replay.answers.get(asked.call)
        if finished is not None and finished.code != UNFIT_ONCE:
            return finished
        if isinstance(refused := step.own.progress.outcomes.get(asked.call), ToolResult):
            return refused
        if name not in known:
            text = f"There is no subagent {name[:64]!r}. There are: {', '.join(known) or 'none'}."
            return self._refused(asked, text, "no_such_subagent")
        if known[name].subagent.needs_own_run:
            if unknown := [file for file in files if file not in step.own.workspace.files]:
                return self._refused(asked, f"The run has no file {str(unknown[0])[:64]!r}.", "no_such_file")
            wanted = SubagentCall(call=asked.call, name=name, prompt=prompt, files=tuple(files))
            return await self._agent_answer(asked, wanted, known[name])
        try:
            async with self._fetching:
                prompt = await prompt_with_files(step.own, prompt, files, self._provenance)
        except ToolError as error:
            return self._refused(asked, error.message_to_model, error.code or "broken")
        left = self._limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
        timeout = min(known[name].subagent.limits.minutes * 60, max(left, LEAST_SECONDS))
        gate = partial(self._check_subagent, asked, name)
        return await ask_one_shot(step, asked.call, name, known[name], prompt, timeout, gate)

    async def _agent_answer(
        self, asked: ScriptCall, subagent_call: SubagentCall, subagent: LoadedSubagent
    ) -> SubagentFinished | ToolResult:
        """Return the answer of a subagent that has a run of its own."""
        try:
            gate = partial(self._check_agent, asked, subagent)
            return await self._step.agents.ask(self._step, subagent_call, self._provenance, gate)
        except ToolError as error:
            return self._refused(asked, error.message_to_model, error.code or "broken")

    def _check_agent(self, asked: ScriptCall, subagent: LoadedSubagent) -> None:
        self._check_running()
        has = subagent.subagent.tools
        named = self._granted if has == "inherit" else has or ()
        if any(tool.effect != "read" for name, tool in self._granted.items() if name in named):
            self._ledger.check(asked)

    def _check_subagent(self, asked: ScriptCall, name: str) -> None:
        self._check_running()
        step = self._step
        most = self._bundle.loaded.subagents[name].subagent.limits.calls
        if len(step.own.progress.subagents.get(name, set[str]()) - {asked.call}) >= most:
            raise Limited(gates.Stop(f"stopped after {most} calls of the subagent {name}"))
        if stop := gates.subagent_call(step.own.progress, self._limits, asked.call, step.own.now_ms()):
            raise Limited(stop)

    def _recorded_value(self, what: str, draw: Callable[[], object]) -> object:
        call = self._next_call(what, {}).call
        values = self._step.own.replay.values
        if call not in values and len(values) >= VALUES:
            self._halt(Limited(gates.Stop(f"stopped after {VALUES} recorded times and random numbers")))
        return self._step.record_value(call, draw)


async def cancel_all(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks that are not done, several times if needed: a script may catch the cancellation."""
    for _ in range(10):
        if left := [task for task in tasks if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=1)
    for task in tasks:
        if task.done() and not task.cancelled():
            # asyncio logs every exception that was never retrieved.
            task.exception()


def _described(added: FileAdded) -> Mapping[str, object]:
    return MappingProxyType(
        {"name": added.name, "media_type": added.media_type, "size": added.size, "origin": added.origin}
    )


def _value(outcome: Outcome, tool: str) -> object:
    """Return the value of a call for the script. Raises ToolFailed for a call without success."""
    match outcome:
        case ToolResult(status="ok", text=text, details=details, value=value):
            if value is None:
                value = {"text": text, **(details or {})}
            # The value passes through JSON, so that it is the same as when it is read from the journal later.
            return json.loads(encode(value))
        case ToolResult(status="refused", text=text):
            raise ToolFailed(text, code="refused", tool=tool)
        case ToolResult(text=text, details=details):
            raise ToolFailed(text, code=str((details or {}).get("code", "")), tool=tool)
        case _:
            raise ToolFailed(outcome.text, code="unknown", tool=tool)
