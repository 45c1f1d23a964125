"""The subagents of a run: the loop that works the run works them too, in runs of their own.

One that has no tools and is given no file is one question to a model, in the journal of the run that asks it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gofer.engine import loop
from gofer.engine.admission import pinned
from gofer.engine.call_checks import Clearance
from gofer.engine.first_message import today
from gofer.engine.gates import Limited, Stop, limits_of, slice_of
from gofer.engine.loop import LEAST_SECONDS, Ending
from gofer.engine.model_order import Parked
from gofer.engine.one_shot_subagent import question
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Asked, Permitted, unasked
from gofer.engine.results import cut, shorten, shown_of
from gofer.engine.search_by_model import search
from gofer.engine.subagent_owner import brought, leave, opened, settled, take_over
from gofer.engine.working_step import WorkingStep
from gofer.journal.blob_store import BUNDLES, blob_key
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
from gofer.values.errors import OutOfTime, RunStopped, TemporaryError, ToolError
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.subagent import LoadedSubagent
from gofer.workflows.subagent_run import DEPTH, subagent_workflow

_SHOWN = 20
"""Names that a model is told of when it names one that is not there."""


def working_step_of(own: OwnStep, bundle: Bundle, *, alone: bool, withdrawn: frozenset[str]) -> WorkingStep:
    """Return the step that works a run by its bundle; its workflow prohibits the skills `withdrawn` by now.

    `alone` says whether every earlier owner is known to be dead.
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
        shown=shown_of(loaded, own.services),
    )


@dataclass(frozen=True, slots=True)
class Subagents:
    """The subagents of one run. See working_step.Agents."""

    bundle: Bundle
    alone: bool = False
    """Whether every earlier owner is known to be dead."""

    async def answer(self, step: WorkingStep, item: Permitted, provenance: Provenance) -> Sequence[Entry]:
        """Return what came of a call that asks another model: its answer, a long one as a file, or what it chose."""
        if isinstance(item.arguments, SearchTools):
            return await search(step, self.bundle, item.call, item.arguments)
        if not isinstance(item.arguments, AskSubagent):
            raise TypeError(f"{item.tool.name} takes the arguments of a subagent")
        said = item.arguments
        asked = Asked(call=item.call, name=said.agent_name, prompt=said.prompt, files=tuple(dict.fromkeys(said.files)))
        try:
            # One part for each that this turn asks and has not begun, and one for what the model does with the answers.
            finished = await self.ask(step, asked, provenance, parts=self._waiting(step.own, item.tool) + 1, kept=1)
        except ToolError as error:
            return [_failed(item.call, error.message_to_model, error.code)]
        except Limited as limited:
            text = f"The subagent was not asked: {limited.stop.reason}. Go on without it."
            return [_failed(item.call, text, "limited")]
        if finished.status == "error":
            return [_failed(item.call, cut(finished.text), finished.code)]
        origin = f"subagent {asked.name}"
        text, added = await shorten(finished.text, asked.name, origin, step.own.files, step.shown)
        summary = f"{asked.name} answered after {finished.llm_calls} model and {finished.tool_calls} tool calls"
        result = ToolResult(item.call, "ok", cut(text), summary, duration_ms=finished.duration_ms)
        return [added, result] if added is not None else [result]

    async def ask(
        self,
        step: WorkingStep,
        asked: Asked,
        provenance: Provenance,
        gate: Callable[[], None] = unasked,
        *,
        parts: int = 2,
        kept: int = 0,
    ) -> SubagentFinished:
        """The answer on record, or a new one; the subagent goes on where it was.

        Raises ToolError when there is no such subagent or file, Limited when nothing is left for it, Parked when it
        waits, and what `WorkingStep.call` raises.
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
            # An owner that goes on with the call of one that was lost has not asked for leave to begin anything.
            step.own.heed_cancel()
            gate()
            part = _slice(step.own, self.bundle, asked, loaded, parts=parts, kept=kept)
            started = self._started(step.own, asked, loaded, part)
            step.own.note(started)
            await step.own.commit()
        child = await opened(step.own, started, fresh=fresh)
        if child.progress.finished is None:
            await take_over(child, started, alone=self.alone)
            await self._work(step, child, loaded, started, provenance)
        finished = settled(child, started)
        for added in brought(step.own, child):
            step.own.note(added)
        step.own.note(finished)
        return finished

    async def _question(
        self, step: WorkingStep, asked: Asked, loaded: LoadedSubagent, gate: Callable[[], None], kept: int
    ) -> SubagentFinished:
        # What is put off is not the call itself, which would be made anew.
        call = SUBAGENT_QUESTION.format(asked.call)
        if finished := step.own.replay.answers.get(call):
            return finished

        def gated() -> None:
            gate()
            if call not in step.own.progress.asking:
                _slice(step.own, self.bundle, asked, loaded, parts=1, kept=kept)

        limits = self.bundle.loaded.workflow.limits
        left = limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
        timeout = min(loaded.subagent.limits.minutes * 60, max(left, LEAST_SECONDS))
        # The time of the run, which stays the same when the question is asked again.
        at_ms = step.own.progress.accepted_at
        return await step.ask_one_shot(question(call, asked.name, loaded, asked.prompt, at_ms, timeout), gated)

    def _started(self, step: OwnStep, asked: Asked, loaded: LoadedSubagent, part: Slice) -> SubagentStarted:
        if unknown := [file for file in asked.files if file not in step.workspace.files]:
            known = ", ".join(list(step.workspace.files)[-_SHOWN:]) or "none"
            raise ToolError(
                f"There is no file {unknown[0][:64]!r}. The files of this run: {known}.", code="no_such_file"
            )
        if step.progress.depth >= DEPTH:
            raise ToolError(f"Subagents stand at most {DEPTH} deep below one another.", code="too_deep")
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

    def _beneath(self, step: OwnStep, name: str, loaded: LoadedSubagent, part: Slice) -> Any:
        return subagent_workflow(self.bundle.loaded, name, loaded, limits_of(part), step.progress.depth + 1)

    def _granted(self, step: OwnStep, name: str, loaded: LoadedSubagent, part: Slice) -> Mapping[str, AnyTool]:
        own = self._beneath(step, name, loaded, part)
        return step.services.granted(own.workflow, own.skills)

    def _waiting(self, step: OwnStep, tool: AnyTool) -> int:
        """How many subagents the turn asks that have not begun, this one included."""
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
        """Lets it work to its end, and leaves it in good order when that is not now."""
        try:
            ending = await self._end(step, child, loaded, started, provenance)
        except Parked as parked:
            await leave(child, parked.entry)
            raise
        except OutOfTime:
            await leave(child, RunHandedOver())
            raise
        except TemporaryError:
            await child.let_go(RunHandedOver("interrupted"))
            raise
        except asyncio.CancelledError:
            if child.stopping:
                await child.let_go(RunHandedOver("interrupted"))
            raise
        text = encode_text(ending.output) if ending.output is not None else ending.answer
        child.note(RunConcluded(ending.status, ending.reason, text, ending.output))
        await leave(child, RunFinished(ending.status, ending.reason))

    async def _end(
        self,
        step: WorkingStep,
        child: OwnStep,
        loaded: LoadedSubagent,
        started: SubagentStarted,
        provenance: Provenance,
    ) -> Ending:
        if child.progress.attempts.crashed >= CRASHES:
            child.record_unknown_calls("every worker that had it was lost")
            return Ending("failed", reason="it broke off at the same point again and again")
        tools: Mapping[str, AnyTool] = {}
        try:
            bundle = await self._begin(step.own, child, loaded, started)
            working = working_step_of(child, bundle, alone=self.alone, withdrawn=step.repertoire.withdrawn)
            tools = working.repertoire.tools
            return await loop.coordinate(working, bundle, provenance)
        except RunStopped as error:
            return loop.stopped(child, error, self.bundle.loaded, tools)

    async def _begin(self, step: OwnStep, child: OwnStep, loaded: LoadedSubagent, started: SubagentStarted) -> Bundle:
        """What it works with, pinned when it began: what it may do, and what it is asked."""
        if child.progress.started is not None:
            return await pinned(child.services, child.progress.started)
        part = started.reserved or Slice(llm_calls=1, tool_calls=0, tokens=1, usd=0.01, minutes=1.0)
        own = self._beneath(step, started.name, loaded, part)
        bundle = Bundle(own, [tool.schema() for tool in child.services.offered(own)])
        raw = encode_bundle(bundle)
        key = blob_key(BUNDLES, raw)
        await child.services.blobs.put(key, raw)
        child.note(RunStarted(key.rpartition("/")[2], step.progress.private))
        for file in started.files:
            child.note(step.workspace.files[file].added)
        child.note(MessageReceived(f"{today(child.progress.accepted_at)}\n\n{started.prompt}"))
        # Read back, so that what is begun and what is gone on with is the same.
        return await pinned(child.services, RunStarted(key.rpartition("/")[2], private=True))


def _slice(step: OwnStep, bundle: Bundle, asked: Asked, loaded: LoadedSubagent, *, parts: int, kept: int) -> Slice:
    """What it may use. Raises Limited."""
    most = loaded.subagent.limits.calls
    calls = step.progress.subagents.get(asked.name, set[str]())
    if len(calls) >= most:
        raise Limited(Stop(f"stopped after {most} calls of the subagent {asked.name}"))
    limits = bundle.loaded.workflow.limits
    part = slice_of(step.progress, limits, loaded.subagent.limits, step.now_ms(), parts=parts, kept=kept)
    if isinstance(part, Stop):
        raise Limited(part)
    return part


def _failed(call: str, text: str, code: str) -> ToolResult:
    return ToolResult(call, "error", text, details={"code": code} if code else None)
