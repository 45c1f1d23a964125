"""The subagents of a run: each has a run of its own, worked by the same loop.

A subagent without tools and files is only a question to a model, in the journal of the asking run.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gofer.engine import loop
from gofer.engine.admission import pin_bundle, pinned
from gofer.engine.approvals import close
from gofer.engine.call_checks import Clearance
from gofer.engine.first_message import today
from gofer.engine.gates import Limited, Stop, limits_of, slice_of
from gofer.engine.loop import LEAST_SECONDS, Ending
from gofer.engine.model_order import Parked
from gofer.engine.one_shot_subagent import ask as ask_one_shot
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted, SubagentCall, permit_all
from gofer.engine.results import cut, display_limits_of, shorten
from gofer.engine.search_by_model import search
from gofer.engine.subagent_owner import leave, named_files, result_entry, take_over
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import (
    Entry,
    MessageReceived,
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunStarted,
    SubagentFinished,
    SubagentStarted,
    ToolResult,
)
from gofer.journal.lineage import child_of
from gofer.journal.purposes import SUBAGENT_QUESTION
from gofer.journal.subagent_entries import Slice
from gofer.projections.attempts import CRASHES
from gofer.tools.definition import AnyTool, Provenance, Repertoire
from gofer.tools.search import SearchTools
from gofer.tools.subagent import AskSubagent
from gofer.values.canonical_json import encode_text
from gofer.values.errors import ConfigError, OutOfTime, RunStopped, TemporaryError, ToolError
from gofer.workflows.bundle import Bundle
from gofer.workflows.subagent import LoadedSubagent
from gofer.workflows.subagent_run import DEPTH, subagent_workflow

_SHOWN = 20
"""Names that an error lists when a model names an unknown subagent or file."""


def working_step_of(own: OwnStep, bundle: Bundle, *, alone: bool, withdrawn: frozenset[str]) -> WorkingStep:
    """Return the step that works a run by its bundle.

    `alone` says whether every earlier owner is known to be dead. `withdrawn` are the skills that the workflow has
    prohibited since the run began.
    """
    loaded = bundle.loaded
    return WorkingStep(
        own=own,
        guard=Clearance(loaded.workflow),
        agents=Subagents(bundle, alone),
        repertoire=Repertoire(
            tools=own.services.granted(loaded.workflow, loaded.skills),
            skills=loaded.skills,
            in_prompt=frozenset(loaded.workflow.skills.required),
            withdrawn=withdrawn,
        ),
        shown=display_limits_of(loaded, own.services),
    )


@dataclass(frozen=True, slots=True)
class Subagents:
    """The subagents of one run; see working_step.Agents."""

    bundle: Bundle
    alone: bool = False
    """Whether every earlier owner is known to be dead."""

    async def answer(self, step: WorkingStep, item: Permitted, provenance: Provenance) -> Sequence[Entry]:
        """Return the entries of a call that asks a subagent or searches for tools. A long answer becomes a file."""
        if isinstance(item.arguments, SearchTools):
            return await search(step, self.bundle, item.call, item.arguments)
        if not isinstance(item.arguments, AskSubagent):
            raise TypeError(f"{item.tool.name} takes the arguments of a subagent")
        arguments = item.arguments
        asked = SubagentCall(
            call=item.call,
            name=arguments.agent_name,
            prompt=arguments.prompt,
            files=tuple(dict.fromkeys(arguments.files)),
        )
        try:
            # One part for each subagent of this turn that has not begun, and one part for the asking run.
            finished = await self.ask(step, asked, provenance, parts=self._not_begun(step.own, item.tool) + 1, kept=1)
        except ToolError as error:
            return [_failed(item.call, error.message_to_model, error.code)]
        except Limited as limited:
            text = f"The subagent was not asked: {limited.stop.reason}. Continue without it."
            return [_failed(item.call, text, "limited")]
        if finished.status == "error":
            return [_failed(item.call, cut(finished.text), finished.code)]
        origin = f"subagent {asked.name}"
        text, added = await shorten(finished.text, asked.name, origin, step.own.files, step.shown)
        summary = f"{asked.name} answered after {finished.llm_calls} model and {finished.tool_calls} tool calls"
        result = ToolResult(item.call, "ok", cut(text), summary, duration_ms=finished.duration_ms)
        if added is None:
            return [result]
        return [added, result]

    async def ask(
        self,
        step: WorkingStep,
        asked: SubagentCall,
        provenance: Provenance,
        gate: Callable[[], None] = permit_all,
        *,
        parts: int = 2,
        kept: int = 0,
    ) -> SubagentFinished:
        """Return the recorded answer of a subagent, or let the subagent work and return its answer.

        `parts` is the number of parts into which the remaining budget is divided, and `kept` the model calls that the
        asking run needs afterwards. Raises ToolError when there is no such subagent or file, Limited when no budget is
        left, Parked when the subagent waits, and what `WorkingStep.call` raises.
        """
        loaded = self.bundle.loaded.direct_subagents.get(asked.name)
        if loaded is None:
            names = ", ".join(list(self.bundle.loaded.direct_subagents)[:_SHOWN]) or "none"
            raise ToolError(f"There is no subagent {asked.name[:64]!r}. There are: {names}.", code="no_such_subagent")
        if not loaded.subagent.needs_own_run and not asked.files:
            return await self._question(step, asked, loaded, gate, kept)
        if finished := step.own.replay.answers.get(asked.call):
            return finished
        started = step.own.progress.asking.get(asked.call)
        if fresh := started is None:
            # A call that is resumed after a crash did not pass `begin`, so a cancellation is checked here.
            step.own.heed_cancel()
            gate()
            part = _slice(step.own, self.bundle, asked, loaded, parts=parts, kept=kept)
            started = self._start_entry(step.own, asked, loaded, part)
            step.own.note(started)
            await step.own.commit()
        child = await step.own.open_child(started, fresh=fresh)
        if child.progress.finished is None:
            await take_over(child, started, alone=self.alone)
            await self._work(step, child, loaded, started, provenance)
        finished = result_entry(child, started)
        for added in named_files(step.own, child):
            step.own.note(added)
        step.own.note(finished)
        return finished

    async def _question(
        self, step: WorkingStep, asked: SubagentCall, loaded: LoadedSubagent, gate: Callable[[], None], kept: int
    ) -> SubagentFinished:
        # The question has an id of its own, so that deferring it does not defer the call, which would start again.
        call = SUBAGENT_QUESTION.format(asked.call)

        def check() -> None:
            gate()
            if call not in step.own.progress.asking:
                _slice(step.own, self.bundle, asked, loaded, parts=1, kept=kept)

        limits = self.bundle.loaded.workflow.limits
        left = limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
        timeout = min(loaded.subagent.limits.minutes * 60, max(left, LEAST_SECONDS))
        return await ask_one_shot(step, call, asked.name, loaded, asked.prompt, timeout, check)

    def _start_entry(self, step: OwnStep, asked: SubagentCall, loaded: LoadedSubagent, part: Slice) -> SubagentStarted:
        if unknown := [file for file in asked.files if file not in step.workspace.files]:
            known = ", ".join(list(step.workspace.files)[-_SHOWN:]) or "none"
            raise ToolError(
                f"There is no file {unknown[0][:64]!r}. The files of this run: {known}.", code="no_such_file"
            )
        if step.progress.depth >= DEPTH:
            raise ToolError(f"Subagents can be nested at most {DEPTH} deep.", code="too_deep")
        granted = self._granted(step, asked.name, loaded, part)
        writes = any(tool.effect != "read" for tool in granted.values())
        run = child_of(step.run, asked.call)
        return SubagentStarted(
            call=asked.call,
            name=asked.name,
            prompt=asked.prompt,
            params={},
            run=run,
            files=asked.files,
            reserved=part,
            writes=writes,
        )

    def _workflow_of(self, step: OwnStep, name: str, loaded: LoadedSubagent, part: Slice) -> Any:
        return subagent_workflow(self.bundle.loaded, name, loaded, limits_of(part), step.progress.depth + 1)

    def _granted(self, step: OwnStep, name: str, loaded: LoadedSubagent, part: Slice) -> Mapping[str, AnyTool]:
        own = self._workflow_of(step, name, loaded, part)
        return step.services.granted(own.workflow, own.skills)

    def _not_begun(self, step: OwnStep, tool: AnyTool) -> int:
        """Return the number of subagents that the turn asks and that have not begun, this one included."""
        asks = step.conversation.open.items()
        return max(1, sum(ask.tool == tool.name and call not in step.progress.asking for call, ask in asks))

    async def _work(
        self,
        step: WorkingStep,
        child: OwnStep,
        loaded: LoadedSubagent,
        started: SubagentStarted,
        provenance: Provenance,
    ) -> None:
        """Let the subagent work until its run ends, or leave the run in good order when this worker has to stop."""
        try:
            if (concluded := child.progress.concluded) is None:
                concluded = _conclude(child, await self._ending(step, child, loaded, started, provenance))
            await close(child, provenance)
        except Parked as parked:
            await leave(child, parked.entry)
            raise
        except OutOfTime:
            await leave(child, RunHandedOver())
            raise
        except (TemporaryError, ConfigError):
            await child.leave_after_failure(RunHandedOver("interrupted"))
            raise
        except asyncio.CancelledError:
            if child.stopping:
                await child.leave_after_failure(RunHandedOver("interrupted"))
            raise
        await leave(child, RunFinished(concluded.status, concluded.reason))

    async def _ending(
        self,
        step: WorkingStep,
        child: OwnStep,
        loaded: LoadedSubagent,
        started: SubagentStarted,
        provenance: Provenance,
    ) -> Ending:
        if child.progress.attempts.crashed >= CRASHES:
            child.record_unknown_calls("every worker that had the subagent crashed")
            return Ending("failed", reason="it crashed at the same point again and again")
        tools: Mapping[str, AnyTool] = {}
        try:
            bundle = await self._pinned_bundle(step.own, child, loaded, started)
            working = working_step_of(child, bundle, alone=self.alone, withdrawn=step.repertoire.withdrawn)
            tools = working.repertoire.tools
            return await loop.coordinate(working, bundle, provenance)
        except RunStopped as error:
            return loop.stopped(child, error, self.bundle.loaded, tools)

    async def _pinned_bundle(
        self, step: OwnStep, child: OwnStep, loaded: LoadedSubagent, started: SubagentStarted
    ) -> Bundle:
        """Return the pinned bundle of a subagent's run; on the first call, pin it and note the prompt and the files."""
        if child.progress.started is not None:
            return await pinned(child, child.progress.started)
        part = started.reserved or Slice(llm_calls=1, tool_calls=0, tokens=1, usd=0.01, minutes=1.0)
        own = self._workflow_of(step, started.name, loaded, part)
        pin = await pin_bundle(child, child.services.new_bundle(own))
        child.note(RunStarted(pin, step.progress.private))
        for file in started.files:
            child.note(step.workspace.files[file].added)
        child.note(MessageReceived(f"{today(child.progress.accepted_at)}\n\n{started.prompt}"))
        return await pinned(child, RunStarted(pin, private=True))


def _conclude(child: OwnStep, ending: Ending) -> RunConcluded:
    """Note how the work of a subagent ended."""
    child.record_unknown_calls("the subagent ended before its outcome was known", own=False)
    text = ending.answer
    if ending.output is not None:
        text = encode_text(ending.output)
    concluded = RunConcluded(ending.status, ending.reason, text, ending.output)
    child.note(concluded)
    return concluded


def _slice(
    step: OwnStep, bundle: Bundle, asked: SubagentCall, loaded: LoadedSubagent, *, parts: int, kept: int
) -> Slice:
    """Return the budget of a subagent. Raises Limited."""
    most = loaded.subagent.limits.calls
    # A question that is asked again counts once.
    calls = step.progress.subagents.get(asked.name, set[str]()) - {SUBAGENT_QUESTION.format(asked.call)}
    if len(calls) >= most:
        raise Limited(Stop(f"stopped after {most} calls of the subagent {asked.name}"))
    limits = bundle.loaded.workflow.limits
    part = slice_of(step.progress, limits, loaded.subagent.limits, step.now_ms(), parts=parts, kept=kept)
    if isinstance(part, Stop):
        raise Limited(part)
    return part


def _failed(call: str, text: str, code: str) -> ToolResult:
    return ToolResult(call, "error", text, details={"code": code} if code else None)
