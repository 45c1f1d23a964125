"""Doorbells, leases and conversations, with a store in memory and a Slack that is a function."""

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
from support.runtime.memory_worker import CATALOG, CONVERSATION, WORKFLOW, Office, office
from support.runtime.worker_parts import Unchanging
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON, claimed

pytestmark = pytest.mark.anyio


async def test_a_doorbell_brings_a_run_to_its_end() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    assert await made.hear() == 1
    assert made.posted == ["Hello."]
    assert await made.status("run1") == "done"
    made.clock.advance(1000)
    assert await made.hear() == 0


async def test_many_bells_of_one_run_are_one_answer() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    for _ in range(5):
        await made.queue.enqueue("run1")
    while await made.hear():
        pass
    assert made.posted == ["Hello."]


async def test_runs_of_a_conversation_happen_oldest_first_whoever_rings() -> None:
    made = office(says("first"), says("second"), says("third"))
    for run, at in (("c", 3), ("b", 2), ("a", 1)):
        await made.accept(run, at)
    while await made.hear():
        pass
    assert made.posted == ["first", "second", "third"]
    assert [head.run for head in await made.store.heads(9, private=True) if head.status == "done"] == ["c", "b", "a"]
    first = [item.entry for item in await read_journal("a", made.store, made.blobs)]
    assert RunConcluded("done", "", "first") in first


async def test_a_bell_of_a_busy_conversation_is_acknowledged() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await made.store.lease(CONVERSATION, "somebody", NOON, 60.0)
    await made.hear()
    assert made.posted == []
    made.clock.advance(1000)
    assert await made.hear() == 0


async def test_a_bell_for_nobody_is_acknowledged() -> None:
    made = office()
    await made.queue.enqueue("no-such-run")
    await made.hear()
    made.clock.advance(1000)
    assert await made.hear() == 0


async def test_the_head_of_a_run_that_ended_knows_how_many_frames_it_has() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await made.hear()
    head = await made.store.head("run1")
    assert head is not None
    assert head.frames == len(await made.store.frames("run1"))


async def test_a_workflow_that_was_removed_is_an_honest_answer() -> None:
    made = Office(ListModel([]), catalog=Catalog({}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert made.posted == ["I could not finish this: there is no workflow 'answer-here' any more."]
    assert await made.status("run1") == "failed"


@dataclass
class Published:
    """Workflows that change while a worker is at work."""

    catalog: Catalog
    asked: list[str] = field(default_factory=list)

    async def holding(self, workflow: str) -> Catalog:
        self.asked.append(workflow)
        if not self.catalog.workflows:
            raise TemporaryError("No workflows are loaded.")
        return self.catalog


async def test_a_worker_goes_by_what_is_published_when_a_run_begins() -> None:
    made = office(says("Hello."), says("Hi."))
    live = Published(CATALOG)
    made.worker = replace(made.worker, workflows=live)
    await made.accept("run1")
    await made.hear()
    short = replace(CATALOG.workflows["answer-here"], system="Be short.")
    live.catalog = Catalog({"answer-here": short}, Defaults())
    await made.accept("run2")
    await made.hear()
    assert (made.posted, live.asked) == (["Hello.", "Hi."], ["answer-here", "answer-here"])
    prompts = [json.loads(body)["messages"][0]["content"] for body in made.model.requests]
    assert prompts == [CATALOG.workflows["answer-here"].system, "Be short."]


async def test_a_bell_waits_while_nothing_can_be_gone_by() -> None:
    made = office(says("Hello."))
    live = Published(Catalog({}, Defaults()))
    made.worker = replace(made.worker, workflows=live)
    await made.accept("run1")
    await made.hear()
    assert made.posted == []
    live.catalog = CATALOG
    made.clock.advance(10)
    await made.hear()
    assert made.posted == ["Hello."]


async def test_a_run_that_has_begun_keeps_its_own_though_its_workflow_was_taken_away() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("lost", made.worker.services.outside))
    journal.add(RunOwned())
    journal.add(await made.started())
    journal.add(MessageReceived("hello"))
    await journal.commit()
    made.worker = replace(made.worker, workflows=Unchanging(Catalog({}, Defaults())))
    made.clock.advance(1000)
    while await made.hear():
        made.clock.advance(1000)
    assert made.posted == ["Hello."]


async def test_a_bell_whose_run_is_over_still_brings_the_next_one() -> None:
    """As after a crash between the end of one run and the ring for the next, whose own bell was acknowledged."""
    made = office(says("second"))
    await made.accept("run2", 2)
    (queue_message,) = await made.queue.receive(1, 120, 0)
    await made.queue.acknowledge(queue_message)
    await made.store.create_head(Head("run1", "answer-here", CONVERSATION, 1, status="done"))
    await made.queue.enqueue("run1")
    await made.hear()
    assert made.posted == ["second"]


async def test_what_was_concluded_is_what_is_delivered_even_after_a_crash_before_the_end() -> None:
    """The answer was posted, or may have been; the next owner works no further."""
    made = office(says("must not be asked"))
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
    await made.hear()
    assert made.model.requests == []
    assert made.posted == []
    head = await made.store.head("run1")
    assert head is not None
    assert head.reason.startswith("the answer may not have been delivered: ")


async def test_a_run_keeps_the_prompt_it_started_with() -> None:
    made = office(says("unused"))
    await made.accept("run1")
    made.model.answers = [KeyError("the worker dies here")]
    await made.hear()
    changed = replace(CATALOG.workflows["answer-here"], system="Be verbose.")
    made.worker = replace(made.worker, workflows=Unchanging(Catalog({"answer-here": changed}, Defaults())))
    made.model.answers = [says("Hello.")]
    made.clock.advance(121)
    await made.hear()
    assert made.posted == ["Hello."]
    assert b"Be brief." in made.model.requests[-1]
    assert b"Be verbose." not in made.model.requests[-1]


@pytest.mark.parametrize(("reply", "thread"), [("thread", "1795262400.000100"), ("channel", "")])
async def test_an_answer_goes_where_the_workflow_says(reply: str, thread: str) -> None:
    loaded = replace(CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"reply": reply}))
    made = Office(ListModel([says("Hello.")]), catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert made.threads == [thread]


async def test_a_workflow_without_a_reply_answers_nowhere_and_its_owner_hears_of_a_failure_once_an_hour() -> None:
    loaded = replace(CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"reply": "none"}))
    made = Office(ListModel([says("Hello.")]), catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert (made.posted, await made.status("run1")) == ([], "done")
    failing = Office(ListModel([RunStopped("no such model")] * 2), catalog=made.catalog)
    for number in (1, 2):
        await failing.accept(f"run{number}", number)
        await failing.hear()
    assert failing.posted == ["`answer-here`: failed: `no such model`"]


CANARY = "the merger with Initech"


@pytest.mark.parametrize("trouble", [RunStopped(f"no {CANARY}"), KeyError(CANARY), Corrupt(CANARY)])
async def test_of_a_private_run_that_ended_no_word_stays_in_its_head(trouble: Exception) -> None:
    """Heads stay for thirty days, those of runs that were given up too."""
    made = office(*[trouble] * 20)

    async def read(call: Call, arguments: ReadThread) -> ToolResult:
        return ToolResult("Thread in #board", "read", {"private": True})

    thread = replace(made.worker.services.tools["slack_read_thread"], act=read)
    tools = {**made.worker.services.tools, "slack_read_thread": thread}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    for _ in range(30):
        await made.hear()
        made.clock.advance(121)
    head = await made.store.head("run1")
    assert head is not None
    assert (head.ended, head.private, head.reason) == (True, True, "")


async def test_a_call_nobody_can_tell_about_needs_a_persons_attention() -> None:
    made = office(says("", ("mail", {"text": "to all"})), says("Sent."))

    async def mail(call: Call, arguments: PostMessage) -> ToolResult:
        raise TemporaryError("the connection broke")

    tools = {**made.worker.services.tools, "mail": Tool("mail", "", "blind", PostMessage, mail)}
    loaded = replace(
        CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"tools": (Grant(name="mail"),)})
    )
    services = replace(made.worker.services, tools=tools)
    made.worker = replace(
        made.worker, services=services, workflows=Unchanging(Catalog({"answer-here": loaded}, Defaults()))
    )
    await made.accept("run1")
    await made.hear()
    doubt = "I do not know whether my last change in a system outside arrived."
    assert made.posted == [f"Sent.\n\n_{doubt} Please check it there before you ask again._"]
    assert await made.status("run1") == "needs_attention"


def test_no_more_conversations_are_in_flight_than_allowed() -> None:
    async def story() -> None:
        made = office()
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


async def test_a_run_under_way_is_listed_once_it_is_known_to_be_public() -> None:
    made = office()
    listed: list[int] = []

    class LookingModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            listed.append(len(await made.store.heads(10)))
            return says("Hello.")

    made.worker = replace(made.worker, services=replace(made.worker.services, model=LookingModel()))
    await made.accept("run1")
    assert await made.store.heads(10) == []
    await made.hear()
    assert listed == [1]


async def test_a_serving_worker_hears_rings_and_stops_when_asked() -> None:
    made = office(says("Hello."))
    serving = asyncio.create_task(made.worker.serve())
    await asyncio.sleep(0.01)
    await made.accept("run1")
    async with asyncio.timeout(60):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert serving.cancelled()


async def test_a_bell_for_a_run_that_was_deleted_leaves_it_alone_whatever_its_head_says() -> None:
    made = office(says("second"))
    await made.accept("run1", 1, private=False)
    await made.accept("run2", 2)
    await made.store.retain("run1", "due", "deleting")
    await made.store.destroy_key("run1")
    await made.store.empty("run1")
    while await made.hear():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, "deleted by retention" in head.reason) == ("done", True)
    assert (made.posted, await made.status("run2")) == (["second"], "done")
    assert set(await made.store.frames("run1")) == {b""}
    made.clock.advance(1000)
    assert await made.hear() == 0


async def test_how_far_a_run_came_is_told_to_who_continued_it_even_when_nothing_of_it_is_left() -> None:
    made = Office(ListModel([]), catalog=Catalog({}, Defaults()))
    await made.accept("run1")
    head = await made.store.head("run1")
    assert head is not None
    done = await made.worker.continue_run(head, "me")
    assert done is not None
    assert (done.finished is not None, done.workflow) == (True, "answer-here")
    assert await made.store.key("run1") is None
    assert await made.worker.continue_run(head, "me") is None


async def test_a_run_goes_on_from_an_earlier_one_of_its_conversation() -> None:
    made = office(says("first"), says("second"))
    await made.accept("run1", 1)
    assert await made.hear() == 1
    await made.accept("run2", 2)
    assert await made.hear() == 1
    entries = [one.entry for one in await read_journal("run2", made.store, made.blobs)]
    (started,) = [entry for entry in entries if isinstance(entry, RunStarted)]
    assert started.continues == "run1"
