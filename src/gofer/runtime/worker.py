"""The worker: receives queue messages, leases conversations and continues the oldest runnable run of each."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from gofer.engine.model_order import LONGEST_PARKED
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import MARGIN, Deadline
from gofer.engine.services import Services
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunFinished, RunHandedOver, RunParked
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.log import Pen, open_journal
from gofer.journal.store import Store
from gofer.projections.attempts import UNREAD, Attempts
from gofer.projections.listing import with_cost
from gofer.projections.progress import Progress
from gofer.runtime.owner import Left, Owner
from gofer.runtime.retention import delete
from gofer.runtime.run_reports import Ended, Observers, Trouble, count_end, count_private_end, log_end
from gofer.stores.queue import Queue, QueueMessage
from gofer.values.errors import Corrupt, EarlierVersion, Fenced, Gone, OtherVersion, TemporaryError, fault
from gofer.values.outside import Clock
from gofer.workflows.load import Catalog

VISIBILITY_SECONDS = 120.0
BUSY_SECONDS = 5.0
"""Seconds until a parked run is enqueued again while its conversation is busy."""
RECEIVES = 10
"""How often a queue message is received before it is a dead letter; the sweeper still finds its run."""

_log = logging.getLogger(__name__)


class LiveCatalog(Protocol):
    """Workflows that may change while a worker is at work."""

    async def holding(self, workflow: str) -> Catalog:
        """Return those of now, with this one if there is one of its name. Raises TemporaryError when there are none."""
        ...


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """How much a worker does at once, and how long it waits: the place it runs in decides. Times are seconds."""

    concurrency: int = 64
    """Conversations in flight at once."""
    lease: float = 60.0
    """How long a conversation is this worker's unless it is renewed; renewed three times as often."""
    grace: float = 0.0
    """How long runs get to be handed over when the worker stops; what takes longer is cut off where it is."""
    pause: float = 1.0
    """How long the worker waits before it asks a queue that failed again."""
    receives: int = RECEIVES
    """How often a queue message is received before it is a dead letter; a queue that counts too may be sooner."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Continues runs as long as the queue has messages."""

    services: Services
    workflows: LiveCatalog
    """Asked for each run, as people may publish workflows without a new worker."""
    alone: bool = False
    """Whether a lock proves that every other owner is dead, so that none of them can be sending any more."""
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    observers: Observers = field(default_factory=Observers)
    suspects: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one suspect at a time: the others have no owner when it takes the process with it."""

    @property
    def queue(self) -> Queue:
        """The queue that it receives messages from."""
        return self.services.stores.queue

    @property
    def _clock(self) -> Clock:
        return self.services.outside.clock

    async def serve(self) -> None:
        """Answer queue messages until cancelled; running conversations then get `grace` seconds to be handed over."""
        busy: set[asyncio.Task[None]] = set()
        deadline = Deadline(self._clock)
        try:
            while True:
                for queue_message in await self._receive(self.limits.concurrency - len(busy)):
                    busy.add(asyncio.create_task(self.answer(queue_message, deadline)))
                if len(busy) >= self.limits.concurrency:
                    await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
                busy = {task for task in busy if not task.done()}
        finally:
            deadline.end()
            if busy and self.limits.grace:
                await asyncio.wait(busy, timeout=self.limits.grace)
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def answer(self, queue_message: QueueMessage, deadline: Deadline | None = None) -> None:
        """Answer one queue message: continue the oldest run of its conversation, if there is one to continue."""
        try:
            await self._answer(queue_message, deadline or Deadline(self._clock))
        except (TemporaryError, Corrupt) as error:
            _log.warning("run %s was not continued: %s", queue_message.run, error)
            await self._retry_later(queue_message, _why(error))
        except Exception as error:  # noqa: BLE001
            # One run's trouble must not end the worker; the text may hold contents, the type does not.
            _log.error("run %s was not continued: %s", queue_message.run, fault(error))
            await self._retry_later(queue_message, type(error).__name__)

    async def _answer(self, queue_message: QueueMessage, deadline: Deadline) -> None:
        head = await self.services.store.head(queue_message.run)
        # Also when that run has ended: its message may be the only one left for the run after it.
        busy = head is not None and not await self._continue_conversation(head.conversation, queue_message, deadline)
        if head is not None and busy and head.status == "parked":
            # The worker that has the lease does not look for parked runs when it is done, and may just be parking this
            # one. A new message comes before the lease ends, and its receipts are counted from the beginning.
            await self.queue.enqueue(queue_message.run, BUSY_SECONDS)
        await self.queue.acknowledge(queue_message)

    async def _retry_later(self, queue_message: QueueMessage, reason: str) -> None:
        """Let a message come back after a growing delay, or move it to the dead letters after too many receipts."""
        # If the queue cannot be written, the message comes back after its visibility time.
        with contextlib.suppress(TemporaryError):
            if queue_message.receives >= self.limits.receives:
                await self.queue.move_to_dead_letters(queue_message, reason)
            else:
                await self.queue.extend(queue_message, min(VISIBILITY_SECONDS, 2.0**queue_message.receives))

    async def _receive(self, limit: int) -> Sequence[QueueMessage]:
        try:
            return await self.queue.receive(limit, VISIBILITY_SECONDS, 20.0)
        except (TemporaryError, Corrupt) as error:
            _log.warning("the queue did not answer: %s", error)
            await asyncio.sleep(self.limits.pause)
            return ()

    async def _continue_conversation(self, conversation: str, queue_message: QueueMessage, deadline: Deadline) -> bool:
        """Continue its oldest runnable run; return False while another worker has the lease."""
        store = self.services.store
        owner = self.services.outside.new_id()
        if not await store.lease(conversation, owner, self._clock.now(), self.limits.lease):
            return False
        run = ""
        progress = None
        try:
            await self._wake(queue_message.run)
            if head := await store.oldest_runnable(conversation):
                # How often a message was received says something of the run that it names, and of no other.
                receives = 1
                if head.run == queue_message.run:
                    receives = queue_message.receives
                work = self.continue_run(head, owner, deadline, receives=receives)
                run = head.run
                progress = await self._while_leased(work, conversation, owner, queue_message)
        finally:
            await store.release(conversation, owner)
        # Only after the release: a worker that receives the message finds the conversation free.
        if head := await store.oldest_runnable(conversation):
            await self.queue.enqueue(head.run)
        await self.export(run, progress, deadline)
        return True

    async def export(self, run: str, progress: Progress | None, deadline: Deadline | None = None) -> None:
        """Export a run that just ended, after its lease was released. Raises nothing."""
        if progress is None:
            return
        patience = math.inf
        if deadline is not None:
            patience = max(0.0, deadline.left + MARGIN / 2)
        await self.observers.export(run, progress, self.services.stores, patience)

    async def _while_leased(
        self, work: Coroutine[None, None, Progress | None], conversation: str, owner: str, queue_message: QueueMessage
    ) -> Progress | None:
        """Do the work while the lease is renewed; end it when another worker has the lease."""
        working = asyncio.create_task(work)
        renewing = asyncio.create_task(self._renew(conversation, owner, queue_message))
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                return None
            return await working
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def _renew(self, conversation: str, owner: str, queue_message: QueueMessage) -> None:
        """Return when another worker has the lease."""
        held = True
        while held:
            await asyncio.sleep(self.limits.lease / 3)
            with contextlib.suppress(TemporaryError, Corrupt):
                now = self._clock.now()
                held = await self.services.store.lease(conversation, owner, now, self.limits.lease)
                await self.queue.extend(queue_message, VISIBILITY_SECONDS)

    async def _wake(self, run: str) -> None:
        """Make a parked run runnable again; its owner parks it anew when it is too early."""
        head = await self.services.store.head(run)
        if head is not None and head.status == "parked":
            await self._show(head, "queued")

    async def continue_run(
        self, head: Head, owner: str, deadline: Deadline | None = None, *, receives: int = 1
    ) -> Progress | None:
        """Continue one run as far as possible and keep its head; the caller keeps others out, by lease or lock.

        `receives` counts the receipts of the same queue message: an attempt may crash before it leaves a mark. Return
        how far the run is now, which is not looked up later when it is private; None when it could not go on.
        """
        attempts = Attempts(receives)
        try:
            attempts = await earlier_attempts(head, receives, self.services.store)
            async with contextlib.AsyncExitStack() as turn:
                if attempts.suspect:
                    await turn.enter_async_context(self.suspects)
                if attempts.unreadable:
                    reason = f"it cannot be continued: {UNREAD} attempts ended without a word"
                    await self._abandon(head, reason, "poison")
                    await self._forget(head, attempts)
                    return None
                await self._begin(head, attempts)
                catalog = await self.workflows.holding(head.workflow)
                step = await self._open(head.run, owner, deadline or Deadline(self._clock), catalog)
                await self._forget(head, attempts)
                if step.progress.attempts.suspect and not attempts.suspect:
                    await turn.enter_async_context(self.suspects)
                left = await Owner(step.services, catalog, self.alone).work(step, again=attempts.may_have_acted)
                await self._leave(head, left, step)
                return step.progress
        except Fenced:
            return None
        except Gone as error:
            # A head that lied: nothing is left to continue, and only what ended is deleted.
            await self._show(head, "done", str(error))
        except EarlierVersion as error:
            # Its version may never come back, and later runs of the conversation are not to wait for it.
            _log.error("%s", error)
            await self._abandon(head, str(error), "corrupt")
            await self._forget(head, attempts)
        except OtherVersion as error:
            # As it was: a worker of that version continues it. The sweeper sees the sign of life.
            await self._show(head, head.status, _why(error))
            await self._forget(head, attempts)
            raise
        except Corrupt as error:
            _log.error("%s", error)
            # The row as it is by now: it may know of more frames than it did.
            await self._abandon(await self.services.store.head(head.run) or head, str(error), "corrupt")
        except TemporaryError:
            await self._forget(head, attempts)
            raise
        except Exception as error:
            if receives >= self.limits.receives:
                reason = f"it cannot be continued: {type(error).__name__} on its last attempt"
                await self._abandon(head, reason, "poison")
            raise
        return None

    async def _begin(self, head: Head, attempts: Attempts) -> None:
        await note_attempts(head, attempts, self.services.store, self._clock)
        await self._show(head, "running")

    async def _forget(self, head: Head, attempts: Attempts) -> None:
        await forget_attempts(head, attempts, self.services.store, self._clock)

    async def _open(self, run: str, owner: str, deadline: Deadline, catalog: Catalog) -> OwnStep:
        services = self.services.of(catalog)
        pen = Pen(owner, services.outside)
        journal, entries = await open_journal(run, services.store, services.blobs, pen)
        return OwnStep(journal, services, entries, deadline)

    async def _leave(self, head: Head, left: Left, step: OwnStep) -> None:
        match left:
            case RunFinished(status=status, reason=reason):
                # Counted first: a worker lost after it writes the head leaves no other trace of a private run.
                unlisted = await count_private_end(left, step.progress, self.services.store, self._clock)
                await self._show(head, status, with_cost(reason, step.progress), step)
                trouble: Trouble = ""
                if reason.startswith("poison: "):
                    trouble = "poison"
                seconds = self._seconds(head)
                windows = step.services.windows
                self.observers.notify(Ended(status, seconds, step.progress, trouble, unlisted, windows))
                if step.progress.private:
                    await self._delete(head.run)
                else:
                    log_end(head, left, seconds)
            case RunParked(until=until):
                await self._show(head, "parked", step.progress.parked_reason, step, wakes_at=until)
                # An item that came before the head said so was enqueued for a run that was busy.
                delay = 0.0
                if not await step.has_news():
                    # Enqueued again and again where the wait is longer than a queue can hold a message back.
                    delay = min(max(0.0, until / 1000 - self._clock.now()), LONGEST_PARKED)
                await self.queue.enqueue(head.run, delay)
            case RunHandedOver():
                # Found when its conversation is looked at again, right after this.
                await self._show(head, "queued", step=step)

    async def _abandon(self, head: Head, reason: str, trouble: Literal["poison", "corrupt"]) -> None:
        unlisted = None
        if head.private:
            unlisted = await count_end("go on", trouble, self.services.store, self._clock)
        await self._show(head, "needs_attention", reason)
        self.observers.notify(Ended("needs_attention", self._seconds(head), trouble=trouble, unlisted=unlisted))

    def _seconds(self, head: Head) -> float:
        return round(self._clock.now() - head.accepted_at / 1000, 3)

    async def _delete(self, run: str) -> None:
        try:
            await delete([run], self.services.stores)
        except TemporaryError as error:
            _log.warning("what is left of run %s is deleted with the next purge: %s", run, error)

    async def _show(
        self, head: Head, status: HeadStatus, reason: str = "", step: OwnStep | None = None, wakes_at: int = 0
    ) -> None:
        """Write the head, with what the journal says of the run when it was read."""
        at = int(self._clock.now() * 1000)
        private = None
        frames = 0
        if step:
            private = step.progress.private or await is_hidden(head.run, self.services.store)
            frames = step.frames
        changed = head.now(status, at, private=private, reason=reason, wakes_at=wakes_at, frames=frames)
        # No list shows a private run, its head outlives its contents, and a reason may name a person or a place.
        if changed.private:
            changed = replace(changed, reason="")
        await self.services.store.put_head(changed)


def _why(error: TemporaryError | Corrupt) -> str:
    """Return why a message was not answered, without what the error may name."""
    match error:
        case OtherVersion():
            return "another version of Gofer wrote its journal; finish it with that one"
        case Corrupt():
            return "its journal is damaged"
        case TemporaryError():
            return "the store or the queue did not answer"


async def earlier_attempts(head: Head, receives: int, store: Store) -> Attempts:
    """Count the attempts at a run that its journal does not know of. Raises TemporaryError.

    An owner that leaves a run writes its head, so a head that says `running` is that of a crashed owner. Receipts of a
    queue message are not enough: SQS may move a message to the dead letters by itself, and the next one starts at one.
    """
    unread = 0
    if head.status == "running":
        unread = int(await store.memo(_key(head)) or 0) + 1
    return Attempts(receives, unread)


async def note_attempts(head: Head, attempts: Attempts, store: Store, clock: Clock) -> None:
    """Write down that another owner begins to read the journal. Raises TemporaryError."""
    if attempts.unread:
        await _put(head, attempts.unread, store, clock)


async def forget_attempts(head: Head, attempts: Attempts, store: Store, clock: Clock) -> None:
    """Begin to count anew: an owner that can say what happened has not crashed. Raises TemporaryError."""
    if attempts.unread:
        await _put(head, 0, store, clock)


async def _put(head: Head, unread: int, store: Store, clock: Clock) -> None:
    await store.put_memo(_key(head), str(unread), int(clock.now() * 1000))


def _key(head: Head) -> str:
    return f"unread-attempts:{head.run}"
