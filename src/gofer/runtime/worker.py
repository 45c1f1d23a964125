"""The worker: receives queue messages, leases conversations and continues the oldest runnable run of each."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from gofer.engine.deadline import MARGIN, Deadline
from gofer.engine.model_order import LONGEST_PARKED
from gofer.engine.services import Services
from gofer.engine.step import Step
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunFinished, RunHandedOver, RunParked, ToolResult
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.log import Pen, open_journal
from gofer.journal.unlisted_ends import Ends, Stage, count
from gofer.projections.listing import with_cost
from gofer.projections.progress import Progress
from gofer.runtime.owner import Left, Owner
from gofer.runtime.retention import delete
from gofer.runtime.telemetry.exporter import Exporter
from gofer.stores.queue import Queue, QueueMessage
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Cause, Corrupt, Fenced, Gone, Newer, TemporaryError, fault
from gofer.workflows.load import Catalog

VISIBILITY_SECONDS = 120.0
LOST = 10
"""How often in a row a run may take its worker with it before its journal was read; afterwards that counts them."""
SUSPECT = 2
"""Owners in a row that were lost with a run before it is one of those that may have killed them."""
BUSY_SECONDS = 5.0
"""After which a bell for a parked run rings again, while its conversation is busy."""
RECEIVES = 10
"""How often a bell is heard before it is given up; what it rang for stays with the sweeper."""

_log = logging.getLogger(__name__)


class LiveCatalog(Protocol):
    """Workflows that change while a worker is at work."""

    async def holding(self, workflow: str) -> Catalog:
        """Those of now; with this workflow if there is one of that name. Raises TemporaryError when there are none."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that just ended, or that cannot go on by itself, in numbers: whose it was is not among them."""

    status: HeadStatus
    seconds: float
    """Since it was accepted."""
    progress: Progress | None = None
    """None when its journal was not read to the end."""
    trouble: Literal["", "poison", "damaged"] = ""
    """That its workers were lost again and again, or that its journal or a body is not what was written."""
    unlisted: Ends | None = None
    """The count of its hour, for one that ended without an answer and that no list shows."""
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that models take at most, by name, where that is known."""


def _nobody_listens(ended: Ended) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Worker:
    """Continues runs until nobody rings."""

    services: Services
    queue: Queue
    catalog: Catalog
    concurrency: int = 64
    """Conversations in flight at once."""
    lease: float = 60.0
    """Seconds a conversation is this worker's unless it is renewed; renewed three times as often."""
    alone: bool = False
    """Whether a lock proves that every other owner is dead, so that nobody can be sending any more."""
    grace: float = 0.0
    """Seconds that runs get to be handed over when it stops serving; what takes longer is cut off where it is."""
    suspects: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one suspect at a time: the others have no owner when it takes the process with it."""
    pause: float = 1.0
    """Seconds before it listens again to a queue that failed."""
    receives: int = RECEIVES
    """How often a bell is heard before it is given up; a queue that gives bells up by itself may be sooner."""
    tell: Callable[[Ended], None] = _nobody_listens
    """Told of each run that ends, private ones too."""
    live: LiveCatalog | None = None
    """Where workflows are published without a new worker: asked for each run, in place of `catalog`."""
    exporter: Exporter | None = None
    """What sends the spans of runs that ended; None when nobody collects them."""

    async def serve(self) -> None:
        """Hears doorbells until it is cancelled; what is under way then gets `grace` seconds to be handed over."""
        busy: set[asyncio.Task[None]] = set()
        deadline = Deadline(self.services.outside.clock)
        try:
            while True:
                for queue_message in await self._listen(self.concurrency - len(busy)):
                    busy.add(asyncio.create_task(self.answer(queue_message, deadline)))
                if len(busy) >= self.concurrency:
                    await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
                busy = {task for task in busy if not task.done()}
        finally:
            deadline.end()
            if busy and self.grace:
                await asyncio.wait(busy, timeout=self.grace)
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def answer(self, queue_message: QueueMessage, deadline: Deadline | None = None) -> None:
        """Deals with one doorbell: continues the oldest run of its conversation, if there is one to continue."""
        try:
            await self._answer(queue_message, deadline or Deadline(self.services.outside.clock))
        except (TemporaryError, Corrupt) as error:
            _log.warning("run %s was not continued: %s", queue_message.run, error)
            await self._again_later(queue_message, _why(error))
        except Exception as error:  # noqa: BLE001
            # One run's trouble must not end the worker; the text may hold contents, the type does not.
            _log.error("run %s was not continued: %s", queue_message.run, fault(error))
            await self._again_later(queue_message, type(error).__name__)

    async def _answer(self, queue_message: QueueMessage, deadline: Deadline) -> None:
        head = await self.services.store.head(queue_message.run)
        # Also when that run is over: it may be the only bell left for the one after it.
        busy = head is not None and not await self._continue_conversation(head.conversation, queue_message, deadline)
        if head is not None and busy and head.status == "parked":
            # Whoever is busy there will not look for a parked run when it is done, and may just be parking this one:
            # a press that came meanwhile waits no minute for the end of the lease. A new bell is a young bell.
            await self.queue.enqueue(queue_message.run, BUSY_SECONDS)
        await self.queue.acknowledge(queue_message)

    async def _again_later(self, queue_message: QueueMessage, why: str) -> None:
        """Lets a bell come back after a pause that grows; one that was heard too often is given up."""
        # When nothing can be written the bell comes back after its visibility time.
        with contextlib.suppress(TemporaryError):
            if queue_message.receives >= self.receives:
                await self.queue.bury(queue_message, why)
            else:
                await self.queue.extend(queue_message, min(VISIBILITY_SECONDS, 2.0**queue_message.receives))

    async def _listen(self, limit: int) -> Sequence[QueueMessage]:
        try:
            return await self.queue.receive(limit, VISIBILITY_SECONDS, 20.0)
        except (TemporaryError, Corrupt) as error:
            _log.warning("the queue cannot be heard: %s", error)
            await asyncio.sleep(self.pause)
            return ()

    async def _continue_conversation(self, conversation: str, queue_message: QueueMessage, deadline: Deadline) -> bool:
        """Continue its oldest runnable run; return False while another worker has the lease."""
        store, owner = self.services.store, self.services.outside.new_id()
        if not await store.lease(conversation, owner, self.services.outside.clock.now(), self.lease):
            return False
        run, progress = "", None
        try:
            await self._wake(queue_message.run)
            if head := await store.oldest_runnable(conversation):
                # How often the bell was heard says something of the run it rang for, and of no other.
                attempt = queue_message.receives if head.run == queue_message.run else 1
                work = self.continue_run(head, owner, deadline, attempt=attempt)
                run, progress = head.run, await self._while_leased(work, conversation, owner, queue_message)
        finally:
            await store.release(conversation, owner)
        # Only after the release: whoever rings now finds the conversation free.
        if head := await store.oldest_runnable(conversation):
            await self.queue.enqueue(head.run)
        await self.export(run, progress, deadline)
        return True

    async def export(self, run: str, progress: Progress | None, deadline: Deadline | None = None) -> None:
        """Sends the spans of a run that just ended, when nobody waits for it any more. Raises nothing."""
        if self.exporter is None or progress is None or progress.finished is None or progress.private:
            return
        # What was never begun is nothing that anybody looks for.
        if progress.finished.status != "ignored":
            patience = max(0.0, deadline.left + MARGIN / 2) if deadline else math.inf
            await self.exporter.at_the_end(run, self.services.store, self.services.blobs, patience)

    async def _while_leased(
        self, work: Coroutine[None, None, Progress | None], conversation: str, owner: str, queue_message: QueueMessage
    ) -> Progress | None:
        """Do the work while the lease is renewed; end it when another worker has the lease."""
        working = asyncio.create_task(work)
        renewing = asyncio.create_task(self._renew(conversation, owner, queue_message))
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            return await working if working.done() else None
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def _renew(self, conversation: str, owner: str, queue_message: QueueMessage) -> None:
        """Return when another worker has the lease."""
        held = True
        while held:
            await asyncio.sleep(self.lease / 3)
            with contextlib.suppress(TemporaryError, Corrupt):
                now = self.services.outside.clock.now()
                held = await self.services.store.lease(conversation, owner, now, self.lease)
                await self.queue.extend(queue_message, VISIBILITY_SECONDS)

    async def _wake(self, run: str) -> None:
        """A bell for a parked run makes it runnable again; it parks anew when it is too early."""
        head = await self.services.store.head(run)
        if head is not None and head.status == "parked":
            await self._show(head, "queued")

    async def continue_run(
        self, head: Head, owner: str, deadline: Deadline | None = None, *, attempt: int = 1
    ) -> Progress | None:
        """Continues one run as far as possible and keeps its head; the caller keeps others out, by lease or lock.

        `attempt` counts how often the same bell was heard: an attempt may be lost before it leaves a mark. Gives how
        far the run is now, which nobody can look up later when it is private; None when it could not go on.
        """
        lost = 0
        try:
            lost = await self._lost(head)
            async with contextlib.AsyncExitStack() as turn:
                if lost >= SUSPECT:
                    await turn.enter_async_context(self.suspects)
                if lost >= LOST:
                    reason = f"it cannot be continued: {LOST} attempts ended without a word"
                    await self._give_up(head, reason, "poison")
                    await self._forget_lost(head, lost)
                    return None
                await self._begin(head, lost)
                catalog = self.catalog if self.live is None else await self.live.holding(head.workflow)
                step = await self._open(head.run, owner, deadline or Deadline(self.services.outside.clock), catalog)
                await self._forget_lost(head, lost)
                if lost < SUSPECT <= step.progress.takeovers:
                    await turn.enter_async_context(self.suspects)
                left = await Owner(step.services, catalog, self.alone).work(step, again=attempt > 1 or lost > 0)
                await self._leave(head, left, step)
                return step.progress
        except Fenced:
            return None
        except Gone as error:
            # A head that lied: nothing is left to continue, and only what ended is deleted.
            await self._show(head, "done", str(error))
        except Newer as error:
            # As it was: a newer worker continues it. The sign of life is for the sweeper, which need not hurry.
            await self._show(head, head.status, _why(error))
            await self._forget_lost(head, lost)
            raise
        except Corrupt as error:
            _log.error("%s", error)
            # The row as it is by now: it may know of more frames than it did.
            await self._give_up(await self.services.store.head(head.run) or head, str(error), "damaged")
        except TemporaryError:
            await self._forget_lost(head, lost)
            raise
        except Exception as error:
            if attempt >= self.receives:
                reason = f"it cannot be continued: {type(error).__name__} on its last attempt"
                await self._give_up(head, reason, "poison")
            raise
        return None

    async def _lost(self, head: Head) -> int:
        """How many owners in a row were lost before they had read the journal: who leaves a run writes its head.

        Bells cannot tell: a queue may give one up by itself, and the next one is a young one.
        """
        return int(await self.services.store.memo(_lost_key(head)) or 0) + 1 if head.status == "running" else 0

    async def _begin(self, head: Head, lost: int) -> None:
        if lost:
            await self._note_lost(head, lost)
        await self._show(head, "running")

    async def _forget_lost(self, head: Head, lost: int) -> None:
        """Reset the count of lost owners: an owner that can say what happened is not lost."""
        if lost:
            await self._note_lost(head, 0)

    async def _note_lost(self, head: Head, lost: int) -> None:
        now = int(self.services.outside.clock.now() * 1000)
        await self.services.store.put_memo(_lost_key(head), str(lost), now)

    async def _open(self, run: str, owner: str, deadline: Deadline, catalog: Catalog) -> Step:
        services = self.services if self.live is None else self.services.of(catalog)
        pen = Pen(owner, services.outside)
        journal, entries = await open_journal(run, services.store, services.blobs, pen)
        return Step(journal, services, entries, deadline)

    async def _leave(self, head: Head, left: Left, step: Step) -> None:
        match left:
            case RunFinished(status=status, reason=reason):
                # Counted first: a worker lost after it writes the head leaves no other trace of a private run.
                unlisted = await self._unlisted(left, step.progress)
                await self._show(head, status, with_cost(reason, step.progress), step)
                poison = reason.startswith("poison: ")
                trouble = "poison" if poison else ""
                windows = step.services.windows
                self.tell(Ended(status, self._seconds(head), step.progress, trouble, unlisted, windows))
                if step.progress.private:
                    await self._delete(head.run)
                else:
                    self._log_end(head, left)
            case RunParked(until=until):
                await self._show(head, "parked", step.progress.why_parked, step, wakes_at=until)
                # Whoever put something into its inbox before the head said so was told that it is busy.
                news = await step.has_news()
                seconds = 0.0 if news else until / 1000 - self.services.outside.clock.now()
                # Rung for again and again where the wait is longer than a queue can hold a bell back.
                await self.queue.enqueue(head.run, min(max(0.0, seconds), LONGEST_PARKED))
            case RunHandedOver():
                # Found when its conversation is looked at again, right after this.
                await self._show(head, "queued", step=step)

    async def _give_up(self, head: Head, reason: str, trouble: Literal["poison", "damaged"]) -> None:
        unlisted = None
        if head.private:
            unlisted = await self._count("go on", trouble, "")
        await self._show(head, "needs_attention", reason)
        self.tell(Ended("needs_attention", self._seconds(head), trouble=trouble, unlisted=unlisted))

    async def _unlisted(self, finished: RunFinished, progress: Progress) -> Ends | None:
        """Count a private run that ended without an answer: no list shows it."""
        if not progress.private or not finished.cause:
            return None
        stage: Stage = "begin"
        if progress.started:
            stage = "answer"
        return await self._count(stage, finished.cause, finished.system, _failed_code(progress))

    async def _count(self, stage: Stage, cause: Cause, system: str, code: str = "") -> Ends:
        """Count an end that no list shows. Raises TemporaryError; the end is then met again."""
        at = int(self.services.outside.clock.now() * 1000)
        ends = await count(self.services.store, stage, cause, system, at)
        _log.warning("%s", ends.sentence(), extra={"fields": {"cause": cause, "system": system, "code": code}})
        return ends

    def _seconds(self, head: Head) -> float:
        return round(self.services.outside.clock.now() - head.accepted_at / 1000, 3)

    def _log_end(self, head: Head, left: RunFinished) -> None:
        level = logging.INFO
        if left.status in ("failed", "limited", "needs_attention"):
            level = logging.WARNING
        cause = {name: value for name, value in (("cause", left.cause), ("system", left.system)) if value}
        fields = {"run": head.run, "status": left.status, "seconds": self._seconds(head), "workflow": head.workflow}
        _log.log(level, "a run ended", extra={"fields": {**fields, **cause}})

    async def _delete(self, run: str) -> None:
        try:
            await delete([run], self.services.store, self.services.blobs)
        except TemporaryError as error:
            _log.warning("what is left of run %s is deleted with the next purge: %s", run, error)

    async def _show(
        self, head: Head, status: HeadStatus, reason: str = "", step: Step | None = None, wakes_at: int = 0
    ) -> None:
        """Writes the head; with what the journal says of the run when it was read."""
        at = int(self.services.outside.clock.now() * 1000)
        private = None
        frames = 0
        if step:
            private = step.progress.private or await is_hidden(head.run, self.services.store)
            frames = step.frames
        changed = head.now(status, at, private=private, reason=reason, wakes_at=wakes_at, frames=frames)
        # No list shows a private run, its head outlives its contents, and a reason may name a person or a place.
        said = "" if changed.private else reason
        await self.services.store.put_head(replace(changed, reason=said))


def _failed_code(progress: Progress) -> str:
    """Return the vendor's code of the first call that failed; empty where there is none."""
    for outcome in progress.outcomes.values():
        if isinstance(outcome, ToolResult) and outcome.status == "error":
            return as_text(as_object(outcome.details).get("code"))[:64]
    return ""


def _lost_key(head: Head) -> str:
    return f"lost:{head.run}"


def _why(error: TemporaryError | Corrupt) -> str:
    """Why a bell was not answered, without what the error may name."""
    match error:
        case Newer():
            return "its journal is of a newer Gofer"
        case Corrupt():
            return "its journal is damaged"
        case TemporaryError():
            return "the store or the queue did not answer"
