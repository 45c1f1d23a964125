"""How a run changes hands: cancelled, handed over, taken over again and again, given up."""

import asyncio
from dataclasses import replace

import pytest

from engine_room import says
from gofer.engine.term import MARGIN, Term
from gofer.journal import inbox
from gofer.journal.entries import (
    LlmRequest,
    RunCancelled,
    RunConcluded,
    RunFinished,
    RunHandedOver,
    RunOwned,
    RunParked,
    ToolCall,
)
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.models.model import Answer
from gofer.owner import TAKEOVERS
from gofer.worker import RECEIVES
from office import Lost, Office, office

pytestmark = pytest.mark.anyio


async def entries(made: Office, run: str = "run1") -> list[object]:
    return [item.entry for item in await read_journal(run, made.store, made.blobs)]


async def cancel(made: Office, item: str = "cancel-1") -> None:
    await inbox.put(made.store, "run1", item, RunCancelled("Ada"))
    await made.queue.ring("run1")


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
        term = Term(made.clock, MARGIN + 1)
        for bell in await made.queue.receive(10, 120, 0):
            answered.append(bell)
            await made.worker.answer(bell, term)
    journal = await entries(made)
    assert journal[-1] == RunFinished("done")
    assert made.posted == ["Hello."]
    # Reading the thread, the status, two model calls, the model's call, the answer: six steps, one worker each.
    assert sum(isinstance(entry, RunHandedOver) for entry in journal) == 5
    assert len(answered) == 6
    assert await made.queue.buried(10) == []


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
    serving = asyncio.create_task(replace(made.worker, services=services, grace=5.0).serve())
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
    assert lost == TAKEOVERS
    (notice,) = made.posted
    assert notice.startswith("I could not finish this: it broke off at the same point again and again.")
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
    assert journal[-1] == RunFinished("failed", "poison: every worker that tried to deliver its answer was lost")


async def test_a_run_that_loses_every_worker_before_it_leaves_a_mark_is_given_up_and_shown() -> None:
    made = office()
    opened = 0

    class Deadly(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            nonlocal opened
            opened += 1
            raise Lost

    made.store = Deadly()
    made.worker = replace(made.worker, services=replace(made.worker.services, store=made.store))
    await made.accept("run1", private=False)
    for _ in range(3 * RECEIVES):
        await made.hear_lost()
        made.clock.advance(130)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, opened) == ("needs_attention", RECEIVES)
    assert head.reason == "it cannot be continued: 10 attempts ended without a word"


async def test_a_run_nobody_can_open_is_given_up_and_shown() -> None:
    made = office()

    class Unreadable(type(made.store)):
        async def frames(self, run: str) -> list[bytes]:
            raise KeyError(run)

    made.store = Unreadable()
    made.worker = replace(made.worker, services=replace(made.worker.services, store=made.store))
    await made.accept("run1", private=False)
    await hear_all(made)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason) == (
        "needs_attention",
        "it cannot be continued: KeyError on its last attempt",
    )
    (letter,) = await made.queue.buried(10)
    assert (letter.run, letter.why) == ("run1", "KeyError")
    assert made.queue.heard == RECEIVES
