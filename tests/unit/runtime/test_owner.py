"""Owners of a run: cancellation, handing over, taking over, crashes and abandoned runs."""

import asyncio
from dataclasses import replace

import pytest

from gofer.engine.owned_run import MARGIN, Deadline
from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import (
    LlmRequest,
    RunAccepted,
    RunCancelled,
    RunChecked,
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    ToolCall,
    ToolUnknown,
)
from gofer.journal.log import Pen, claim, open_journal, read_journal
from gofer.models.language_model import Answer
from gofer.projections.attempts import CRASHES
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import RECEIVES, WorkerLimits
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, InDoubt, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of, worker_over
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio


async def entries(made: MemoryWorker, run: str = "run1") -> list[object]:
    return [item.entry for item in await read_journal(run, made.store, made.blobs)]


async def cancel(made: MemoryWorker, item: str = "cancel-1") -> None:
    await inbox.put(made.store, "run1", item, RunCancelled("Ada"))
    await made.queue.enqueue("run1")


async def work_repeatedly(made: MemoryWorker, seconds: float = 130, rounds: int = 30) -> None:
    """Process queue messages for a while, with time passing in between."""
    for _ in range(rounds):
        await made.work_once()
        made.clock.advance(seconds)


async def test_cancelled_run_makes_no_model_call_and_reports_the_cancellation() -> None:
    made = memory_worker(says("unused"))
    await made.accept("run1")
    await cancel(made)
    await work_repeatedly(made)
    assert made.model.requests == []
    assert made.posted == ["_Stopped: cancelled by Ada._"]
    assert await made.status("run1") == "cancelled"
    assert await made.store.items("run1") == []


async def test_run_cancelled_during_a_model_call_makes_no_further_call_but_the_answer() -> None:
    made = memory_worker()

    class CancelledMeanwhile:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            await cancel(made)
            return says("", ("slack_post_message", {"text": "too late"}))

    made.grant("slack_post_message")
    made.worker = replace(made.worker, services=replace(made.worker.services, model=CancelledMeanwhile()))
    await made.accept("run1")
    await work_repeatedly(made)
    assert made.posted == ["_Stopped: cancelled by Ada._"]
    journal = await entries(made)
    cancelled = next(n for n, entry in enumerate(journal) if isinstance(entry, RunCancelled))
    later = [entry for entry in journal[cancelled:] if isinstance(entry, ToolCall | LlmRequest)]
    assert [entry.call for entry in later if isinstance(entry, ToolCall)] == ["answer/1"]
    assert len(later) == 1


async def test_cancellation_after_the_answer_was_decided_has_no_effect() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    made.crash_in = {"slack_update_message"}
    await made.work_once_or_crash()
    made.crash_in = set()
    # The answer is decided, and its delivery was interrupted.
    assert RunConcluded("done", "", "Hello.") in await entries(made)
    assert "Hello." not in made.posted
    await cancel(made)
    await work_repeatedly(made)
    assert made.posted == ["Hello."]
    await cancel(made, "cancel-2")
    await work_repeatedly(made)
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"


async def test_cancelled_run_says_that_the_outcome_of_its_write_cannot_be_determined() -> None:
    made = memory_worker(says("", ("slack_post_message", {"text": "hello"})))
    tools = made.worker.services.tools

    written = tools["slack_post_message"]

    async def post(call: Call, arguments: PostMessage) -> ToolResult:
        if arguments.text == "hello":
            raise Crashed
        return await written.act(call, arguments)

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        raise ToolError("Slack answered 503.", retry_after=60.0)

    away = replace(written, effect="lookup", act=post, in_doubt=InDoubt(look=look, settle=5.0))
    services = replace(made.worker.services, tools={**tools, "slack_post_message": away})
    made.worker = replace(made.worker, services=services, alone=True)
    made.grant("slack_post_message")
    await made.accept("run1")
    await made.work_once_or_crash()
    await work_repeatedly(made, rounds=2)
    await cancel(made)
    await work_repeatedly(made)
    journal = await entries(made)
    unknown = next(entry for entry in journal if isinstance(entry, ToolUnknown))
    assert "the run ended before its outcome was known" in unknown.text
    concluded = next(entry for entry in journal if isinstance(entry, RunConcluded))
    assert (concluded.status, concluded.reason) == (
        "cancelled",
        "cancelled by Ada; the outcome of slack_post_message cannot be determined",
    )
    checked = next(entry for entry in journal if isinstance(entry, RunChecked))
    assert [one.check for one in checked.verdicts if one.severity == "error" and not one.passed] == []


@pytest.mark.not_replayed("its journal is written by hand")
async def test_cancellation_wakes_a_parked_run() -> None:
    made = memory_worker()
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("earlier", made.worker.services.outside))
    parked = RunParked("model", int((made.clock.now() + 900) * 1000))
    for entry in (RunOwned(), parked):
        journal.add(entry)
    await journal.commit()
    await made.work_once()
    assert await made.status("run1") == "parked"
    assert (await entries(made))[-1] == parked
    await cancel(made)
    await made.work_once()
    assert await made.status("run1") == "cancelled"


async def test_worker_near_the_deadline_hands_over_and_the_next_worker_resumes() -> None:
    made = memory_worker(says("", ("slack_read_thread", {"ts": "1.0"})), says("Hello."))
    made.grant("slack_read_thread")
    await made.accept("run1")
    answered = []
    for _ in range(20):
        # The deadline leaves time for one call.
        deadline = Deadline(made.clock, MARGIN + 1)
        for queue_message in await made.queue.receive(10, 120, 0):
            answered.append(queue_message)
            await made.worker.answer(queue_message, deadline)
    journal = await entries(made)
    assert journal[-2] == RunFinished("done")
    assert made.posted == ["Hello."]
    # The person, the thread, the status, two model calls, one tool call, the answer: seven steps, one worker each.
    assert sum(isinstance(entry, RunHandedOver) for entry in journal) == 6
    assert len(answered) == 7
    assert await made.queue.dead_letters(10) == []


async def test_stopping_worker_hands_over_the_run() -> None:
    made = memory_worker()
    asked = asyncio.Event()

    class SlowModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            asked.set()
            await asyncio.sleep(0.05)
            return says("", ("slack_read_thread", {"ts": "1.0"}))

    made.grant("slack_read_thread")
    services = replace(made.worker.services, model=SlowModel())
    await made.accept("run1")
    serving = asyncio.create_task(replace(made.worker, services=services, limits=WorkerLimits(grace=5.0)).serve())
    await asked.wait()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert (await entries(made))[-1] == RunHandedOver()
    assert await made.status("run1") == "queued"
    made.model.answers = [says("Hello.")]
    await made.work_once()
    assert made.posted == ["Hello."]


async def test_run_that_crashes_every_worker_fails_as_poison_with_one_notice() -> None:
    made = memory_worker()

    class Deadly:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            raise Crashed

    made.worker = replace(made.worker, services=replace(made.worker.services, model=Deadly()))
    await made.accept("run1")
    lost = 0
    for _ in range(30):
        lost += len([result for result in await made.work_once_or_crash() if isinstance(result, Crashed)])
        made.clock.advance(130)
    assert lost == CRASHES
    (notice,) = made.posted
    assert notice.startswith("I could not finish this: it stopped at the same point again and again.")
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason[:8]) == ("failed", "poison: ")


async def test_run_that_crashes_every_worker_in_delivery_fails_as_poison() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    made.crash_in = {"slack_update_message"}
    for _ in range(30):
        await made.work_once_or_crash()
        made.clock.advance(130)
    journal = await entries(made)
    assert RunConcluded("done", "", "Hello.") in journal
    assert journal[-2] == RunFinished(
        "failed", "poison: every worker that tried to deliver its answer stopped before it was done", "poison"
    )


async def test_run_that_cannot_be_opened_is_abandoned_and_dead_lettered() -> None:
    made = memory_worker()

    class Unreadable(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            raise KeyError(run)

    made.store = Unreadable()
    made.worker = worker_over(made.worker, store=made.store)
    await made.accept("run1", private=False)
    await work_repeatedly(made)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason) == (
        "needs_attention",
        "it cannot be continued: KeyError on its last attempt",
    )
    (letter,) = await made.queue.dead_letters(10)
    assert (letter.run, letter.reason) == ("run1", "KeyError")
    assert made.queue.received == RECEIVES


async def test_run_that_crashes_every_worker_fails_despite_quiet_times() -> None:
    made = memory_worker(says("unused"))
    tools = made.worker.services.tools

    async def post(call: Call, arguments: PostMessage) -> ToolResult:
        raise Crashed

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        return None

    deadly = replace(tools["slack_post_message"], effect="lookup", act=post, in_doubt=InDoubt(look=look, settle=5.0))
    services = replace(made.worker.services, tools={**tools, "slack_post_message": deadly})
    made.worker = replace(made.worker, services=services, alone=True)
    await made.accept("run1")
    lost = 0
    for _ in range(60):
        lost += len([result for result in await made.work_once_or_crash() if isinstance(result, Crashed)])
        made.clock.advance(130)
    # CRASHES workers at the first message, and CRASHES at the notice.
    assert lost == 2 * CRASHES
    assert await made.status("run1") == "failed"


async def test_run_survives_a_temporary_outage_of_the_blob_store() -> None:
    """Small frames can be written and bodies cannot: the first worker cannot record its work, and the others wait."""
    made = memory_worker(*[says("x" * 20_000)] * 8)

    class Away(type(made.blobs)):
        away = False

        async def put(self, key: str, body: bytes) -> None:
            if self.away and not key.startswith("bundles/"):
                raise TemporaryError("the folder is full")
            await super().put(key, body)

    made.blobs = Away()
    made.blobs.away = True
    made.worker = worker_over(made.worker, blobs=made.blobs)
    await made.accept("run1")
    await work_repeatedly(made, rounds=6)
    assert len(made.model.requests) == 1
    made.blobs.away = False
    await work_repeatedly(made)
    assert await made.status("run1") == "done"


async def test_workers_stopped_during_a_long_call_do_not_count_as_crashed() -> None:
    made = memory_worker()
    asked = asyncio.Event()

    class SlowModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            asked.set()
            await asyncio.sleep(60)
            raise AssertionError("nobody stopped it")

    await made.accept("run1")
    for _ in range(CRASHES + 1):
        asked.clear()
        services = replace(made.worker.services, model=SlowModel())
        serving = asyncio.create_task(replace(made.worker, services=services, limits=WorkerLimits(grace=0.01)).serve())
        await asked.wait()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        made.clock.advance(200)
    assert (await entries(made))[-1] == RunHandedOver("interrupted")
    made.model.answers = [says("Hello.")]
    await work_repeatedly(made)
    assert made.posted == ["Hello."]


class MortalLock(asyncio.Lock):
    """A lock that is not released when the process dies."""

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not Crashed:
            self.release()


async def test_healthy_run_beside_a_poison_run_is_answered() -> None:
    """The process dies with both runs, until suspects run one at a time."""
    made = memory_worker()

    class OneIsDeadly:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            if b"with ts 6.6" in body:
                raise Crashed
            await asyncio.sleep(0.02)
            return says("Hello.")

    for run, ts in (("bad", "6.6"), ("good", "7.7")):
        await claim(
            run, RunAccepted(mention(ts=ts), "answer-here"), Pen("ingress", make_outside()), made.store, made.blobs
        )
        await made.store.create_head(Head(run, "answer-here", run, 1))
    deaths = 0
    for _ in range(2 * CRASHES):
        worker = replace(made.worker, suspects=MortalLock())
        worker = replace(worker, services=replace(worker.services, model=OneIsDeadly()))
        await Sweeper(made.store, made.queue, made.clock).sweep(0)
        tasks = [
            asyncio.create_task(worker.answer(queue_message)) for queue_message in await made.queue.receive(10, 120, 0)
        ]
        outcomes, _ = await asyncio.wait([*tasks, asyncio.create_task(asyncio.sleep(0))], return_when="FIRST_EXCEPTION")
        deaths += any(isinstance(task.exception(), Crashed) for task in outcomes)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await made.store.drop_leases()
        made.clock.advance(200)
    assert deaths == CRASHES
    assert (await made.status("bad"), await made.status("good")) == ("failed", "done")


async def test_answer_goes_to_the_place_that_the_workflow_named_at_the_start_of_the_run() -> None:
    made = memory_worker(KeyError("the worker dies here"))
    await made.accept("run1")
    await made.work_once()
    loaded = catalog_of(made.worker).workflows["answer-here"]
    silent = replace(loaded, workflow=loaded.workflow.model_copy(update={"reply": "none"}))
    made.worker = replace(made.worker, workflows=FixedCatalog(Catalog({"answer-here": silent}, Defaults())))
    made.model.answers = [says("Hello.")]
    await work_repeatedly(made)
    assert made.posted == ["Hello."]
