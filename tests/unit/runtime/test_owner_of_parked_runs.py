"""Parked runs: when they resume, and what happens meanwhile."""

from dataclasses import replace

import pytest

from gofer.journal import inbox
from gofer.journal.entries import MessageReceived, RunConcluded, ToolCall
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, open_journal
from gofer.models.language_model import Answer
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.waiting import WAITS
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, InDoubt, ToolResult
from gofer.values.errors import TemporaryError
from support.engine.memory_run import says
from support.runtime.memory_worker import CONVERSATION, MemoryWorker, memory_worker
from support.stand_ins import NOON

pytestmark = pytest.mark.anyio


@pytest.mark.not_replayed("its journal is written by hand")
async def test_call_in_doubt_parks_the_run_until_the_quiet_time_is_over() -> None:
    """A paused owner may still be sending for 60 seconds. A queue message in between has no effect."""
    made = memory_worker(says("unused"))

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        made.posted.append("looked")
        return ToolResult("Posted", "posted")

    post = made.worker.services.tools["slack_post_message"]
    tools = {
        **made.worker.services.tools,
        "slack_post_message": replace(post, effect="lookup", in_doubt=InDoubt(look=look, settle=5.0)),
    }
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("crashed", made.worker.services.outside))
    for entry in (await made.started(), RunConcluded("done", "", "Hello.")):
        journal.add(entry)
    journal.add(ToolCall("answer/1", "slack_post_message", "lookup"))
    await journal.commit()
    await made.work_once()
    assert (await made.status("run1"), made.posted) == ("parked", [])
    made.clock.advance(30)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert (await made.status("run1"), made.posted) == ("parked", [])
    made.clock.advance(31)
    while await made.work_once():
        pass
    assert (await made.status("run1"), made.posted) == ("done", ["looked"])


BUSY = TemporaryError("The provider is busy", retry_after=600)


async def parked(*later: Answer | Exception) -> MemoryWorker:
    """Return a worker whose run is parked for ten minutes because its model is unreachable."""
    made = memory_worker(BUSY, *later)
    await made.accept("run1")
    await made.work_once()
    return made


async def test_run_with_an_unreachable_model_is_parked_and_answers_when_the_model_is_back() -> None:
    made = await parked(says("Hello."))
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason, head.wakes_at) == ("parked", "The provider is busy", int((NOON + 600) * 1000))
    assert made.posted == [WAITS]
    made.clock.advance(599)
    assert await made.work_once() == 0
    made.clock.advance(1)
    assert await made.work_once() == 1
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_list_row_of_a_private_run_names_only_the_kind_of_its_wait() -> None:
    made = memory_worker(BUSY)
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("before", made.worker.services.outside))
    journal.add(replace(await made.started(), private=True))
    await journal.commit()
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.private, head.reason) == ("parked", True, "the model does not answer")


async def test_run_parked_by_a_wrong_clock_resumes_once_the_clock_is_right() -> None:
    made = await parked(says("Hello."))
    made.worker = replace(made.worker, alone=True)
    made.clock.advance(-3_600)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


@pytest.mark.not_replayed("its journal is written by hand")
async def test_quiet_time_set_by_a_wrong_clock_is_cut_to_the_normal_length() -> None:
    made = memory_worker(says("unused"))

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        return ToolResult("Posted", "posted")

    post = made.worker.services.tools["slack_post_message"]
    tools = {
        **made.worker.services.tools,
        "slack_post_message": replace(post, effect="lookup", in_doubt=InDoubt(look=look, settle=5.0)),
    }
    made.worker = replace(made.worker, alone=True, services=replace(made.worker.services, tools=tools))
    made.clock.advance(3_600)
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("crashed", made.worker.services.outside))
    for entry in (await made.started(), RunConcluded("done", "", "Hello.")):
        journal.add(entry)
    journal.add(ToolCall("answer/1", "slack_post_message", "lookup"))
    await journal.commit()
    await made.work_once()
    assert await made.status("run1") == "parked"
    made.clock.advance(-3_600)
    for _ in range(3):
        await made.queue.enqueue("run1")
        await made.work_once()
        made.clock.advance(6)
    assert await made.status("run1") == "done"


async def test_parked_run_does_not_block_other_runs_of_the_conversation() -> None:
    made = await parked(says("second"), says("first"))
    await made.accept("run2", 2)
    await made.work_once()
    assert made.posted == [WAITS, "second"]
    made.clock.advance(600)
    await made.work_once()
    assert made.posted == ["first", "second"]


async def test_queue_message_received_while_a_run_is_being_parked_is_retried_within_seconds() -> None:
    made = await parked(says("Hello."))
    made.clock.advance(601)
    # The head is parked already, and the owner has not released the conversation yet.
    await made.store.lease(CONVERSATION, "parking", made.clock.now(), 60.0)
    await made.queue.enqueue("run1")
    assert await made.work_once() >= 1
    await made.store.release(CONVERSATION, "parking")
    made.clock.advance(5)
    assert await made.work_once() == 1
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_early_queue_message_of_a_parked_run_writes_no_frame_and_calls_no_model() -> None:
    made = await parked(says("Hello."))
    frames = list(await made.store.frames("run1"))
    made.clock.advance(300)
    for _ in range(3):
        await made.queue.enqueue("run1")
        assert await made.work_once() == 1
    assert list(await made.store.frames("run1")) == frames
    assert len(made.model.requests) == 1
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.wakes_at) == ("parked", int((NOON + 600) * 1000))
    made.clock.advance(300)
    while await made.work_once():
        pass
    assert made.posted == ["Hello."]


async def test_new_message_wakes_a_parked_run() -> None:
    made = await parked(says("Hello."))
    await inbox.put(made.store, "run1", "a", MessageReceived("never mind the rest"))
    await made.queue.enqueue("run1")
    await made.work_once()
    assert made.posted == ["Hello."]
    assert b"never mind the rest" in made.model.requests[-1]


async def test_parked_run_is_not_swept_before_the_wake_time() -> None:
    made = await parked(says("Hello."))
    made.queue.clear()
    sweeper = Sweeper(made.store, made.queue, made.clock)
    made.clock.advance(599)
    assert await sweeper.sweep(180) == 0
    made.clock.advance(182)
    assert await sweeper.sweep(180) == 1
    await made.work_once()
    assert made.posted == ["Hello."]


async def test_run_fails_with_an_explanation_when_the_model_does_not_come_back() -> None:
    made = await parked(*[BUSY] * 9)
    for _ in range(3):
        made.clock.advance(600)
        await made.work_once()
    assert made.posted == [
        "I could not finish this: the model's provider did not answer for 30 minutes: The provider is busy"
    ]
    assert await made.status("run1") == "failed"


async def test_parked_run_in_a_channel_that_became_private_stays_unlisted() -> None:
    made = await parked(says("Hello."))
    assert [head.run for head in await made.store.heads(10)] == ["run1"]
    await hide("run1", made.store, int(NOON * 1000))
    assert list(await made.store.heads(10)) == []
    made.clock.advance(601)
    while await made.work_once():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.private) == ("done", True)


async def test_run_hidden_before_admission_stays_unlisted() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await hide("run1", made.store, int(NOON * 1000))
    while await made.work_once():
        assert list(await made.store.heads(10)) == []
    assert (await made.status("run1"), list(await made.store.heads(10))) == ("done", [])
