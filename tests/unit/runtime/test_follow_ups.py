"""Feedback and reviews that follow the end of a run."""

from dataclasses import replace

import pytest

from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import FeedbackGiven, Item, RunCancelled, RunReviewed
from gofer.journal.head_facts import decode
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.projections.progress import Progress, project
from gofer.runtime.follow_ups import is_left_alone, take_follow_ups
from support.engine.memory_run import says
from support.runtime.memory_worker import CONVERSATION, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import catalog_of

pytestmark = pytest.mark.anyio

BAD = FeedbackGiven("bad", "U1", words="The project is missing.", origin="reaction", emoji="-1")
REVIEW = RunReviewed(effective=False, why="No project.", model="m", usd=0.002, prompt_sha256="ab" * 32)


async def ended(*, private: bool = False) -> MemoryWorker:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=private)
    await made.work_once()
    return made


async def send(made: MemoryWorker, item_id: str, item: Item) -> Progress:
    """Send an item to the run as another process does, and return the progress afterwards."""
    await inbox.put(made.store, "run1", item_id, item)
    await made.queue.enqueue("run1")
    await made.work_once()
    return project(await read_journal("run1", made.store, made.blobs))


async def test_feedback_and_review_follow_the_end_once_and_change_no_time() -> None:
    made = await ended()
    before = project(await read_journal("run1", made.store, made.blobs))
    head = await made.store.head("run1")
    await send(made, "feedback-1", BAD)
    progress = await send(made, "review", REVIEW)
    assert progress.follow_ups.feedback["U1"].words == "The project is missing."
    assert progress.follow_ups.reviewed is not None
    assert progress.follow_ups.reviewed.why == "No project."
    assert progress.last_at == before.last_at
    after = await made.store.head("run1")
    assert head is not None
    assert after is not None
    assert (after.status, after.updated_at) == (head.status, head.updated_at)
    facts = decode(after.facts)
    assert facts is not None
    assert (facts.bad, facts.good, facts.effective, facts.prompt) == (1, 0, False, "ab" * 6)
    assert (facts.usd, facts.review_usd) == (before.cost_usd, 0.002)
    frames = len(await made.store.frames("run1"))
    await send(made, "review", REVIEW)
    assert len(await made.store.frames("run1")) == frames
    assert await made.store.items("run1") == []


async def test_bad_feedback_keeps_a_run_until_its_withdrawal() -> None:
    made = await ended()
    await send(made, "feedback-1", BAD)
    head = await made.store.head("run1")
    assert head is not None
    assert head.retention == "unseen"
    progress = await send(made, "feedback-2", FeedbackGiven("withdrawn", "U1"))
    assert progress.follow_ups.feedback == {}
    head = await made.store.head("run1")
    assert head is not None
    assert head.retention == "due"


async def test_run_kept_by_a_person_stays_kept() -> None:
    made = await ended()
    await made.store.retain("run1", "due", "kept")
    await send(made, "feedback-1", BAD)
    head = await made.store.head("run1")
    assert head is not None
    assert head.retention == "kept"


async def test_cancellation_after_the_end_is_removed() -> None:
    made = await ended()
    frames = len(await made.store.frames("run1"))
    await send(made, "stop-1", RunCancelled("Ada", "U1"))
    assert len(await made.store.frames("run1")) == frames
    assert await made.store.items("run1") == []


async def test_feedback_before_the_end_is_journaled_after_the_end() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await inbox.put(made.store, "run1", "feedback-1", FeedbackGiven("good", "U1"))
    await made.work_once()
    progress = project(await read_journal("run1", made.store, made.blobs))
    assert progress.finished is not None
    assert progress.follow_ups.feedback["U1"].verdict == "good"
    head = await made.store.head("run1")
    assert head is not None
    facts = decode(head.facts)
    assert facts is not None
    assert facts.good == 1


async def head_of(made: MemoryWorker, run: str = "run1") -> Head:
    head = await made.store.head(run)
    assert head is not None
    return head


async def test_bad_feedback_before_the_end_keeps_the_run() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    await made.work_once()
    assert (await head_of(made)).retention == "unseen"


async def test_seen_run_stays_due_until_new_bad_feedback() -> None:
    made = await ended()
    await send(made, "feedback-1", BAD)
    await made.store.retain("run1", "unseen", "due")
    await send(made, "review", REVIEW)
    await send(made, "feedback-2", FeedbackGiven("good", "U2"))
    assert (await head_of(made)).retention == "due"
    await send(made, "feedback-3", FeedbackGiven("bad", "U2"))
    assert (await head_of(made)).retention == "unseen"


async def test_head_and_retention_are_written_by_the_next_owner_after_a_crash() -> None:
    made = await ended()
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    await made.queue.enqueue("run1")
    put_head = made.store.put_head

    async def crash(head: Head) -> None:
        raise Crashed

    made.store.put_head = crash
    assert isinstance((await made.work_once_or_crash())[0], Crashed)
    made.store.put_head = put_head
    await made.queue.enqueue("run1")
    made.clock.advance(120)
    await made.work_once()
    head = await head_of(made)
    facts = decode(head.facts)
    assert facts is not None
    assert (facts.bad, head.retention) == (1, "unseen")
    entries = [recorded.entry for recorded in await read_journal("run1", made.store, made.blobs)]
    assert len([entry for entry in entries if isinstance(entry, FeedbackGiven)]) == 1


async def test_feedback_is_taken_after_another_run_of_the_conversation() -> None:
    made = await ended()
    await made.store.lease(CONVERSATION, "another worker", made.clock.now(), 3)
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert len(await made.store.items("run1")) == 1
    made.clock.advance(6)
    await made.work_once()
    assert await made.store.items("run1") == []
    assert (await head_of(made)).retention == "unseen"


async def test_feedback_after_a_place_became_private_is_not_journaled() -> None:
    made = await ended()
    head = await made.store.head("run1")
    assert head is not None
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    services = made.worker.services
    journal, entries = await open_journal("run1", made.store, made.blobs, Pen("next", services.outside))
    step = OwnStep(journal, services, entries, Deadline(made.clock))
    await hide("run1", made.store, 1)
    await step.look_whether_hidden()
    await take_follow_ups(step, head, catalog_of(made.worker))
    assert project(await read_journal("run1", made.store, made.blobs)).follow_ups.feedback == {}
    assert (await made.store.head("run1") or head).retention == "due"


async def test_message_of_an_ended_private_run_is_not_enqueued_again() -> None:
    made = await ended()
    head = await made.store.head("run1")
    assert head is not None
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    assert await is_left_alone(head, made.store)
    assert not await is_left_alone(replace(head, private=True), made.store)
