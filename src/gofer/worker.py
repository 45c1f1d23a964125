"""Who continues runs? A worker hears a doorbell, leases the conversation and continues its oldest runnable run."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from gofer.deliver import deliver
from gofer.engine.admission import admit, pinned
from gofer.engine.loop import Ending, coordinate
from gofer.engine.services import Services
from gofer.engine.step import Step
from gofer.errors import Damaged, Fenced, RunStopped, TemporaryError
from gofer.events import Event
from gofer.journal.coordination import RUNNABLE, Head, HeadStatus
from gofer.journal.entries import RunFinished, RunOwned
from gofer.journal.log import Pen, open_journal
from gofer.queue.doorbell import Doorbell, Queue
from gofer.workflows.load import Catalog, Loaded

LEASE_SECONDS = 60.0
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

    async def serve(self) -> None:
        """Hears doorbells until it is cancelled."""
        busy: set[asyncio.Task[None]] = set()
        try:
            while True:
                for bell in await self.queue.receive(self.concurrency - len(busy), VISIBILITY_SECONDS, 20.0):
                    busy.add(asyncio.create_task(self.answer(bell)))
                if len(busy) >= self.concurrency:
                    await asyncio.wait(busy, return_when=asyncio.FIRST_COMPLETED)
                busy = {task for task in busy if not task.done()}
        finally:
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def answer(self, bell: Doorbell) -> None:
        """Deals with one doorbell: continues a run, or finds that there is nothing to do."""
        try:
            head = await self.services.store.head(bell.run)
            if head is not None and head.status in RUNNABLE:
                await self._continue_conversation(head.conversation, bell)
            await self.queue.acknowledge(bell)
        except TemporaryError as error:
            # The bell stays and comes back after its visibility time.
            _log.warning("run %s was not continued: %s", bell.run, error)
        except Exception as error:  # noqa: BLE001
            # One run's trouble must not end the worker; the text may hold contents, the type does not.
            _log.error("run %s was not continued: %s", bell.run, type(error).__name__)

    async def _continue_conversation(self, conversation: str, bell: Doorbell) -> None:
        owner = self.services.outside.new_id()
        async with self._leased(conversation, owner, bell) as leased:
            if leased and (head := await self.services.store.oldest_runnable(conversation)):
                await self.continue_run(head, owner)
        # Only after the release: whoever rings now finds the conversation free.
        if leased and (head := await self.services.store.oldest_runnable(conversation)):
            await self.queue.ring(head.run)

    @contextlib.asynccontextmanager
    async def _leased(self, conversation: str, owner: str, bell: Doorbell) -> AsyncGenerator[bool]:
        """Holds the lease of a conversation, renewed while the block runs; False when it is somebody else's."""
        now = self.services.outside.clock.now()
        if not await self.services.store.lease(conversation, owner, now, LEASE_SECONDS):
            yield False
            return
        renewal = asyncio.create_task(self._renew(conversation, owner, bell))
        try:
            yield True
        finally:
            renewal.cancel()
            await self.services.store.release(conversation, owner)

    async def _renew(self, conversation: str, owner: str, bell: Doorbell) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            now = self.services.outside.clock.now()
            await self.services.store.lease(conversation, owner, now, LEASE_SECONDS)
            await self.queue.extend(bell, VISIBILITY_SECONDS)

    async def continue_run(self, head: Head, owner: str) -> None:
        """Continues one run to its end and keeps its head; the caller holds the lease of its conversation."""
        try:
            await self._show(head, "running")
            finished, private = await self._to_its_end(head.run, owner)
            await self._show(head, finished.status, finished.reason, private)
        except Fenced:
            return
        except Damaged as error:
            _log.error("%s", error)
            await self._show(head, "needs_attention", str(error))

    async def _to_its_end(self, run: str, owner: str) -> tuple[RunFinished, bool]:
        pen = Pen(owner, self.services.outside)
        journal, entries = await open_journal(run, self.services.store, self.services.blobs, pen)
        step = Step(journal, self.services, entries)
        if (finished := step.progress.finished) is None:
            step.note(RunOwned())
            finished = await self._work(step)
            step.note(finished)
            await step.commit()
        return finished, step.progress.private

    async def _work(self, step: Step) -> RunFinished:
        event, loaded = step.progress.event, self.catalog.workflows.get(step.progress.workflow)
        if event is None:
            return RunFinished("failed", "its journal does not begin with an event")
        if loaded is None:
            ending = Ending("failed", reason=f"there is no workflow {step.progress.workflow!r} any more.")
            return await deliver(step, event, "thread", step.provenance(""), ending)
        ending = await self._end(step, event, loaded)
        return await deliver(step, event, loaded.workflow.reply, step.provenance(loaded.prompt_file), ending)

    async def _end(self, step: Step, event: Event, loaded: Loaded) -> Ending:
        try:
            started = step.progress.started or await admit(step, event, loaded)
            bundle = await pinned(self.services, started)
            return await coordinate(step, bundle, step.provenance(bundle.loaded.prompt_file))
        except RunStopped as error:
            return Ending("failed", reason=str(error))

    async def _show(self, head: Head, status: HeadStatus, reason: str = "", private: bool | None = None) -> None:
        at = int(self.services.outside.clock.now() * 1000)
        await self.services.store.put_head(head.now(status, at, private=private, reason=reason))
