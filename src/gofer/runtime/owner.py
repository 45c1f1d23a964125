"""The owner of a run, from taking it over to letting it go."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from gofer.engine import loop, script
from gofer.engine.admission import admit, check_withdrawn, pinned
from gofer.engine.approvals import close
from gofer.engine.conditions import DoesNotMatch
from gofer.engine.loop import Ending
from gofer.engine.model_order import Parked
from gofer.engine.own_step import OwnStep
from gofer.engine.private_answer import show_link
from gofer.engine.services import Services
from gofer.engine.source_context import NEVER_BEGAN
from gofer.engine.subagent_owner import end_subagents
from gofer.engine.subagent_runs import working_step_of
from gofer.engine.usage_limits import NotNow, record
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import RunFinished, RunHandedOver, RunOwned, RunParked, RunStarted
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.purposes import SUMMARY
from gofer.runtime.deliver import announce, conclude, deliver, nowhere, postpone
from gofer.runtime.run_reports import notify_owner, summarise
from gofer.tools.definition import Provenance
from gofer.values.errors import Cancelled, GoferError, OutOfTime, RunStopped, TemporaryError, ToolError, fault
from gofer.values.events import Event
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Reply

POISON = "poison: it broke off at the same point again and again. Whoever runs Gofer can see where in its trace."

_log = logging.getLogger(__name__)

Coordinator = Callable[[WorkingStep, Bundle, Provenance], Awaitable[Ending]]
COORDINATORS: Mapping[str, Coordinator] = {"llm": loop.coordinate, "script": script.coordinate}
"""Who decides the next step of a run, by the name that workflow files use."""

Left = RunFinished | RunParked | RunHandedOver
"""How an owner leaves a run."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of runs, which acts for them; its caller keeps others out, by a lease or a lock."""

    services: Services
    catalog: Catalog
    alone: bool
    """Whether every earlier owner is known to be dead, so that nothing of theirs can be under way."""

    async def work(self, step: OwnStep, again: bool) -> Left:
        """Goes on with a run as far as possible; `again` when an earlier attempt may have left no mark.

        Raises Fenced, Damaged, TemporaryError.
        """
        if ended := step.progress.finished:
            return ended
        if (parked := step.progress.parked) and self._too_early(step, parked) and not await step.has_news():
            return parked
        again = again or bool(step.progress.owned_at)
        step.note(RunOwned())
        if again or step.progress.in_doubt:
            # From this frame on a predecessor can append nothing more; only now may its effects be looked for.
            # It also is the mark by which an owner that is lost at once is counted.
            await step.commit()
        try:
            await step.take_inbox()
            left = self._quiet(step) or await self._go_on(step)
            # Before the end is written: an owner that is lost in between is followed by one that does it again.
            await record(step, self.catalog.workflows.get(step.progress.workflow))
            step.note(left)
            await step.commit()
        except TemporaryError:
            await step.leave_after_failure(RunHandedOver("interrupted"))
            raise
        except asyncio.CancelledError:
            # Cut off while its worker stops. An owner without the lease writes nothing: another one has the run by now.
            if step.stopping:
                await step.leave_after_failure(RunHandedOver("interrupted"))
            raise
        return left

    def _too_early(self, step: OwnStep, parked: RunParked) -> bool:
        """Whether a parked run still waits; not for a time that a clock set, which was ahead and is right again."""
        set_back = self.alone and step.progress.last_at > step.now_ms()
        return parked.until > step.now_ms() and not set_back

    def _quiet(self, step: OwnStep) -> RunParked | None:
        seconds = step.quiet_left(self.alone)
        return RunParked("quiet_time", step.now_ms() + int(seconds * 1000) + 1) if seconds else None

    async def _go_on(self, step: OwnStep) -> Left:
        try:
            return await self._to_its_end(step)
        except OutOfTime:
            return RunHandedOver()
        except Parked as parked:
            return parked.entry

    async def _to_its_end(self, step: OwnStep) -> RunFinished:
        event = step.progress.event
        loaded = self.catalog.workflows.get(step.progress.workflow)
        if event is None:
            return RunFinished("failed", "its journal does not begin with an event", "corrupt")
        bundle = await pinned(self.services, step.progress.started) if step.progress.started else None
        poisoned = step.progress.attempts.poisoned
        if (concluded := step.progress.concluded) is None:
            ending = self._poisoned(step, bundle) if poisoned else await self._end(step, event, loaded, bundle)
            concluded = conclude(ending, step.progress, self.services.tools)
            step.note(concluded)
        elif poisoned:
            told = SUMMARY in step.progress.in_doubt
            step.record_unknown_calls("every worker that had it was lost")
            if not told:
                reason = "poison: every worker that tried to deliver its answer was lost"
                return RunFinished("failed", reason, "poison")
        used = bundle.loaded if bundle else loaded
        reply, prompt_file = _where(used)
        provenance = step.provenance(prompt_file)
        await end_subagents(step, "the run that asked it ended", provenance)
        await close(step, provenance)
        finished = await deliver(step, event, reply, provenance, concluded)
        if nowhere(event, reply):
            await notify_owner(step, finished, self.catalog.defaults, used, provenance)
        await summarise(step, finished, self.catalog.defaults, used, provenance)
        return finished

    async def _end(self, step: OwnStep, event: Event, loaded: Loaded | None, bundle: Bundle | None) -> Ending:
        try:
            # A run that has begun goes on by its own bundle, also when another one is published meanwhile.
            if bundle is None:
                if loaded is None:
                    await check_withdrawn(step, event)
                    step.record_unknown_calls("its workflow was taken away meanwhile")
                    raise RunStopped(f"there is no workflow {step.progress.workflow!r} any more.")
                bundle = await pinned(self.services, await self._admitted(step, event, loaded))
                await self._show_whether_private(step)
            ending = await self._coordinate(step, event, bundle, loaded)
            # A wish to stop that came in during the last call counts, because nothing was said yet.
            await step.take_inbox()
            step.heed_cancel()
            return ending
        except DoesNotMatch as error:
            return Ending("ignored", reason=str(error), cause=error.cause)
        except NotNow as error:
            return Ending("limited", reason=str(error), notice=error.notice)
        except RunStopped as error:
            return loop.stopped(step, error, loaded, self._tools(bundle))
        except Cancelled as error:
            return Ending("cancelled", step.conversation.answer, str(error))

    def _poisoned(self, step: OwnStep, bundle: Bundle | None) -> Ending:
        step.record_unknown_calls("every worker that had it was lost")
        return Ending("failed", loop.so_far(step.conversation, self._tools(bundle)), POISON)

    def _tools(self, bundle: Bundle | None) -> Collection[str]:
        """Return the names of the tools that the model of a run has; none before the run has begun."""
        if bundle is None:
            return ()
        return self.services.granted(bundle.loaded.workflow, bundle.loaded.skills)

    async def _admitted(self, step: OwnStep, event: Event, loaded: Loaded) -> RunStarted:
        """Let the run in. A fault of Gofer ends it with a reason: the next owner would meet the same fault."""
        try:
            return await admit(step, event, loaded)
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
            # As its file has it now: what is prohibited meanwhile holds for runs that have begun.
            withdrawn = frozenset(loaded.workflow.skills.prohibited)
        working = working_step_of(step, bundle, alone=self.alone, withdrawn=withdrawn)
        try:
            return await COORDINATORS[bundle.loaded.workflow.coordinator](working, bundle, provenance)
        except Parked as parked:
            await postpone(step, provenance, parked.entry)
            raise

    async def _show_whether_private(self, step: OwnStep) -> None:
        """Gives a run that turned out not to be private its place in the lists, and takes it from one that is."""
        store = self.services.store
        private = step.progress.private or await is_hidden(step.run, store)
        head = await store.head(step.run)
        if head is not None and head.private != private:
            await store.put_head(head.now("running", step.now_ms(), private=private, frames=step.frames))


def _where(loaded: Loaded | None) -> tuple[Reply, str]:
    """Where a run's answer goes and which prompt it links to; a workflow that is gone answers in the thread."""
    return (loaded.workflow.reply, loaded.prompt_file) if loaded else ("thread", "")
