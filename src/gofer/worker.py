"""Who continues runs? A worker hears a doorbell, leases the conversation and continues its oldest runnable run."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from gofer.deliver import conclude, deliver
from gofer.engine.admission import admit, pinned
from gofer.engine.asking import Parked
from gofer.engine.loop import Ending, coordinate
from gofer.engine.services import Services
from gofer.engine.step import Step
from gofer.errors import Damaged, Fenced, RunStopped, TemporaryError
from gofer.events import Event
from gofer.journal.coordination import Head, HeadStatus
from gofer.journal.entries import RunFinished, RunOwned, RunParked
from gofer.journal.log import Pen, open_journal
from gofer.projections.progress import Progress
from gofer.queue.doorbell import Doorbell, Queue
from gofer.workflows.load import Catalog, Loaded

VISIBILITY_SECONDS = 120.0

_log = logging.getLogger(__name__)


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
    pause: float = 1.0
    """Seconds before it listens again to a queue that failed."""

    async def serve(self) -> None:
        """Hears doorbells until it is cancelled."""
        busy: set[asyncio.Task[None]] = set()
        try:
            while True:
                for bell in await self._listen(self.concurrency - len(busy)):
                    busy.add(asyncio.create_task(self.answer(bell)))
                if len(busy) >= self.concurrency:
                    await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
                busy = {task for task in busy if not task.done()}
        finally:
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def answer(self, bell: Doorbell) -> None:
        """Deals with one doorbell: continues the oldest run of its conversation, if there is one to continue."""
        try:
            head = await self.services.store.head(bell.run)
            # Also when that run is over: it may be the only bell left for the one after it.
            if head is None or await self._continue_conversation(head.conversation, bell) or head.status != "parked":
                await self.queue.acknowledge(bell)
            else:
                # Whoever is busy there will not look for a parked run when it is done.
                await self.queue.extend(bell, self.lease)
        except TemporaryError as error:
            # The bell stays and comes back after its visibility time.
            _log.warning("run %s was not continued: %s", bell.run, error)
        except Exception as error:  # noqa: BLE001
            # One run's trouble must not end the worker; the text may hold contents, the type does not.
            _log.error("run %s was not continued: %s", bell.run, type(error).__name__)

    async def _listen(self, limit: int) -> Sequence[Doorbell]:
        try:
            return await self.queue.receive(limit, VISIBILITY_SECONDS, 20.0)
        except TemporaryError as error:
            _log.warning("the queue cannot be heard: %s", error)
            await asyncio.sleep(self.pause)
            return ()

    async def _continue_conversation(self, conversation: str, bell: Doorbell) -> bool:
        """Continues its oldest runnable run; False when somebody else is busy with it."""
        store, owner = self.services.store, self.services.outside.new_id()
        if not await store.lease(conversation, owner, self.services.outside.clock.now(), self.lease):
            return False
        try:
            await self._wake(bell.run)
            if head := await store.oldest_runnable(conversation):
                await self._while_leased(self.continue_run(head, owner), conversation, owner, bell)
        finally:
            await store.release(conversation, owner)
        # Only after the release: whoever rings now finds the conversation free.
        if head := await store.oldest_runnable(conversation):
            await self.queue.ring(head.run)
        return True

    async def _while_leased(
        self, work: Coroutine[None, None, None], conversation: str, owner: str, bell: Doorbell
    ) -> None:
        """Does the work while the lease is renewed; ends it when the lease was lost to somebody else."""
        working = asyncio.create_task(work)
        renewing = asyncio.create_task(self._renew(conversation, owner, bell))
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)

    async def _renew(self, conversation: str, owner: str, bell: Doorbell) -> None:
        """Returns when the lease is somebody else's."""
        held = True
        while held:
            await asyncio.sleep(self.lease / 3)
            with contextlib.suppress(TemporaryError):
                now = self.services.outside.clock.now()
                held = await self.services.store.lease(conversation, owner, now, self.lease)
                await self.queue.extend(bell, VISIBILITY_SECONDS)

    async def _wake(self, run: str) -> None:
        """A bell for a parked run makes it runnable again; it parks anew when it is too early."""
        head = await self.services.store.head(run)
        if head is not None and head.status == "parked":
            await self._show(head, "queued")

    async def continue_run(self, head: Head, owner: str) -> None:
        """Continues one run to its end and keeps its head; the caller keeps others out, by a lease or a lock."""
        try:
            await self._show(head, "running")
            step = await self._open(head.run, owner)
            ended = step.progress.finished or await self._still_parked(step) or await self._to_its_end(step)
            await self._leave(head, ended, step.progress)
        except Fenced:
            return
        except Damaged as error:
            _log.error("%s", error)
            await self._show(head, "needs_attention", str(error))

    async def _leave(self, head: Head, ended: RunFinished | RunParked, progress: Progress) -> None:
        match ended:
            case RunFinished(status=status, reason=reason):
                await self._show(head, status, reason, progress.private)
            case RunParked(why=why, until=until):
                reason = progress.deferred_why if why == "model" else ""
                await self._show(head, "parked", reason, progress.private, wakes_at=until)
                await self.queue.ring(head.run, max(0.0, until / 1000 - self.services.outside.clock.now()))

    async def _open(self, run: str, owner: str) -> Step:
        pen = Pen(owner, self.services.outside)
        journal, entries = await open_journal(run, self.services.store, self.services.blobs, pen)
        return Step(journal, self.services, entries)

    async def _still_parked(self, step: Step) -> RunParked | None:
        """Why the run is left as it is: its model is not asked yet, and nobody had anything to say to it."""
        parked = step.progress.parked
        if parked is None or parked.why != "model" or parked.until <= step.now_ms():
            return None
        return None if await self.services.store.items(step.run) else parked

    async def _to_its_end(self, step: Step) -> RunFinished | RunParked:
        step.note(RunOwned())
        if step.progress.in_doubt:
            # From this frame on a predecessor can append nothing more; only now may its effects be looked for.
            await step.commit()
            if left := step.quiet_left(self.alone):
                ended = RunParked("quiet", step.now_ms() + int(left * 1000) + 1)
                step.note(ended)
                await step.commit()
                return ended
        try:
            finished = await self._work(step)
        except Parked as parked:
            return parked.entry
        step.note(finished)
        await step.commit()
        return finished

    async def _work(self, step: Step) -> RunFinished:
        event, loaded = step.progress.event, self.catalog.workflows.get(step.progress.workflow)
        if event is None:
            return RunFinished("failed", "its journal does not begin with an event")
        if (concluded := step.progress.concluded) is None:
            concluded = conclude(await self._end(step, event, loaded), step.progress)
            step.note(concluded)
        reply, prompt_file = (loaded.workflow.reply, loaded.prompt_file) if loaded else ("thread", "")
        return await deliver(step, event, reply, step.provenance(prompt_file), concluded)

    async def _end(self, step: Step, event: Event, loaded: Loaded | None) -> Ending:
        if loaded is None:
            return Ending("failed", reason=f"there is no workflow {step.progress.workflow!r} any more.")
        try:
            if (started := step.progress.started) is None:
                started = await admit(step, event, loaded)
                await self._show_public(step)
            bundle = await pinned(self.services, started)
            return await coordinate(step, bundle, step.provenance(bundle.loaded.prompt_file))
        except RunStopped as error:
            return Ending("failed", reason=str(error))

    async def _show_public(self, step: Step) -> None:
        """Gives a run that turned out not to be private its place in the lists."""
        head = await self.services.store.head(step.run)
        if head is not None and head.private and not step.progress.private:
            await self._show(head, "running", private=False)

    async def _show(
        self, head: Head, status: HeadStatus, reason: str = "", private: bool | None = None, wakes_at: int = 0
    ) -> None:
        at = int(self.services.outside.clock.now() * 1000)
        changed = head.now(status, at, private=private, reason=reason, wakes_at=wakes_at)
        await self.services.store.put_head(changed)
