"""Retries of abandoned, parked and finished runs by an operator."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import RunCancelled, RunConcluded, RunFinished, RunParked, Status, ToolCall
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.runtime.cancel import cancel
from gofer.runtime.restored_runs import hold_unfinished
from gofer.runtime.retention import delete
from gofer.runtime.run_retry import Retried, retry
from gofer.sources.slack.write import PostMessage
from gofer.stores.one_place import Stores
from gofer.tools.definition import Call, InDoubt, ToolResult
from gofer.values.errors import Corrupt, Gone, TemporaryError
from gofer.values.row_tokens import Tokens
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.stand_ins import KEY

pytestmark = pytest.mark.anyio

ENDS: list[Status] = ["done", "limited", "failed", "cancelled", "ignored", "needs_attention"]


async def again(made: MemoryWorker, run: str = "run1") -> Retried:
    return await retry(run, Stores(made.store, made.blobs, made.queue), made.clock, "operator")


async def abandon(
    made: MemoryWorker,
    reason: str = "it cannot be continued: 10 workers in a row ended before they had read its journal",
) -> None:
    """Mark the head of a run as abandoned, as a worker does."""
    head = await made.store.head("run1")
    assert head is not None
    await made.store.put_head(head.now("needs_attention", 5, private=False, reason=reason))
    for queue_message in await made.queue.receive(9, 60, 0):
        await made.queue.acknowledge(queue_message)


async def test_abandoned_run_is_answered_once_after_a_retry() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await abandon(made)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert made.posted == []
    assert await again(made) == Retried(True, "Run run1 is queued; it continues where it stopped.")
    assert await made.work_once() == 1
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")
    assert await again(made) == Retried(False, "Run run1 is done; there is nothing to retry.")


async def restored(made: MemoryWorker, *, posted_since: bool) -> None:
    """Hold a run of a restored backup that had not posted yet. `posted_since` is found by a lookup."""

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        return ToolResult("Posted", "posted", {"channel": "C1", "ts": "1.0"}) if posted_since else None

    post = made.worker.services.tools["slack_post_message"]
    tools = {
        **made.worker.services.tools,
        "slack_post_message": replace(post, effect="lookup", in_doubt=InDoubt(look=look)),
    }
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    for queue_message in await made.queue.receive(9, 60, 0):
        await made.queue.acknowledge(queue_message)
    await hold_unfinished(
        Stores(made.store, made.blobs, made.queue), made.clock, Tokens(KEY), int(made.clock.now() * 1000)
    )


@pytest.mark.parametrize("posted_since", [True, False])
async def test_restored_run_answers_once_after_a_retry_even_if_posted_after_the_backup(
    posted_since: bool,
) -> None:
    made = memory_worker(says("Hello."))
    await restored(made, posted_since=posted_since)
    if posted_since:
        made.posted.append("What it said before the restore.")
    await made.queue.enqueue("run1")
    await made.work_once()
    assert await made.status("run1") == "needs_attention"
    retried = await again(made)
    assert (retried.enqueued, "continues from the backup of 2026-11-21 12:00 UTC" in retried.message) == (True, True)
    while await made.work_once():
        pass
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_cancelled_held_run_ends_as_cancelled_after_a_retry() -> None:
    made = memory_worker()
    await restored(made, posted_since=False)
    assert await cancel("run1", RunCancelled("an operator"), made.store, made.queue, "wish")
    await made.work_once()
    assert await made.status("run1") == "needs_attention"
    assert await again(made) == Retried(True, "Run run1 is queued; it was cancelled, so it stops.")
    while await made.work_once():
        pass
    assert await made.status("run1") == "cancelled"
    assert not await cancel("run1", RunCancelled("an operator"), made.store, made.queue, "another wish")


async def test_run_with_a_dead_lettered_queue_message_is_answered_after_a_retry() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    (queue_message,) = await made.queue.receive(1, 60, 0)
    await made.queue.move_to_dead_letters(queue_message, "the store or the queue did not answer")
    assert (await again(made)).enqueued
    await made.work_once()
    assert made.posted == ["Hello."]


async def test_retry_of_a_finished_run_is_refused_despite_a_stale_head() -> None:
    """A stalled owner may have overwritten the head of an ended run."""
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await made.work_once()
    await abandon(made)
    assert not (await again(made)).enqueued


@pytest.mark.parametrize("status", ENDS)
async def test_retry_never_reopens_a_finished_run_and_explains_the_options(status: Status) -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    for queue_message in await made.queue.receive(9, 60, 0):
        await made.queue.acknowledge(queue_message)
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(RunConcluded(status, "why", "Sorry."))
    journal.add(RunFinished(status, "why"))
    await journal.commit()
    frames = await made.store.frames("run1")
    retried = await again(made)
    assert not retried.enqueued
    assert retried.message.count(".") == (1 if status == "done" else 2)
    # A run not known to be public counts as private, so its reason is not shown.
    assert "why" not in retried.message
    made.clock.advance(1000)
    assert (await made.work_once(), await made.store.frames("run1")) == (0, frames)


async def test_retry_of_a_failed_run_explains_the_failure() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(await made.started())
    journal.add(RunFinished("failed", "Slack did not answer."))
    await journal.commit()
    anew = "Ask again in the same thread; the new run reads what this one found."
    assert (await again(made)).message == f"Run run1 ended and cannot be continued (Slack did not answer). {anew}"


@pytest.mark.not_replayed("its journal is written by hand")
async def test_retry_of_a_parked_run_makes_the_next_attempt_now() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(RunParked("model", int(made.clock.now() * 1000) + 60_000))
    await journal.commit()
    await made.work_once()
    assert (made.model.requests, await made.status("run1")) == ([], "parked")
    assert await again(made) == Retried(True, "Run run1 makes its next attempt now.")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_retry_is_refused_while_a_worker_has_the_conversation() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await abandon(made)
    head = await made.store.head("run1")
    assert head is not None
    await made.store.lease(head.conversation, "worker", made.clock.now(), 60)
    with pytest.raises(TemporaryError, match="try again in a minute"):
        await again(made)
    assert await made.status("run1") == "needs_attention"


async def test_retry_of_a_corrupt_run_raises_corrupt_without_an_enqueue() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    made.queue.clear()
    made.store._frames["run1"][0] = b"nonsense"
    with pytest.raises(Corrupt):
        await again(made)
    made.clock.advance(1000)
    assert await made.queue.receive(1, 60, 0) == []


async def test_retry_of_an_unknown_or_deleted_run_raises_gone() -> None:
    made = memory_worker(says("Hello."))
    with pytest.raises(Gone):
        await again(made)
    await made.accept("run1")
    await made.work_once()
    assert await delete(["run1"], Stores(made.store, made.blobs, made.queue)) == 1
    with pytest.raises(Gone, match="it cannot be continued"):
        await again(made)


@given(st.lists(st.sampled_from(["retry", "hear", "lose", "abandon"]), max_size=8))
async def test_blind_effect_happens_at_most_once_however_often_the_run_is_retried(steps: list[str]) -> None:
    """Posting is a blind effect here: a post in doubt is unknown, and never repeated."""
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    for step in steps:
        made.clock.advance(2000)
        match step:
            case "retry":
                await again(made)
            case "abandon" if await made.status("run1") not in ("done", "failed"):
                await abandon(made)
            case "lose":
                made.crash_in.add("slack_update_message")
                await made.work_once_or_crash()
                made.crash_in.clear()
            case _:
                await made.work_once()
    await again(made)
    for _ in range(5):
        made.clock.advance(2000)
        await made.work_once()
    assert len(made.posted) <= 1
    posts = [item.entry for item in await read_journal("run1", made.store, made.blobs)]
    assert sum(isinstance(entry, ToolCall) and entry.tool == "slack_post_message" for entry in posts) <= 1
