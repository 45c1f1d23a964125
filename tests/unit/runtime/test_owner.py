"""How a run changes hands: cancelled, handed over, taken over again and again, given up."""

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
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    ToolCall,
)
from gofer.journal.log import Pen, claim, open_journal, read_journal
from gofer.models.language_model import Answer
from gofer.projections.attempts import CRASHES
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import RECEIVES, WorkerLimits
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, InDoubt, ToolResult
from gofer.values.errors import TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import Lost, Office, office
from support.runtime.worker_parts import Unchanging, catalog_of, worker_over
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio


async def entries(made: Office, run: str = "run1") -> list[object]:
    return [item.entry for item in await read_journal(run, made.store, made.blobs)]


async def cancel(made: Office, item: str = "cancel-1") -> None:
    await inbox.put(made.store, "run1", item, RunCancelled("Ada"))
    await made.queue.enqueue("run1")


async def hear_all(made: Office, seconds: float = 130, rounds: int = 30) -> None:
    """Answers bells for a while, with time passing between them."""
    for _ in range(rounds):
        await made.hear()
        made.clock.advance(seconds)


async def test_a_cancelled_run_begins_nothing_new_and_says_so() -> None:
    made = office(says("unused"))
    await made.accept("run1")
    await cancel(made)
    await hear_all(made)
    assert made.model.requests == []
    assert made.posted == ["_Stopped: cancelled by Ada._"]
    assert await made.status("run1") == "cancelled"
    assert await made.store.items("run1") == []


async def test_a_cancel_while_the_model_is_asked_stops_what_it_wants_to_do() -> None:
    made = office()

    class CancelledMeanwhile:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            await cancel(made)
            return says("", ("slack_post_message", {"text": "too late"}))

    made.grant("slack_post_message")
    made.worker = replace(made.worker, services=replace(made.worker.services, model=CancelledMeanwhile()))
    await made.accept("run1")
    await hear_all(made)
    assert made.posted == ["_Stopped: cancelled by Ada._"]
    journal = await entries(made)
    cancelled = next(n for n, entry in enumerate(journal) if isinstance(entry, RunCancelled))
    later = [entry for entry in journal[cancelled:] if isinstance(entry, ToolCall | LlmRequest)]
    assert [entry.call for entry in later if isinstance(entry, ToolCall)] == ["answer/1"]
    assert len(later) == 1


async def test_a_cancel_that_comes_when_the_answer_is_decided_changes_nothing() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await made.hear()
    await cancel(made)
    await cancel(made, "cancel-2")
    await hear_all(made)
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"


async def test_a_cancel_wakes_a_parked_run() -> None:
    made = office()
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("earlier", made.worker.services.outside))
    parked = RunParked("model", int((made.clock.now() + 900) * 1000))
    for entry in (RunOwned(), parked):
        journal.add(entry)
    await journal.commit()
    await made.hear()
    assert await made.status("run1") == "parked"
    assert (await entries(made))[-1] == parked
    await cancel(made)
    await made.hear()
    assert await made.status("run1") == "cancelled"


async def test_a_worker_whose_time_is_nearly_over_hands_over_and_the_next_goes_on() -> None:
    made = office(says("", ("slack_read_thread", {"ts": "1.0"})), says("Hello."))
    made.grant("slack_read_thread")
    await made.accept("run1")
    answered = []
    for _ in range(20):
        # Enough for one call, whatever it is, and for nothing after it.
        deadline = Deadline(made.clock, MARGIN + 1)
        for queue_message in await made.queue.receive(10, 120, 0):
            answered.append(queue_message)
            await made.worker.answer(queue_message, deadline)
    journal = await entries(made)
    assert journal[-1] == RunFinished("done")
    assert made.posted == ["Hello."]
    # Who asked, the thread, the status, two model calls, its call, the answer: seven steps, one worker each.
    assert sum(isinstance(entry, RunHandedOver) for entry in journal) == 6
    assert len(answered) == 7
    assert await made.queue.dead_letters(10) == []


async def test_a_worker_that_stops_hands_its_runs_over() -> None:
    made = office()
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
    await made.hear()
    assert made.posted == ["Hello."]


async def test_a_run_that_loses_every_worker_is_poison_and_says_so_once() -> None:
    made = office()

    class Deadly:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            raise Lost

    made.worker = replace(made.worker, services=replace(made.worker.services, model=Deadly()))
    await made.accept("run1")
    lost = 0
    for _ in range(30):
        lost += len([result for result in await made.hear_lost() if isinstance(result, Lost)])
        made.clock.advance(130)
    assert lost == CRASHES
    (notice,) = made.posted
    assert notice.startswith("I could not finish this: it stopped at the same point again and again.")
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason[:8]) == ("failed", "poison: ")


async def test_an_answer_whose_delivery_loses_every_worker_ends_with_a_reason() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    made.lose_in = {"slack_update_message"}
    for _ in range(30):
        await made.hear_lost()
        made.clock.advance(130)
    journal = await entries(made)
    assert RunConcluded("done", "", "Hello.") in journal
    assert journal[-1] == RunFinished(
        "failed", "poison: every worker that tried to deliver its answer crashed", "poison"
    )


async def test_a_run_nobody_can_open_is_given_up_and_shown() -> None:
    made = office()

    class Unreadable(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            raise KeyError(run)

    made.store = Unreadable()
    made.worker = worker_over(made.worker, store=made.store)
    await made.accept("run1", private=False)
    await hear_all(made)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason) == (
        "needs_attention",
        "it cannot be continued: KeyError on its last attempt",
    )
    (letter,) = await made.queue.dead_letters(10)
    assert (letter.run, letter.reason) == ("run1", "KeyError")
    assert made.queue.heard == RECEIVES


async def test_waiting_until_it_is_quiet_does_not_hide_that_every_worker_is_lost() -> None:
    made = office(says("unused"))
    tools = made.worker.services.tools

    async def post(call: Call, arguments: PostMessage) -> ToolResult:
        raise Lost

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        return None

    deadly = replace(tools["slack_post_message"], effect="lookup", act=post, in_doubt=InDoubt(look=look, settle=5.0))
    services = replace(made.worker.services, tools={**tools, "slack_post_message": deadly})
    made.worker = replace(made.worker, services=services, alone=True)
    await made.accept("run1")
    lost = 0
    for _ in range(60):
        lost += len([result for result in await made.hear_lost() if isinstance(result, Lost)])
        made.clock.advance(130)
    # Five at the first message, five at saying so.
    assert lost == 2 * CRASHES
    assert await made.status("run1") == "failed"


async def test_a_store_that_is_away_for_a_while_is_no_poison() -> None:
    """Small frames fit, bodies do not: each worker takes the run over and can write nothing of what it did."""
    made = office(*[says("x" * 20_000)] * 8)

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
    await hear_all(made, rounds=6)
    assert len(made.model.requests) == 6
    made.blobs.away = False
    await hear_all(made)
    assert await made.status("run1") == "done"


async def test_workers_that_are_stopped_in_the_middle_of_a_long_call_are_not_lost() -> None:
    made = office()
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
    await hear_all(made)
    assert made.posted == ["Hello."]


class MortalLock(asyncio.Lock):
    """A lock that is not given back when the process dies."""

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not Lost:
            self.release()


async def test_a_healthy_run_beside_one_that_kills_its_worker_is_not_poison() -> None:
    """The process dies with both of them each time, until suspects work one at a time."""
    made = office()

    class OneIsDeadly:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            if b"with ts 6.6" in body:
                raise Lost
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
        deaths += any(isinstance(task.exception(), Lost) for task in outcomes)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await made.store.drop_leases()
        made.clock.advance(200)
    assert deaths == CRASHES
    assert (await made.status("bad"), await made.status("good")) == ("failed", "done")


async def test_an_answer_goes_where_the_workflow_said_when_the_run_started() -> None:
    made = office(KeyError("the worker dies here"))
    await made.accept("run1")
    await made.hear()
    loaded = catalog_of(made.worker).workflows["answer-here"]
    silent = replace(loaded, workflow=loaded.workflow.model_copy(update={"reply": "none"}))
    made.worker = replace(made.worker, workflows=Unchanging(Catalog({"answer-here": silent}, Defaults())))
    made.model.answers = [says("Hello.")]
    await hear_all(made)
    assert made.posted == ["Hello."]
