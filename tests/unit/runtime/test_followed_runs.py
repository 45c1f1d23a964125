"""The runs that feedback and reviews start: each once, none for private runs, and none in a circle."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.entries import FeedbackGiven, FollowUp, Item, RunAccepted, RunReviewed
from gofer.journal.log import Pen, claim, read_journal
from gofer.projections.progress import project
from gofer.sources.runs.follow_ups import SubjectRun, event_of
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values.events import Event
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.models.served import served
from support.runtime.memory_worker import WORKFLOW, Crashed, MemoryWorker, memory_worker
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio

BAD = FeedbackGiven("bad", "U1", words="The project is missing.", origin="reaction", emoji="-1")
REVIEW = RunReviewed(effective=False, why="No project.", model="m")
SUBJECT = SubjectRun(run="run1", workflow="answer-here", owner="#o", channel="#o", link="", hops=0)


def loaded(name: str, when: object) -> Loaded:
    form = Workflow.model_validate({"description": "d", "owner": "#o", "when": [when]})
    return Loaded(name, form, "Be brief.", f"agents/{name}.md", served("m"))


CATALOG = Catalog(
    {
        "answer-here": Loaded("answer-here", WORKFLOW, "Be brief.", "agents/answer-here.md", served("m")),
        "tell": loaded("tell", {"runs.feedback": {"verdict": "bad"}}),
        "count": loaded("count", "runs.feedback"),
        "other": loaded("other", {"runs.feedback": {"workflows": ["file-*"]}}),
        "look": loaded("look", {"runs.review": {"effective": False}}),
    },
    Defaults(),
)


def fresh() -> MemoryWorker:
    return MemoryWorker(memory_worker(says("Hello.")).model, catalog=CATALOG)


async def ended() -> MemoryWorker:
    made = fresh()
    await made.accept("run1", private=False)
    await made.work_once()
    return made


async def ended_after(event: Event, *, feedback: Item | None = None) -> MemoryWorker:
    """Return a worker that ended the run of an event. The feedback arrives before the end."""
    made = fresh()
    pen = Pen("ingress", make_outside(made.clock))
    await claim("run1", RunAccepted(event, "answer-here"), pen, made.store, made.blobs)
    await made.store.create_head(Head("run1", "answer-here", event.conversation, 1, private=event.private is not False))
    if feedback is not None:
        await inbox.put(made.store, "run1", "feedback-1", feedback)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert await made.status("run1") == "done"
    return made


async def send(made: MemoryWorker, item: Item, item_id: str = "item") -> Sequence[Head]:
    """Send an item to the run as another process does, and return the runs that it started."""
    await inbox.put(made.store, "run1", item_id, item)
    await made.queue.enqueue("run1")
    await made.work_once()
    return await started(made)


async def started(made: MemoryWorker) -> Sequence[Head]:
    heads = await made.store.heads(100, private=True)
    return sorted((head for head in heads if head.run != "run1"), key=lambda head: head.workflow)


@pytest.mark.parametrize(
    ("item", "workflows"),
    [
        (BAD, ["count", "tell"]),
        (FeedbackGiven("good", "U1"), ["count"]),
        (FeedbackGiven("withdrawn", "U1"), []),
        (REVIEW, ["look"]),
        (RunReviewed(effective=True, model="m"), []),
        (RunReviewed(effective=None, why="The reviewer is away.", model="m"), []),
    ],
)
async def test_follow_up_starts_a_run_of_each_matching_workflow(item: Item, workflows: Sequence[str]) -> None:
    heads = await send(await ended(), item)
    assert [head.workflow for head in heads] == workflows
    assert not any(head.private for head in heads)


async def test_event_names_the_run_its_owner_and_the_words() -> None:
    made = await ended()
    (_, head) = await send(made, BAD)
    event = project(await read_journal(head.run, made.store, made.blobs)).event
    assert event is not None
    assert (event.text, event.hops, event.private) == ("The project is missing.", 1, False)
    link = made.worker.services.links.run_url("run1")
    place = {"run": "run1", "workflow": "answer-here", "owner": "#o", "channel": "#o", "link": link}
    assert event.place == place


async def test_second_delivery_of_an_item_starts_no_second_run() -> None:
    made = await ended()
    first = [head.run for head in await send(made, BAD)]
    assert [head.run for head in await send(made, BAD)] == first
    assert len(await send(made, BAD, "another item")) == 2 * len(first)


async def test_private_run_starts_no_run() -> None:
    made = await ended_after(replace(mention(), private=True), feedback=BAD)
    assert await started(made) == []


async def test_feedback_before_the_end_starts_the_runs() -> None:
    made = fresh()
    await made.accept("run1", private=False)
    await inbox.put(made.store, "run1", "feedback-1", BAD)
    await made.work_once()
    assert [head.workflow for head in await started(made)] == ["count", "tell"]


@pytest.mark.parametrize("place", ["create_head", "put_head", "drop_items", "retain"])
async def test_crash_while_runs_start_leads_to_one_run_of_each_workflow(place: str) -> None:
    made = await ended()
    await inbox.put(made.store, "run1", "item", BAD)
    await made.queue.enqueue("run1")
    kept = getattr(made.store, place)

    async def crash(*_: object, **__: object) -> None:
        raise Crashed

    setattr(made.store, place, crash)
    assert isinstance((await made.work_once_or_crash())[0], Crashed)
    setattr(made.store, place, kept)
    made.clock.advance(120)
    await made.work_once()
    assert [head.workflow for head in await started(made)] == ["count", "tell"]
    assert await made.store.items("run1") == []


async def test_feedback_on_a_run_that_feedback_started_starts_no_run() -> None:
    event = event_of(BAD, SUBJECT)
    assert event is not None
    made = await ended_after(event)
    assert await send(made, BAD) == []
    progress = project(await read_journal("run1", made.store, made.blobs))
    assert progress.follow_ups.count("bad") == 1


@given(st.booleans(), st.text(max_size=20), st.integers(0, 50))
def test_event_of_a_follow_up_is_always_further_from_people(good: bool, words: str, hops: int) -> None:
    entries: list[FollowUp] = [FeedbackGiven("bad", "U1", words=words), RunReviewed(good, why=words)]
    subject = SubjectRun(run="r", workflow="w", owner="", channel="", link="", hops=hops)
    for entry in entries:
        event = event_of(entry, subject)
        assert event is not None
        assert (event.source, event.hops, event.text) == ("runs", hops + 1, words)
