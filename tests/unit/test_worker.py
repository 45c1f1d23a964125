"""Doorbells, leases and conversations, with a store in memory and a Slack that is a function."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from engine_room import ListModel, says
from gofer.deliver import AT_WORK, WAITS
from gofer.errors import Damaged, RunStopped, TemporaryError
from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived, RunConcluded, ToolCall
from gofer.journal.frames import Frame, frame_bytes, frame_hash
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.journal.memory import MemoryStore
from gofer.journal.seal import seal_of
from gofer.models.model import Answer
from gofer.queue.doorbell import Doorbell
from gofer.queue.memory import MemoryQueue
from gofer.sweeper import Sweeper
from gofer.tools.slack.read_thread import ReadThread
from gofer.tools.slack.write import PostMessage
from gofer.tools.tool import Call, Tool, ToolResult
from gofer.worker import RECEIVES
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from office import CATALOG, WORKFLOW, Office, office
from stand_ins import NOON, claimed, mention

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
        await made.queue.ring("run1")
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
    await made.store.lease(mention().conversation, "somebody", NOON, 60.0)
    await made.hear()
    assert made.posted == []
    made.clock.advance(1000)
    assert await made.hear() == 0


async def test_a_bell_for_nobody_is_acknowledged() -> None:
    made = office()
    await made.queue.ring("no-such-run")
    await made.hear()
    made.clock.advance(1000)
    assert await made.hear() == 0


class FullStore(MemoryStore):
    """A store without room for a second frame until there is."""

    full = True

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        if self.full and n > 1:
            raise TemporaryError("disk full")
        return await super().create(run, n, frame)


async def test_a_run_that_cannot_be_written_comes_back_when_there_is_room() -> None:
    store = FullStore()
    made = Office(ListModel([says("Hello.")]), store=store)
    await made.accept("run1")
    await made.hear()
    assert made.posted == []
    store.full = False
    made.clock.advance(121)
    assert await made.hear() == 1
    assert made.posted == ["Hello."]


async def test_a_damaged_journal_is_shown_as_such_and_the_others_go_on() -> None:
    made = office(says("Hello."))
    await made.accept("run1", 1, private=False)
    await made.store.create("run1", 2, b'{"not": "a frame"}')
    await made.accept("run2", 2)
    while await made.hear():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, "damaged at frame 2" in head.reason) == ("needs_attention", True)
    assert await made.status("run2") == "done"


async def test_a_run_of_a_newer_gofer_waits_for_that_one_however_often_it_is_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = office()
    await made.accept("run1")
    (first,) = await made.store.frames("run1")
    newer = Frame(2, 1, "o", "n", frame_hash(first), [{"kind": "run.dreamed"}])
    await made.store.create("run1", 2, frame_bytes(newer, await seal_of("run1", made.store)))
    before, frames = await made.store.head("run1"), await made.store.frames("run1")
    assert before is not None
    for _ in range(RECEIVES):
        assert await made.hear() == 1
        made.clock.advance(121)
    head = await made.store.head("run1")
    assert head is not None
    assert replace(head, updated_at=0) == before
    assert (await made.store.frames("run1"), made.posted) == (frames, [])
    assert "run run1 was not continued: Run run1 cannot be read at frame 2: this journal has an entry" in caplog.text
    assert [letter.why for letter in await made.queue.buried(9)] == ["its journal is of a newer Gofer"]
    made.clock.advance(181)
    assert await Sweeper(made.store, made.queue, made.clock).sweep(180) == 1
    assert await made.hear() == 1


async def test_a_journal_that_lost_its_end_is_not_continued_and_stays_known_as_cut() -> None:
    made = office(says("must not be asked"))
    await made.accept("run1")
    await made.store.put_head(Head("run1", "answer-here", mention().conversation, 1, private=False, frames=4))
    while await made.hear():
        pass
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.frames) == ("needs_attention", 4)
    assert "4 frames were written and 1 are there" in head.reason
    assert (len(await made.store.frames("run1")), made.posted, made.model.requests) == (1, [], [])


async def test_the_head_of_a_run_that_ended_knows_how_many_frames_it_has() -> None:
    made = office(says("Hello."))
    await made.accept("run1")
    await made.hear()
    head = await made.store.head("run1")
    assert head is not None
    assert head.frames == len(await made.store.frames("run1"))


class DamagedQueue(MemoryQueue):
    """A queue whose file is damaged until somebody restores it."""

    damaged = True

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[Doorbell]:
        if self.damaged:
            raise Damaged("gofer.db cannot be read; stop Gofer and restore the file from a backup.")
        return await super().receive(limit, visibility, wait)


async def test_a_worker_outlives_a_damaged_file() -> None:
    made = office(says("Hello."))
    queue = DamagedQueue(made.clock)
    worker = replace(made.worker, queue=queue, pause=0.01)
    await made.accept("run1")
    await queue.ring("run1")
    serving = asyncio.create_task(worker.serve())
    await asyncio.sleep(0.03)
    queue.damaged = False
    async with asyncio.timeout(5):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_a_workflow_that_was_removed_is_an_honest_answer() -> None:
    made = Office(ListModel([]), catalog=Catalog({}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert made.posted == ["I could not finish this: there is no workflow 'answer-here' any more."]
    assert await made.status("run1") == "failed"


async def test_a_worker_survives_what_nobody_foresaw() -> None:
    made = office(KeyError("unforeseen"), says("Hello."))
    await made.accept("run1", 1)
    await made.hear()
    assert made.posted == [AT_WORK]
    made.clock.advance(121)
    assert await made.hear() == 1
    assert made.posted == ["Hello."]


async def test_a_bell_whose_run_is_over_still_brings_the_next_one() -> None:
    """As after a crash between the end of one run and the ring for the next, whose own bell was acknowledged."""
    made = office(says("second"))
    await made.accept("run2", 2)
    (bell,) = await made.queue.receive(1, 120, 0)
    await made.queue.acknowledge(bell)
    await made.store.create_head(Head("run1", "answer-here", mention().conversation, 1, status="done"))
    await made.queue.ring("run1")
    await made.hear()
    assert made.posted == ["second"]


class DeafQueue(MemoryQueue):
    """A queue that fails once."""

    failures = 1

    async def receive(self, limit: int, visibility: float, wait: float) -> Sequence[Doorbell]:
        if self.failures:
            self.failures -= 1
            raise TemporaryError("locked")
        return await super().receive(limit, visibility, wait)


async def test_a_worker_listens_again_when_the_queue_failed() -> None:
    made = office(says("Hello."))
    queue = DeafQueue(made.clock)
    worker = replace(made.worker, queue=queue, pause=0.01)
    await made.accept("run1")
    await queue.ring("run1")
    serving = asyncio.create_task(worker.serve())
    async with asyncio.timeout(5):
        while not made.posted:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert queue.failures == 0


class FlakyLeases(MemoryStore):
    """Leases that are refused from some moment on; the first renewal fails."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.lost = False

    async def lease(self, conversation: str, owner: str, now: float, seconds: float) -> bool:
        self.asked += 1
        if self.asked == 2:
            raise TemporaryError("hiccup")
        return not self.lost and await super().lease(conversation, owner, now, seconds)


async def test_a_renewal_that_failed_is_tried_again_and_a_lost_lease_ends_the_work() -> None:
    store = FlakyLeases()
    made = Office(ListModel([]), store=store)
    asked = asyncio.Event()

    class PatientModel:
        async def ask(self, body: bytes, timeout: float) -> Answer:
            asked.set()
            await asyncio.sleep(60)
            raise AssertionError("nobody stopped it")

    made.worker = replace(made.worker, services=replace(made.worker.services, model=PatientModel()), lease=0.06)
    await made.accept("run1")
    hearing = asyncio.create_task(made.hear())
    await asked.wait()
    async with asyncio.timeout(5):
        while store.asked < 4:
            await asyncio.sleep(0.005)
    assert not hearing.done()
    assert made.queue.extended >= 1
    store.lost = True
    async with asyncio.timeout(5):
        await hearing
    assert made.posted == [AT_WORK]
    assert await made.status("run1") == "running"


async def test_a_call_in_doubt_parks_the_run_until_it_is_quiet_outside() -> None:
    """A paused predecessor may still be sending: 60 seconds, a second bell in between changes nothing."""
    made = office(says("unused"))

    async def look(call: Call, arguments: PostMessage) -> ToolResult | None:
        made.posted.append("looked")
        return ToolResult("Posted", "posted")

    post = made.worker.services.tools["slack_post_message"]
    tools = {**made.worker.services.tools, "slack_post_message": replace(post, effect="lookup", look=look, settle=5.0)}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1")
    journal, _ = await open_journal("run1", made.store, made.blobs, Pen("crashed", made.worker.services.outside))
    for entry in (await made.started(), RunConcluded("done", "", "Hello.")):
        journal.add(entry)
    journal.add(ToolCall("answer/1", "slack_post_message", "lookup"))
    await journal.commit()
    await made.hear()
    assert (await made.status("run1"), made.posted) == ("parked", [])
    made.clock.advance(30)
    await made.queue.ring("run1")
    await made.hear()
    assert (await made.status("run1"), made.posted) == ("parked", [])
    made.clock.advance(31)
    while await made.hear():
        pass
    assert (await made.status("run1"), made.posted) == ("done", ["looked"])


BUSY = TemporaryError("The provider is busy", retry_after=600)


async def parked(*later: Answer | Exception) -> Office:
    """A run that was put off for ten minutes because its model is not there."""
    made = office(BUSY, *later)
    await made.accept("run1")
    await made.hear()
    return made


async def test_a_run_whose_model_is_not_there_is_parked_and_answers_when_it_is_back() -> None:
    made = await parked(says("Hello."))
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.reason, head.wakes_at) == ("parked", "The provider is busy", int((NOON + 600) * 1000))
    assert made.posted == [WAITS]
    made.clock.advance(599)
    assert await made.hear() == 0
    made.clock.advance(1)
    assert await made.hear() == 1
    assert (made.posted, await made.status("run1")) == (["Hello."], "done")


async def test_a_parked_run_does_not_keep_its_conversation_from_others() -> None:
    made = await parked(says("second"), says("first"))
    await made.accept("run2", 2)
    await made.hear()
    assert made.posted == [WAITS, "second"]
    made.clock.advance(600)
    await made.hear()
    assert made.posted == ["first", "second"]


async def test_a_bell_that_comes_too_early_writes_nothing_and_asks_nobody() -> None:
    made = await parked(says("Hello."))
    frames = list(await made.store.frames("run1"))
    made.clock.advance(300)
    for _ in range(3):
        await made.queue.ring("run1")
        assert await made.hear() == 1
    assert list(await made.store.frames("run1")) == frames
    assert len(made.model.requests) == 1
    head = await made.store.head("run1")
    assert head is not None
    assert (head.status, head.wakes_at) == ("parked", int((NOON + 600) * 1000))
    made.clock.advance(300)
    while await made.hear():
        pass
    assert made.posted == ["Hello."]


async def test_somebody_who_has_something_to_say_wakes_a_parked_run() -> None:
    made = await parked(says("Hello."))
    await inbox.put(made.store, "run1", "a", MessageReceived("never mind the rest"))
    await made.queue.ring("run1")
    await made.hear()
    assert made.posted == ["Hello."]
    assert b"never mind the rest" in made.model.requests[-1]


async def test_a_run_that_is_parked_until_later_is_not_swept_before() -> None:
    made = await parked(says("Hello."))
    made.queue.lose()
    sweeper = Sweeper(made.store, made.queue, made.clock)
    made.clock.advance(599)
    assert await sweeper.sweep(180) == 0
    made.clock.advance(182)
    assert await sweeper.sweep(180) == 1
    await made.hear()
    assert made.posted == ["Hello."]


async def test_a_model_that_does_not_come_back_is_an_honest_answer() -> None:
    made = await parked(*[BUSY] * 9)
    for _ in range(3):
        made.clock.advance(600)
        await made.hear()
    assert made.posted == [
        "I could not finish this: the model's provider did not answer for 30 minutes: The provider is busy"
    ]
    assert await made.status("run1") == "failed"


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
    assert head.reason == "nobody can tell whether the answer was delivered"


async def test_a_run_keeps_the_prompt_it_started_with() -> None:
    made = office(says("unused"))
    await made.accept("run1")
    made.model.answers = [KeyError("the worker dies here")]
    await made.hear()
    changed = replace(CATALOG.workflows["answer-here"], system="Be verbose.")
    made.worker = replace(made.worker, catalog=Catalog({"answer-here": changed}, Defaults()))
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


async def test_a_workflow_without_a_reply_posts_nothing_unless_it_failed() -> None:
    loaded = replace(CATALOG.workflows["answer-here"], workflow=WORKFLOW.model_copy(update={"reply": "none"}))
    made = Office(ListModel([says("Hello.")]), catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert (made.posted, await made.status("run1")) == ([], "done")
    failing = Office(ListModel([RunStopped("no such model")]), catalog=made.catalog)
    await failing.accept("run1")
    await failing.hear()
    assert failing.posted == ["I could not finish this: no such model"]


CANARY = "the merger with Initech"


@pytest.mark.parametrize("trouble", [RunStopped(f"no {CANARY}"), KeyError(CANARY), Damaged(CANARY)])
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
    made.worker = replace(made.worker, services=services, catalog=Catalog({"answer-here": loaded}, Defaults()))
    await made.accept("run1")
    await made.hear()
    assert made.posted == ["Sent.\n\n_Please check what I did: nobody can tell whether mail took effect._"]
    assert await made.status("run1") == "needs_attention"


async def test_no_more_conversations_are_in_flight_than_allowed() -> None:
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
    worker = replace(made.worker, services=services, concurrency=2)
    for n in range(6):
        await claimed(made.store, f"run{n}")
        await made.store.create_head(Head(f"run{n}", "answer-here", f"conversation {n}", n))
        await made.queue.ring(f"run{n}")
    serving = asyncio.create_task(worker.serve())
    async with asyncio.timeout(5):
        while len(made.posted) < 6:
            await asyncio.sleep(0.005)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert max(in_flight) == 2


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
    async with asyncio.timeout(5):
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


class FullDisk(MemoryStore):
    """A store that cannot destroy keys."""

    async def destroy_key(self, run: str) -> None:
        raise TemporaryError("disk full")


async def test_a_private_run_that_cannot_be_deleted_now_has_ended_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """There is no workflow, so nobody found out that it is public; the next run of the conversation goes on."""
    made = Office(ListModel([]), store=FullDisk(), catalog=Catalog({}, Defaults()))
    await made.accept("run1", 1)
    await made.accept("run2", 2)
    while await made.hear():
        pass
    assert [await made.status(run) for run in ("run1", "run2")] == ["failed", "failed"]
    assert "what is left of run run1 is deleted with the next purge: disk full" in caplog.text
    head = await made.store.head("run1")
    assert head is not None
    assert head.retention == "deleting"


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
