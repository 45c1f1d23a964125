"""The worker: queue messages, leases and conversations, on stores in memory."""

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, RunConcluded, RunOwned, RunStarted, ToolCall
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.models.language_model import Answer
from gofer.runtime.worker import WorkerLimits
from gofer.sources.slack.read_thread import ReadThread
from gofer.sources.slack.write import PostMessage
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.errors import Corrupt, RunStopped, TemporaryError
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import CATALOG, CONVERSATION, WORKFLOW, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON, claimed

pytestmark = pytest.mark.anyio


async def test_queue_message_leads_to_an_answered_run() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    assert await made.work_once() == 1
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"
    made.clock.advance(1000)
    assert await made.work_once() == 0


async def test_several_queue_messages_of_a_run_lead_to_one_answer() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    for _ in range(5):
        await made.queue.enqueue("run1")
    while await made.work_once():
        pass
    assert made.posted == ["Hello."]


async def test_runs_of_a_conversation_are_answered_oldest_first() -> None:
    made = memory_worker(says("first"), says("second"), says("third"))
    for run, at in (("c", 3), ("b", 2), ("a", 1)):
        await made.accept(run, at)
    while await made.work_once():
        pass
    assert made.posted == ["first", "second", "third"]
    assert [head.run for head in await made.store.heads(9, private=True) if head.status == "done"] == ["c", "b", "a"]
    first = [item.entry for item in await read_journal("a", made.store, made.blobs)]
    assert RunConcluded("done", "", "first") in first


async def test_queue_message_of_a_busy_conversation_is_acknowledged() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await made.store.lease(CONVERSATION, "somebody", NOON, 60.0)
    await made.work_once()
    assert made.posted == []
    made.clock.advance(1000)
    assert await made.work_once() == 0


async def test_queue_message_of_an_unknown_run_is_acknowledged() -> None:
    made = memory_worker()
    await made.queue.enqueue("no-such-run")
    await made.work_once()
    made.clock.advance(1000)
    assert await made.work_once() == 0


async def test_head_of_an_ended_run_has_the_number_of_frames() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    await made.work_once()
    head = await made.store.head("run1")
    assert head is not None
    assert head.frames == len(await made.store.frames("run1"))


async def test_run_of_a_removed_workflow_fails_with_an_explanation() -> None:
    made = MemoryWorker(ListModel([]), catalog=Catalog({}, Defaults()))
    await made.accept("run1")
    await made.work_once()
    assert made.posted == ["I could not finish this: there is no workflow 'answer-here' any more."]
    assert await made.status("run1") == "failed"


@dataclass
class Published:
    """Published workflows that change while a worker runs."""

    catalog: Catalog
    asked: list[str] = field(default_factory=list)

    async def holding(self, workflow: str) -> Catalog:
        self.asked.append(workflow)
        if not self.catalog.workflows:
            raise TemporaryError("No workflows are loaded.")
        return self.catalog


async def test_worker_uses_the_workflow_published_when_the_run_begins() -> None:
    made = memory_worker(says("Hello."), says("Hi."))
    live = Published(CATALOG)
    made.worker = replace(made.worker, workflows=live)
    await made.accept("run1")
    await made.work_once()
    short = replace(CATALOG.workflows["answer-here"], system="Be short.")
    live.catalog = Catalog({"answer-here": short}, Defaults())
    await made.accept("run2")
    await made.work_once()
    assert (made.posted, live.asked) == (["Hello.", "Hi."], ["answer-here", "answer-here"])
    prompts = [json.loads(body)["messages"][0]["content"] for body in made.model.requests]
    assert prompts == [CATALOG.workflows["answer-here"].system, "Be short."]


async def test_queue_message_waits_while_no_workflow_is_available() -> None:
    made = memory_worker(says("Hello."))
    live = Published(Catalog({}, Defaults()))
    made.worker = replace(made.worker, workflows=live)
    await made.accept("run1")
    await made.work_once()
    assert made.posted == []
    live.catalog = CATALOG
    made.clock.advance(10)
    await made.work_once()
    assert made.posted == ["Hello."]


@pytest.mark.not_replayed("its journal is written by hand")
async def test_started_run_keeps_the_bundle_after_the_workflow_was_removed() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("lost", made.worker.services.outside))
    journal.add(RunOwned())
    journal.add(await made.started())
    journal.add(MessageReceived("hello"))
    await journal.commit()
    made.worker = replace(made.worker, workflows=FixedCatalog(Catalog({}, Defaults())))
    made.clock.advance(1000)
    while await made.work_once():
        made.clock.advance(1000)
    assert made.posted == ["Hello."]


async def test_queue_message_of_an_ended_run_starts_the_next_run_of_the_conversation() -> None:
    """The worker crashed after the end of a run and before it enqueued the next one of the conversation."""
    made = memory_worker(says("second"))
    await made.accept("run2", 2)
    (queue_message,) = await made.queue.receive(1, 120, 0)
    await made.queue.acknowledge(queue_message)
    await made.store.create_head(Head("run1", "answer-here", CONVERSATION, 1, status="done"))
    await made.queue.enqueue("run1")
    await made.work_once()
    assert made.posted == ["second"]


@pytest.mark.not_replayed("its journal is written by hand")
async def test_concluded_run_calls_no_model_after_a_crash_in_delivery() -> None:
    """The answer may have been posted, so the next owner does no further work."""
    made = memory_worker(says("must not be asked"))
    await made.accept("run1")
    pen = Pen("crashed", made.worker.services.outside)
    journal, _ = await open_journal("run1", made.store, made.blobs, pen)
    for entry in (
        await made.started(),
        RunConcluded("failed", "no model", "I could not finish this: no model"),
    ):
        journal.add(entry)
    journal.add(ToolCall("answer/1", "slack_post_message", "blind"))
    await journal.commit()
    await made.work_once()
    assert made.model.requests == []
    assert made.posted == []
    head = await made.store.head("run1")
    assert head is not None
    assert head.reason.startswith("the answer may not have been delivered: ")


async def test_run_keeps_the_system_prompt_of_the_start() -> None:
    made = memory_worker(says("unused"))
    await made.accept("run1")
    made.model.answers = [KeyError("the worker dies here")]
    await made.work_once()
    changed = replace(CATALOG.workflows["answer-here"], system="Be verbose.")
    made.worker = replace(made.worker, workflows=FixedCatalog(Catalog({"answer-here": changed}, Defaults())))
    made.model.answers = [says("Hello.")]
    made.clock.advance(121)
    await made.work_once()
    assert made.posted == ["Hello."]
    assert b"Be brief." in made.model.requests[-1]
    assert b"Be verbose." not in made.model.requests[-1]


@pytest.mark.parametrize(("reply", "thread"), [("thread", "1795262400.000100"), ("channel", "")])
async def test_answer_is_posted_to_the_place_that_the_workflow_names(reply: str, thread: str) -> None:
    loaded = replace(CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"reply": reply}))
    made = MemoryWorker(ListModel([says("Hello.")]), catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.work_once()
    assert made.threads == [thread]


async def test_workflow_without_reply_notifies_only_the_owner_of_failures_once_an_hour() -> None:
    loaded = replace(CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"reply": "none"}))
    made = MemoryWorker(ListModel([says("Hello.")]), catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.work_once()
    assert (made.posted, await made.status("run1")) == ([], "done")
    failing = MemoryWorker(ListModel([RunStopped("no such model")] * 2), catalog=made.catalog)
    for number in (1, 2):
        await failing.accept(f"run{number}", number)
        await failing.work_once()
    assert failing.posted == ["`answer-here`: failed: `no such model`"]


async def test_owner_reads_once_an_hour_that_answers_rest_on_empty_results() -> None:
    read = ("slack_read_thread", {"channel": "C0DEPLOY0", "ts": "1795262400.000100"})
    made = memory_worker(says("", read), says("There is no incident."), says("", read), says("There is none."))
    made.grant("slack_read_thread")
    context = made.worker.services.tools["slack_read_thread"]

    async def nothing(call: Call, arguments: ReadThread) -> ToolResult:
        return ToolResult("", "read 0 messages", {"private": False})

    tools = {**made.worker.services.tools, "slack_read_thread": replace(context, act=nothing)}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    for number in (1, 2):
        await made.accept(f"run{number}", number, private=False)
        await made.work_once()
    told = [text for text in made.posted if text.startswith("`answer-here`")]
    assert told == ["`answer-here`: done: `The answer rests on empty results only: 1.`"]


CANARY = "the merger with Initech"


@pytest.mark.parametrize("trouble", [RunStopped(f"no {CANARY}"), KeyError(CANARY), Corrupt(CANARY)])
async def test_head_of_an_ended_private_run_holds_no_reason(trouble: Exception) -> None:
    """Heads stay for thirty days, those of abandoned runs too."""
    made = memory_worker(*[trouble] * 20)

    async def read(call: Call, arguments: ReadThread) -> ToolResult:
        return ToolResult("Thread in #board", "read", {"private": True})

    thread = replace(made.worker.services.tools["slack_read_thread"], act=read)
    tools = {**made.worker.services.tools, "slack_read_thread": thread}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    for _ in range(30):
        await made.work_once()
        made.clock.advance(121)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.ended, head.private, head.reason) == (True, True, "")


async def test_run_with_a_call_of_unknown_outcome_needs_attention() -> None:
    made = memory_worker(says("", ("mail", {"text": "to all"})), says("Sent."))

    async def mail(call: Call, arguments: PostMessage) -> ToolResult:
        raise TemporaryError("the connection broke")

    tools = {**made.worker.services.tools, "mail": Tool("mail", "", "blind", PostMessage, mail)}
    loaded = replace(
        CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"tools": (Grant(name="mail"),)})
    )
    services = replace(made.worker.services, tools=tools)
    made.worker = replace(
        made.worker, services=services, workflows=FixedCatalog(Catalog({"answer-here": loaded}, Defaults()))
    )
    await made.accept("run1")
    await made.work_once()
    doubt = "I do not know whether my last change in a system outside arrived."
    assert made.posted == [f"Sent.\n\n_{doubt} Please check it there before you ask again._"]
    assert await made.status("run1") == "needs_attention"


def test_worker_has_no_more_conversations_in_flight_than_allowed() -> None:
    async def story() -> None:
        made = memory_worker()
        in_flight: list[int] = []
        now = 0

        class CountingModel:
            async def ask(self, body: bytes, timeout: float) -> Answer:
                nonlocal now
                now += 1
                in_flight.append(now)
                await asyncio.sleep(0.01)
                now -= 1
                return says("Hello.")

        services = replace(made.worker.services, model=CountingModel())
        worker = replace(made.worker, services=services, limits=WorkerLimits(concurrency=2))
        for n in range(6):
            await claimed(made.store, f"run{n}")
            await made.store.create_head(Head(f"run{n}", "answer-here", f"conversation {n}", n))
            await made.queue.enqueue(f"run{n}")
        serving = asyncio.create_task(worker.serve())
        async with asyncio.timeout(60):
            while len(made.posted) < 6:
                await asyncio.sleep(0.005)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        assert max(in_flight) == 2

    in_virtual_time(VirtualLoop(), story())


async def test_running_run_is_listed_once_known_to_be_public() -> None:
    made = memory_worker()
    listed: list[int] = []

    class LookingModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            listed.append(len(await made.store.heads(10)))
            return says("Hello.")

    made.worker = replace(made.worker, services=replace(made.worker.services, model=LookingModel()))
    await made.accept("run1")
    assert await made.store.heads(10) == []
    await made.work_once()
    assert listed == [1]


async def test_serving_worker_answers_queue_messages_and_stops_on_cancellation() -> None:
    made = memory_worker(says("Hello."))
    serving = asyncio.create_task(made.worker.serve())
    await asyncio.sleep(0.01)
    await made.accept("run1")
    async with asyncio.timeout(60):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert serving.cancelled()


async def test_queue_message_of_a_deleted_run_ends_the_head_and_starts_the_next_run() -> None:
    made = memory_worker(says("second"))
    await made.accept("run1", 1, private=False)
    await made.accept("run2", 2)
    await made.store.retain("run1", "due", "deleting")
    await made.store.destroy_key("run1")
    await made.store.empty("run1")
    while await made.work_once():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, "deleted by retention" in head.reason) == ("done", True)
    assert (made.posted, await made.status("run2")) == (["second"], "done")
    assert set(await made.store.frames("run1")) == {b""}
    made.clock.advance(1000)
    assert await made.work_once() == 0


async def test_continue_run_returns_the_progress_even_of_a_deleted_run() -> None:
    made = MemoryWorker(ListModel([]), catalog=Catalog({}, Defaults()))
    await made.accept("run1")
    head = await made.store.head("run1")
    assert head is not None
    done = await made.worker.continue_run(head, "me")
    assert done is not None
    assert (done.finished is not None, done.workflow) == (True, "answer-here")
    assert await made.store.key("run1") is None
    assert await made.worker.continue_run(head, "me") is None


async def test_run_continues_from_an_earlier_run_of_the_conversation() -> None:
    made = memory_worker(says("first"), says("second"))
    await made.accept("run1", 1)
    assert await made.work_once() == 1
    await made.accept("run2", 2)
    assert await made.work_once() == 1
    entries = [one.entry for one in await read_journal("run2", made.store, made.blobs)]
    (started,) = [entry for entry in entries if isinstance(entry, RunStarted)]
    assert started.continues == "run1"
