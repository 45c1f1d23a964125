"""The worker: receives queue messages, leases conversations and continues the oldest runnable run of each."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from gofer.engine.model_order import LONGEST_PARKED
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import MARGIN, Deadline
from gofer.engine.services import Services
from gofer.journal.conversations import Conversation
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunFinished, RunHandedOver, RunParked
from gofer.journal.hidden_runs import write_head
from gofer.journal.log import Pen, open_journal
from gofer.projections.attempts import UNREAD, Attempts
from gofer.projections.listing import unplaced_reason, with_cost
from gofer.projections.progress import Progress
from gofer.runtime.attempt_memos import earlier_attempts, forget_attempts, note_attempts
from gofer.runtime.follow_ups import is_left_alone, look_for_follow_ups, take_follow_ups
from gofer.runtime.followed_runs import start_following
from gofer.runtime.outages import Outages
from gofer.runtime.owner import Left, Owner
from gofer.runtime.retention import delete_or_leave
from gofer.runtime.returned_messages import plain_reason, replace_message, retry_later
from gofer.runtime.reviews.reviewer import Reviewer
from gofer.runtime.run_reports import (
    Ended,
    Observers,
    Trouble,
    count_end,
    count_private_end,
    log_end,
    log_failed_checks,
)
from gofer.runtime.slots import VISIBILITY_SECONDS, Slots
from gofer.stores.queue import Queue, QueueMessage, line_of
from gofer.values.errors import ConfigError, Corrupt, EarlierVersion, Fenced, Gone, OtherVersion, TemporaryError, fault
from gofer.values.outside import Clock
from gofer.workflows.load import Catalog

CONCURRENCY = 64
"""The most conversations at once in one process, unless a setting says otherwise."""
POLL_SECONDS = 20.0
"""Seconds for which a request to the queue waits for a message."""
BUSY_SECONDS = 5.0
"""Seconds until a parked run is enqueued again while its conversation is busy."""
RECEIVES = 10
"""The number of receipts after which a queue message becomes a dead letter; the sweeper still finds its run."""

_log = logging.getLogger(__name__)


class LiveCatalog(Protocol):
    """Workflows that may change while a worker runs."""

    async def holding(self, workflow: str) -> Catalog:
        """Return the current workflows, including `workflow` if it exists. Raises TemporaryError if there are none."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The concurrency and the waits of a worker, which depend on where it runs. Times are in seconds."""

    concurrency: int = CONCURRENCY
    """The most conversations at once."""
    lease: float = 60.0
    """The duration of a lease, which the worker renews three times as often."""
    grace: float = 0.0
    """The time that runs have to be handed over when the worker stops; then they are cut off."""
    pause: float = 1.0
    """The wait before the next request to a queue that failed."""
    receives: int = RECEIVES
    """The number of receipts after which a queue message becomes a dead letter; a queue may have a lower limit."""


@dataclass(frozen=True, slots=True)
class Worker:
    """The worker: continues runs as long as the queue has messages."""

    services: Services
    workflows: LiveCatalog
    """Asked for each run, because people may publish workflows while the worker runs."""
    alone: bool = False
    """Whether a lock proves that all other owners are dead, so that none can still be sending."""
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    observers: Observers = field(default_factory=Observers)
    reviewer: Reviewer | None = None
    """Reviews runs after their end; None for no reviews."""
    outages: Outages = field(default_factory=Outages)
    """The outages that keep its runs from going on."""
    suspects: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one suspect run at a time, so that a crash of the process makes no other run lose its owner."""

    @property
    def queue(self) -> Queue:
        """The queue of its messages."""
        return self.services.stores.queue

    @property
    def _clock(self) -> Clock:
        return self.services.outside.clock

    async def serve(self) -> None:
        """Process queue messages until cancelled; running conversations then get `grace` seconds to be handed over."""
        slots = self.slots(Deadline(self._clock))
        try:
            while True:
                await slots.fill(POLL_SECONDS)
        finally:
            slots.deadline.end()
            if self.limits.grace:
                await slots.wait_for_all(self.limits.grace)
            await slots.cut_off()

    def slots(self, deadline: Deadline) -> Slots:
        """Return free slots for conversations that end by a deadline."""
        limits = self.limits
        return Slots(self.answer, self.queue, deadline, concurrency=limits.concurrency, pause=limits.pause)

    async def answer(self, queue_message: QueueMessage, deadline: Deadline | None = None) -> None:
        """Process one queue message: continue the oldest runnable run of its conversation, if there is one."""
        try:
            await self._answer(queue_message, deadline or Deadline(self._clock))
        except (TemporaryError, ConfigError) as error:
            seconds = self.outages.note(queue_message.run, error, self._clock.now())
            self.observers.notify_outage()
            await replace_message(self.queue, queue_message, seconds)
        except Corrupt as error:
            _log.warning("run %s was not continued: %s", queue_message.run, error)
            await retry_later(self.queue, queue_message, self.limits.receives, plain_reason(error))
        except Exception as error:  # noqa: BLE001
            # An error of one run must not end the worker. Its text may hold contents, its type does not.
            _log.error("run %s was not continued: %s", queue_message.run, fault(error))
            await retry_later(self.queue, queue_message, self.limits.receives, type(error).__name__)

    async def _answer(self, queue_message: QueueMessage, deadline: Deadline) -> None:
        head = await self.services.store.head(queue_message.run)
        # Also when that run has ended: its message may be the only one that leads to the next run.
        busy = head is not None and not await self._continue_conversation(head.conversation, queue_message, deadline)
        if head is not None and busy and await is_left_alone(head, self.services.store):
            # The worker with the lease will not look for this run afterwards. So this message is replaced by a new one,
            # which starts counting its receives from one.
            await self.queue.enqueue(queue_message.run, BUSY_SECONDS, line=queue_message.line)
        await self.queue.acknowledge(queue_message)

    async def _continue_conversation(self, conversation: str, queue_message: QueueMessage, deadline: Deadline) -> bool:
        """Continue the oldest runnable run of a conversation; return False while another worker has the lease."""
        owner = self.services.outside.new_id()
        leased = await self.services.conversation(conversation)
        if not await leased.lease(owner, self._clock.now(), self.limits.lease):
            return False
        run = ""
        progress = None
        try:
            await self._prepare(queue_message.run, owner, deadline)
            if head := await leased.oldest_runnable():
                # The receipts of a message count for the run that it names only.
                receives = 1
                if head.run == queue_message.run:
                    receives = queue_message.receives
                work = self.continue_run(head, owner, deadline, receives=receives)
                run = head.run
                progress = await self._while_leased(work, leased, owner, queue_message)
        finally:
            await leased.release(owner)
        # After the release, so that the worker that receives this message can lease the conversation.
        if head := await (await self.services.conversation(conversation)).oldest_runnable():
            await self.queue.enqueue(head.run, line=line_of(head))
        await self.export(run, progress, deadline)
        if self.reviewer is not None:
            # The run that the message names may have ended before a crash.
            await self.reviewer.review_each([run, queue_message.run], self.workflows.holding, self.services, deadline)
        return True

    async def export(self, run: str, progress: Progress | None, deadline: Deadline | None = None) -> None:
        """Export the spans of a run that just ended, after its lease was released. Raises nothing."""
        if progress is None:
            return
        patience = math.inf
        if deadline is not None:
            patience = max(0.0, deadline.left + MARGIN / 2)
        await self.observers.export(run, progress, self.services.stores, patience)

    async def _while_leased(
        self, work: Coroutine[None, None, Progress | None], leased: Conversation, owner: str, message: QueueMessage
    ) -> Progress | None:
        """Run `work` while the lease is renewed; stop it when another worker has the lease."""
        working = asyncio.create_task(work)
        renewing = asyncio.create_task(self._renew(leased, owner, message))
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                return None
            return await working
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def _renew(self, leased: Conversation, owner: str, queue_message: QueueMessage) -> None:
        """Renew the lease until another worker has it. A failure does not end the run, which would repeat its calls."""
        held = True
        while held:
            await asyncio.sleep(self.limits.lease / 3)
            try:
                held = await leased.lease(owner, self._clock.now(), self.limits.lease)
                await self.queue.extend(queue_message, VISIBILITY_SECONDS)
            except (TemporaryError, ConfigError, Corrupt) as error:
                _log.warning("the lease or the message of run %s was not renewed: %s", queue_message.run, error)
            except Exception as error:  # noqa: BLE001
                _log.error("the lease or the message of run %s was not renewed: %s", queue_message.run, fault(error))

    async def _prepare(self, run: str, owner: str, deadline: Deadline) -> None:
        """Make a parked run runnable again, and journal what follows the end of an ended run.

        The owner of a parked run parks it again if it is too early.
        """
        head = await self.services.store.head(run)
        if head is None:
            return
        if head.status == "parked":
            await self._write_head(head, "queued")
        elif head.ended and not head.private and await self.services.store.items(run):
            await self._follow_up(head, owner, deadline)

    async def _follow_up(self, head: Head, owner: str, deadline: Deadline) -> None:
        try:
            catalog = await self.workflows.holding(head.workflow)
            await take_follow_ups(await self._open(head.run, owner, deadline, catalog), head, catalog)
        except (Fenced, Gone):
            # Another owner takes the items, or the contents are being deleted with them.
            return
        except OtherVersion:
            raise
        except Corrupt as error:
            # The run has ended, so no attempt would do more.
            _log.error("%s", error)

    async def continue_run(
        self, head: Head, owner: str, deadline: Deadline | None = None, *, receives: int = 1
    ) -> Progress | None:
        """Continue one run as far as possible and update its head.

        The caller keeps other owners out by a lease or a lock. `receives` is the number of receipts of the queue
        message: an attempt may crash before it leaves another mark. Return the progress of the run, which cannot be
        read later if the run is private, or None if the run could not be continued.
        """
        attempts = Attempts(receives)
        try:
            attempts = await earlier_attempts(head, receives, self.services.store)
            async with contextlib.AsyncExitStack() as turn:
                if attempts.suspect:
                    await turn.enter_async_context(self.suspects)
                if attempts.unreadable:
                    reason = f"it cannot be continued: {UNREAD} workers in a row ended before they had read its journal"
                    await self._abandon(head, reason, "poison")
                    await self._reset_attempts(head, attempts)
                    return None
                await self._begin(head, attempts)
                catalog = await self.workflows.holding(head.workflow)
                step = await self._open(head.run, owner, deadline or Deadline(self._clock), catalog)
                await self._reset_attempts(head, attempts)
                self.observers.note_owner(head, frames=step.frames, seconds=self._seconds(head))
                if step.progress.attempts.suspect and not attempts.suspect:
                    await turn.enter_async_context(self.suspects)
                left = await Owner(step.services, catalog, self.alone).work(step, again=attempts.may_have_acted)
                await self._settle(head, left, step, catalog)
                return step.progress
        except Fenced:
            return None
        except Gone as error:
            # The head was wrong: the run was deleted, and only ended runs are deleted.
            await self._write_head(head, "done", str(error))
        except EarlierVersion as error:
            # That version may never come back, and later runs of the conversation must not wait for it.
            _log.error("%s", error)
            await self._abandon(head, str(error), "corrupt")
            await self._reset_attempts(head, attempts)
        except OtherVersion as error:
            # The status stays, because a worker of that version continues the run. The write resets the sweeper's wait.
            await self._write_head(head, head.status, plain_reason(error))
            await self._reset_attempts(head, attempts)
            raise
        except Corrupt as error:
            _log.error("%s", error)
            # The current row, because it may have a higher number of frames by now.
            await self._abandon(await self.services.store.head(head.run) or head, str(error), "corrupt")
        except (TemporaryError, ConfigError) as error:
            await self._reset_attempts(head, attempts)
            if isinstance(error, ConfigError):
                await self._show_refusal(head, error)
            raise
        except Exception as error:
            if receives >= self.limits.receives:
                reason = f"it cannot be continued: {type(error).__name__} on its last attempt"
                await self._abandon(head, reason, "poison")
            raise
        return None

    async def _show_refusal(self, head: Head, error: ConfigError) -> None:
        """Show a refusal as the reason of a run in lists, until its next owner begins."""
        # The store may refuse this write too, and the log has the reason.
        with contextlib.suppress(TemporaryError, ConfigError):
            current = await self.services.store.head(head.run)
            if current is not None and current.status == "running":
                await self._write_head(current, "running", str(error))

    async def _begin(self, head: Head, attempts: Attempts) -> None:
        await note_attempts(head, attempts, self.services.store, self._clock)
        await self._write_head(head, "running")

    async def _reset_attempts(self, head: Head, attempts: Attempts) -> None:
        await forget_attempts(head, attempts, self.services.store, self._clock)

    async def _open(self, run: str, owner: str, deadline: Deadline, catalog: Catalog) -> OwnStep:
        services = self.services.of(catalog)
        pen = Pen(owner, services.outside)
        journal, entries = await open_journal(run, services.store, services.blobs, pen)
        step = OwnStep(journal, services, entries, deadline)
        await step.look_whether_hidden()
        if step.progress.attempts.unstored:
            await step.confirm_storage()
        return step

    async def _settle(self, head: Head, left: Left, step: OwnStep, catalog: Catalog) -> None:
        match left:
            case RunFinished(status=status, reason=reason):
                # Counted before the head is written, because after a crash nothing else reveals a private run.
                unlisted = await count_private_end(left, step, self._clock)
                # Also before the head: feedback that came with the end is no longer in the inbox.
                await start_following(step, step.progress.follow_ups.feedback.values(), catalog)
                await self._write_head(head, status, with_cost(reason, step.progress), step)
                trouble: Trouble = ""
                if reason.startswith("poison: "):
                    trouble = "poison"
                seconds = self._seconds(head)
                ended = Ended(
                    status, seconds, step.progress, trouble, unlisted, step.utilisation, is_private=step.is_private
                )
                self.observers.notify(ended)
                if step.progress.private:
                    await delete_or_leave(head.run, self.services.stores)
                elif not step.is_private:
                    log_end(head, left, seconds)
                    log_failed_checks(head, step.progress)
                    await look_for_follow_ups(step, head, self.queue)
            case RunParked(until=until):
                await self._write_head(head, "parked", step.progress.parked_reason, step, wakes_at=until)
                # An item that arrived before the head was written was enqueued while this worker had the run.
                delay = 0.0
                if not await step.has_news():
                    # If the wait is longer than the longest delay of a queue, the run is parked and enqueued again.
                    delay = min(max(0.0, until / 1000 - self._clock.now()), LONGEST_PARKED)
                await self.queue.enqueue(head.run, delay, line=line_of(head))
            case RunHandedOver():
                step.deadline.note_hand_over()
                # The worker looks for the next run of the conversation right after this.
                await self._write_head(head, "queued", step=step)

    async def _abandon(self, head: Head, reason: str, trouble: Literal["poison", "corrupt"]) -> None:
        unlisted = None
        if head.private:
            unlisted = await count_end("go on", trouble, self.services.store, self._clock)
        await self._write_head(head, "needs_attention", reason)
        self.observers.notify(Ended("needs_attention", self._seconds(head), trouble=trouble, unlisted=unlisted))

    def _seconds(self, head: Head) -> float:
        return round(self._clock.now() - head.accepted_at / 1000, 3)

    async def _write_head(
        self, head: Head, status: HeadStatus, reason: str = "", step: OwnStep | None = None, wakes_at: int = 0
    ) -> None:
        """Write the head; with `step`, also its privacy and number of frames as the journal has them."""
        at = int(self._clock.now() * 1000)
        private = None
        frames = 0
        facts = ""
        if step:
            await step.look_whether_hidden()
            private = step.is_private
            frames = step.frames
            facts = step.head_facts()
        changed = head.now(status, at, private=private, reason=reason, wakes_at=wakes_at, frames=frames, facts=facts)
        # The head of a private run outlives its contents, and a reason may name a person or a place.
        if changed.private:
            unplaced = ""
            if step and status == "parked":
                unplaced = unplaced_reason(step.progress)
            changed = replace(changed, reason=unplaced)
        await write_head(changed, self.services.store)
