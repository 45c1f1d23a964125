"""What a retry does for a run that was given up, and what it never does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import RunCancelled, RunConcluded, RunFinished, RunParked, Status, ToolCall
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.runtime.cancel import cancel
from gofer.runtime.restored_runs import hold_unfinished
from gofer.runtime.retention import delete
from gofer.runtime.retry import Retried, retry
from gofer.sources.slack.write import PostMessage
from gofer.stores.one_place import Stores
from gofer.tools.definition import Call, InDoubt, ToolResult
from gofer.values.errors import Corrupt, Gone, TemporaryError
from gofer.values.row_tokens import Tokens
from support.engine.memory_run import says
from support.runtime.memory_worker import Office, office
from support.stand_ins import KEY

pytestmark = pytest.mark.anyio

ENDS: list[Status] = ["done", "limited", "failed", "cancelled", "ignored", "needs_attention"]


async def again(made: Office, run: str = "run1") -> Retried:
    return await retry(run, Stores(made.store, made.blobs, made.queue), made.clock, "operator")


async def abandon(
    made: Office, reason: str = "it cannot be continued: 10 workers in a row crashed before they had read its journal"
) -> None:
    """As a worker leaves the head of a run that none could continue."""
    head = await made.store.head("run1")
    assert head is not None
    await made.store.put_head(head.now("needs_attention", 5, private=False, reason=reason))
    for queue_message in await made.queue.receive(9, 60, 0):
        await made.queue.acknowledge(queue_message)


async def test_a_run_that_was_given_up_is_answered_once_after_a_retry() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await abandon(made)
    await made.queue.enqueue("run1")
    await made.hear()
    assert made.posted == []
    assert await again(made) == Retried(True, "Run run1 is queued; it continues where it stopped.")
    assert await made.hear() == 1
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")
    assert await again(made) == Retried(False, "Run run1 is done; there is nothing to retry.")


async def restored(made: Office, *, posted_since: bool) -> None:
    """A run that a backup had before it posted anything, in a restored state, with a post that can be looked up."""

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
async def test_a_restored_run_answers_once_after_a_retry_whatever_it_posted_after_the_backup(
    posted_since: bool,
) -> None:
    made = office(says("Hello."))
    await restored(made, posted_since=posted_since)
    if posted_since:
        made.posted.append("What it said before the restore.")
    await made.queue.enqueue("run1")
    await made.hear()
    assert await made.status("run1") == "needs_attention"
    told = await again(made)
    assert (told.enqueued, "continues from the backup of 2026-11-21 12:00 UTC" in told.message) == (True, True)
    while await made.hear():
        pass
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_a_held_run_is_cancelled_once_it_is_retried() -> None:
    made = office()
    await restored(made, posted_since=False)
    assert await cancel("run1", RunCancelled("an operator"), made.store, made.queue, "wish")
    await made.hear()
    assert await made.status("run1") == "needs_attention"
    assert await again(made) == Retried(True, "Run run1 is queued; it was cancelled, so it stops.")
    while await made.hear():
        pass
    assert await made.status("run1") == "cancelled"
    assert not await cancel("run1", RunCancelled("an operator"), made.store, made.queue, "another wish")


async def test_a_run_whose_doorbell_was_given_up_is_heard_at_once() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    (queue_message,) = await made.queue.receive(1, 60, 0)
    await made.queue.move_to_dead_letters(queue_message, "the store or the queue did not answer")
    assert (await again(made)).enqueued
    await made.hear()
    assert made.posted == ["Hello."]


async def test_an_end_that_a_head_forgot_counts() -> None:
    """Heads may lie: a frozen owner wrote over the one that said how the run ended."""
    made = office(says("Hello."))
    await made.accept("run1")
    await made.hear()
    await abandon(made)
    assert not (await again(made)).enqueued


@pytest.mark.parametrize("status", ENDS)
async def test_no_end_is_ever_opened_again_and_each_says_what_can_be_done(status: Status) -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    for queue_message in await made.queue.receive(9, 60, 0):
        await made.queue.acknowledge(queue_message)
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(RunConcluded(status, "why", "Sorry."))
    journal.add(RunFinished(status, "why"))
    await journal.commit()
    frames = await made.store.frames("run1")
    told = await again(made)
    assert not told.enqueued
    assert told.message.count(".") == (1 if status == "done" else 2)
    # Unknown counts as private: its reason is not shown.
    assert "why" not in told.message
    made.clock.advance(1000)
    assert (await made.hear(), await made.store.frames("run1")) == (0, frames)


async def test_a_run_that_failed_says_why_it_cannot_be_continued() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(await made.started())
    journal.add(RunFinished("failed", "Slack did not answer."))
    await journal.commit()
    anew = "Ask again in the same thread; the new run reads what this one found."
    assert (await again(made)).message == f"Run run1 ended and cannot be continued (Slack did not answer). {anew}"


async def test_a_parked_run_makes_its_next_attempt_now() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("me", made.worker.services.outside))
    journal.add(RunParked("model", int(made.clock.now() * 1000) + 60_000))
    await journal.commit()
    assert await again(made) == Retried(True, "Run run1 makes its next attempt now.")


async def test_while_somebody_is_at_work_nothing_is_written_over() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await abandon(made)
    head = await made.store.head("run1")
    assert head is not None
    await made.store.lease(head.conversation, "worker", made.clock.now(), 60)
    with pytest.raises(TemporaryError, match="try again in a minute"):
        await again(made)
    assert await made.status("run1") == "needs_attention"


async def test_a_journal_that_nobody_can_read_is_not_rung_for() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    made.store._frames["run1"][0] = b"nonsense"
    with pytest.raises(Corrupt):
        await again(made)


async def test_what_was_deleted_cannot_go_on() -> None:
    made = office(says("Hello."))
    with pytest.raises(Gone):
        await again(made)
    await made.accept("run1")
    await made.hear()
    assert await delete(["run1"], Stores(made.store, made.blobs, made.queue)) == 1
    with pytest.raises(Gone, match="it cannot be continued"):
        await again(made)


@given(st.lists(st.sampled_from(["retry", "hear", "lose", "abandon"]), max_size=8))
async def test_an_effect_never_happens_twice_however_often_a_run_is_retried(steps: list[str]) -> None:
    """Posting is an effect that nobody can ask about: in doubt it is unknown, and never repeated."""
    made = office(says("Hello."))
    await made.accept("run1")
    for step in steps:
        made.clock.advance(2000)
        match step:
            case "retry":
                await again(made)
            case "abandon" if await made.status("run1") not in ("done", "failed"):
                await abandon(made)
            case "lose":
                made.lose_in.add("slack_update_message")
                await made.hear_lost()
                made.lose_in.clear()
            case _:
                await made.hear()
    await again(made)
    for _ in range(5):
        made.clock.advance(2000)
        await made.hear()
    assert len(made.posted) <= 1
    posts = [item.entry for item in await read_journal("run1", made.store, made.blobs)]
    assert sum(isinstance(entry, ToolCall) and entry.tool == "slack_post_message" for entry in posts) <= 1
