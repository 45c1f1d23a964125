"""The owner of a run, from taking it over to leaving it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from gofer.engine import loop, script
from gofer.engine.admission import admit, check_withdrawn, pinned
from gofer.engine.approvals import close
from gofer.engine.checked_end import note_end
from gofer.engine.conditions import DoesNotMatch
from gofer.engine.loop import Ending
from gofer.engine.model_order import Parked
from gofer.engine.outgoing import rebuilt_answer
from gofer.engine.own_step import OwnStep
from gofer.engine.private_answer import show_link
from gofer.engine.services import Services
from gofer.engine.source_context import NEVER_BEGAN
from gofer.engine.subagent_owner import end_subagents
from gofer.engine.subagent_runs import working_step_of
from gofer.engine.usage_limits import NotNow, record
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import RunFinished, RunHandedOver, RunOwned, RunParked, RunStarted
from gofer.journal.hidden_runs import write_head
from gofer.journal.purposes import SUMMARY
from gofer.runtime.deliver import announce, conclude, deliver, require_effect
from gofer.runtime.delivered_answers import note_delivered
from gofer.runtime.run_reports import notify_owner, summarise
from gofer.runtime.waiting import announce_unread, postpone
from gofer.sources.registry import source_of
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.errors import (
    Cancelled,
    ConfigError,
    GoferError,
    OutOfTime,
    RunStopped,
    TemporaryError,
    ToolError,
    fault,
)
from gofer.values.events import Event
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Reply

POISON = "poison: it stopped at the same point again and again. The operator can see where in its trace."

_log = logging.getLogger(__name__)

Coordinator = Callable[[WorkingStep, Bundle, Provenance], Awaitable[Ending]]
COORDINATORS: Mapping[str, Coordinator] = {"llm": loop.coordinate, "script": script.coordinate}
"""The coordinators, which decide the next step of a run, by their names in workflow files."""

Left = RunFinished | RunParked | RunHandedOver
"""The entry with which an owner leaves a run."""


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner of runs. Its caller keeps other owners out by a lease or a lock."""

    services: Services
    catalog: Catalog
    alone: bool
    """Whether all earlier owners are known to be dead, so that none can still be sending."""

    async def work(self, step: OwnStep, again: bool) -> Left:
        """Continue a run as far as possible; `again` if an earlier attempt may have left no mark.

        Raises Fenced, Corrupt, TemporaryError, ConfigError.
        """
        if ended := step.progress.finished:
            return ended
        parked = step.progress.parked
        if parked and self._too_early(step, parked) and not await step.has_news():
            return parked
        again = again or bool(step.progress.owned_at)
        step.note(RunOwned(self.services.version))
        if again or step.progress.in_doubt:
            # From this frame on no earlier owner can append, so this owner may now look for its effects. The frame
            # also counts this owner if it crashes at once.
            await step.commit()
        try:
            await step.take_inbox()
            left = self._quiet_time(step) or await self._go_on(step)
            # Usage is recorded before the end: if this owner crashes in between, the next one records it again.
            await record(step, self.catalog.workflows.get(step.progress.workflow))
            if isinstance(left, RunFinished):
                await note_end(step, left)
            else:
                step.note(left)
            await step.commit()
            if isinstance(left, RunFinished):
                # Feedback may have arrived between the delivery of the answer and the end.
                await step.take_inbox()
        except (TemporaryError, ConfigError):
            await step.leave_after_failure(RunHandedOver("interrupted"))
            raise
        except asyncio.CancelledError:
            # The worker stops. An owner that lost its lease writes nothing, because another owner may have the run.
            if step.stopping:
                await step.leave_after_failure(RunHandedOver("interrupted"))
            raise
        return left

    def _too_early(self, step: OwnStep, parked: RunParked) -> bool:
        """Return whether a parked run must still wait; not if its end was set by a clock that was ahead."""
        set_back = self.alone and step.progress.last_at > step.now_ms()
        return parked.until > step.now_ms() and not set_back

    def _quiet_time(self, step: OwnStep) -> RunParked | None:
        seconds = step.quiet_left(self.alone)
        if not seconds:
            return None
        return RunParked("quiet_time", step.now_ms() + int(seconds * 1000) + 1)

    async def _go_on(self, step: OwnStep) -> Left:
        try:
            return await self._work_and_deliver(step)
        except OutOfTime:
            return RunHandedOver()
        except Parked as parked:
            return parked.entry

    async def _work_and_deliver(self, step: OwnStep) -> RunFinished:
        event = step.progress.event
        loaded = self.catalog.workflows.get(step.progress.workflow)
        if event is None:
            return RunFinished("failed", "its journal does not begin with an event", "corrupt")
        bundle = None
        used_workflow = loaded
        if step.progress.started:
            bundle = await pinned(step, step.progress.started)
            used_workflow = bundle.loaded
        poisoned = step.progress.attempts.poisoned
        if (concluded := step.progress.concluded) is None:
            if poisoned:
                ending = self._poisoned_ending(step, bundle)
            else:
                ending = await self._end(step, event, loaded, bundle)
                step.record_unknown_calls("the run ended before its outcome was known", own=False)
            concluded = rebuilt_answer(step, conclude(ending, step.progress, self.services.tools))
            step.note(concluded)
        elif poisoned:
            delivered = SUMMARY in step.progress.in_doubt
            step.record_unknown_calls("every worker that made it stopped before its result was recorded")
            if not delivered:
                reason = "poison: every worker that tried to deliver its answer stopped before it was done"
                return RunFinished("failed", reason, "poison")
        reply, prompt_file = _reply_and_prompt(used_workflow)
        provenance = step.provenance(prompt_file)
        await end_subagents(step, "the run that asked it ended", provenance)
        await close(step, provenance)
        finished = await deliver(step, event, reply, provenance, concluded)
        await step.look_whether_hidden()
        await note_delivered(step, event, reply)
        # A person reads a failure, but takes an answer without evidence for any other. Only the owner can mend a
        # workflow that does not do what it is for.
        if source_of(event).answers_to(event, reply) is None or finished.status == "done" or finished.cause == "unmet":
            await notify_owner(step, finished, self.catalog.defaults, used_workflow, provenance)
        await summarise(step, finished, self.catalog.defaults, used_workflow, provenance)
        return finished

    async def _end(self, step: OwnStep, event: Event, loaded: Loaded | None, bundle: Bundle | None) -> Ending:
        try:
            # A run that has begun keeps its bundle, even if a newer one was published meanwhile.
            if bundle is None:
                if loaded is None:
                    await check_withdrawn(step, event)
                    step.record_unknown_calls("its workflow was removed")
                    raise RunStopped(f"there is no workflow {step.progress.workflow!r} any more.")
                bundle = await pinned(step, await self._admitted(step, event, loaded))
                await self._show_whether_private(step)
            ending = await self._coordinate(step, event, bundle, loaded)
            # A cancellation that arrived during the last call still counts, because the answer is not fixed yet.
            await step.take_inbox()
            step.heed_cancel()
            return require_effect(ending, bundle.loaded.workflow, step.checks.calls.settled, self.services.tools)
        except DoesNotMatch as error:
            return Ending("ignored", reason=str(error), cause=error.cause, system=error.system)
        except NotNow as error:
            return Ending("limited", reason=str(error), notice=error.notice)
        except RunStopped as error:
            return loop.stopped(step, error, loaded, self._tools(bundle))
        except Cancelled as error:
            return Ending("cancelled", step.conversation.answer, str(error))

    def _poisoned_ending(self, step: OwnStep, bundle: Bundle | None) -> Ending:
        step.record_unknown_calls("every worker that made it stopped before its result was recorded")
        return Ending("failed", loop.so_far(step.conversation, self._tools(bundle)), POISON)

    def _tools(self, bundle: Bundle | None) -> Mapping[str, AnyTool]:
        """Return the tools that the model of a run has; none before the run has begun."""
        if bundle is None:
            return {}
        return self.services.granted(bundle.loaded.workflow, bundle.loaded.skills)

    async def _admitted(self, step: OwnStep, event: Event, loaded: Loaded) -> RunStarted:
        """Admit the run. A fault of Gofer ends it with a reason, because the next owner would meet the same fault."""
        try:
            try:
                return await admit(step, event, loaded)
            except Parked:
                await announce_unread(step, event, loaded)
                raise
        except ToolError as error:
            _log.error("a run could not begin: %s", fault(error))
            raise RunStopped(error.message_to_model, cause="fault", plain_reason=NEVER_BEGAN) from error
        except GoferError:
            raise
        except Exception as error:
            _log.error("a run could not begin: %s", fault(error))
            raise RunStopped(
                f"Gofer itself failed ({fault(error)})", cause="fault", plain_reason=NEVER_BEGAN
            ) from error

    async def _coordinate(self, step: OwnStep, event: Event, bundle: Bundle, loaded: Loaded | None) -> Ending:
        provenance = step.provenance(bundle.loaded.prompt_file)
        await announce(step, event, bundle.loaded.workflow.reply, provenance)
        await show_link(step, event, bundle.loaded.workflow.reply, provenance)
        withdrawn: frozenset[str] = frozenset()
        if loaded is not None:
            # By the current file: a skill that it prohibits is withdrawn from running runs too.
            withdrawn = frozenset(loaded.workflow.skills.prohibited)
        while True:
            working = working_step_of(step, bundle, alone=self.alone, withdrawn=withdrawn)
            try:
                return await COORDINATORS[bundle.loaded.workflow.coordinator](working, bundle, provenance)
            except Parked as parked:
                pressed = len(step.progress.clicks)
                await postpone(step, provenance, parked.entry)
                if len(step.progress.clicks) == pressed:
                    raise
                # A button was pressed meanwhile. The press has left the inbox, so it would wake the run no more.

    async def _show_whether_private(self, step: OwnStep) -> None:
        """Correct the privacy in the head of a run after admission, so that lists show public runs only."""
        store = self.services.store
        await step.look_whether_hidden()
        head = await store.head(step.run)
        if head is not None and head.private != step.is_private:
            changed = head.now("running", step.now_ms(), private=step.is_private, frames=step.frames)
            await write_head(changed, store)


def _reply_and_prompt(loaded: Loaded | None) -> tuple[Reply, str]:
    """Return the reply setting and the prompt file of a run; a run without a workflow answers in the thread."""
    if loaded is None:
        return "thread", ""
    return loaded.workflow.reply, loaded.prompt_file
