"""Runs of one event in several workflows reach the same verdict, each from its own journal."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import Route, RunAccepted
from gofer.journal.lineage import run_id
from gofer.journal.log import Pen, claim
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import CATALOG, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of
from support.stand_ins import TOKENS, mention

pytestmark = pytest.mark.anyio
KEY = InstallationKey(Secret("0" * 64))
CHANNEL = "C0DEPLOY0"
EVERYWHERE: Mapping[str, object] = {"slack.mention": {"follow_ups": True}}
THERE: Mapping[str, object] = {"slack.mention": {"follow_ups": True, "channels": CHANNEL}}
FIRST = "1795262400.000100"


def two_workflows(*answers: str, who: Mapping[str, str] | None = None) -> MemoryWorker:
    """Return a worker with two workflows that follow up: `desk` in one channel, `wide` everywhere."""
    made = memory_worker(*map(says, answers))
    loaded = {}
    for name, trigger in (("desk", THERE), ("wide", EVERYWHERE)):
        keys = {"who": (who or {}).get(name, "members")}
        workflow = Workflow.model_validate({"description": "d", "owner": "#o", "when": [trigger], **keys})
        loaded[name] = replace(CATALOG.workflows["answer-here"], name=name, workflow=workflow)
    services = replace(made.worker.services, installation_key=KEY)
    made.worker = replace(
        made.worker, services=services, workflows=FixedCatalog(Catalog(loaded, Defaults())), alone=True
    )
    return made


def happened(ts: str, kind: str = "slack.message") -> Event:
    facts: dict[str, object] = {"bot": False, "channel_id": CHANNEL, "reply": ts != FIRST, "edited": False}
    conversation = f"slack:{CHANNEL}:{FIRST}"
    return replace(mention(ts=ts), kind=kind, conversation=conversation, private=False, facts=facts)


async def accepted(made: MemoryWorker, event: Event, workflow: str, at: int, routes: tuple[Route, ...] = ()) -> str:
    run = run_id(KEY, event, workflow)
    pen = Pen("ingress", made.worker.services.outside)
    await claim(run, RunAccepted(event, workflow, routes=routes), pen, made.store, made.blobs)
    await made.store.create_head(Head(run, workflow, TOKENS.conversation(event.conversation), at, private=False))
    return run


def matched(made: MemoryWorker, event: Event) -> tuple[Route, ...]:
    """Return the routes that the receiver records."""
    compiled = catalog_of(made.worker).routes()[event.kind]
    return tuple(Route(name, where) for name, where in compiled)


async def play(made: MemoryWorker, event: Event, order: tuple[str, ...]) -> Mapping[str, tuple[str, str]]:
    """Accept an event for both workflows and process all queue messages."""
    routes, now = matched(made, event), int(made.clock.now() * 1000)
    runs = {name: await accepted(made, event, name, now + at, routes) for at, name in enumerate(order)}
    for run in runs.values():
        await made.queue.enqueue(run)
    for _ in range(6):
        await made.work_once()
        made.clock.advance(130)
    found = {name: await made.store.head(run) for name, run in runs.items()}
    return {name: (head.status, head.reason) for name, head in found.items() if head}


ORDERS = [("desk", "wide"), ("wide", "desk")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("before", ["desk", "wide"])
async def test_reply_goes_to_the_workflow_that_answered_in_the_thread(before: str, order: tuple[str, ...]) -> None:
    made = two_workflows("First.", "Second.")
    # Only one of the workflows existed when the thread began.
    first = await accepted(made, happened(FIRST, "slack.mention"), before, 1)
    await made.queue.enqueue(first)
    await made.work_once()
    assert await made.status(first) == "done"
    made.clock.advance(60)
    found = await play(made, happened("1795262500.000200"), order)
    other = "desk" if before == "wide" else "wide"
    assert (found[before][0], found[other][0]) == ("done", "ignored")
    assert made.posted[-1].startswith("Second.")


@pytest.mark.parametrize("order", ORDERS)
async def test_more_specific_workflow_follows_up_where_both_answered_in_the_thread(order: tuple[str, ...]) -> None:
    made = two_workflows("First.", "Second.", "Third.")
    for number, name in enumerate(("wide", "desk"), start=1):
        run = await accepted(made, happened(FIRST, "slack.mention"), name, number)
        await made.queue.enqueue(run)
        await made.work_once()
    made.clock.advance(60)
    found = await play(made, happened("1795262500.000200"), order)
    assert (found["desk"][0], found["wide"][0]) == ("done", "ignored")
    assert "desk (`channels: C0DEPLOY0`) wins" in found["wide"][1]


@pytest.mark.parametrize("order", ORDERS)
async def test_concurrent_run_of_the_same_event_does_not_count_as_an_earlier_answer(order: tuple[str, ...]) -> None:
    made = two_workflows()
    found = await play(made, happened("1795262500.000200"), order)
    assert {status for status, _ in found.values()} == {"ignored"}
    assert all("follow_ups" in reason for _, reason in found.values())


@pytest.mark.parametrize("order", ORDERS)
async def test_winning_workflow_keeps_the_event_even_when_refusing_the_person(order: tuple[str, ...]) -> None:
    made = two_workflows(who={"desk": "guests"})
    found = await play(made, happened(FIRST, "slack.mention"), order)
    assert found["desk"] == ("ignored", "a member started it; the workflow is for guests")
    assert "wins" in found["wide"][1]
    assert made.posted == []


async def test_runs_accepted_without_routes_use_the_live_workflow() -> None:
    made = two_workflows("Answered.", "Answered.")
    event = happened(FIRST, "slack.mention")
    runs = [await accepted(made, event, name, at) for at, name in enumerate(("desk", "wide"), start=1)]
    for run in runs:
        await made.queue.enqueue(run)
    for _ in range(4):
        await made.work_once()
        made.clock.advance(130)
    assert [await made.status(run) for run in runs] == ["done", "done"]


def unreadable_at_first(made: MemoryWorker) -> None:
    """Let the reading of threads fail for the first 200 seconds, in which each run tries it."""
    reading = made.worker.services.tools["slack_read_thread"]
    assert isinstance(reading, Tool)
    back = made.clock.now() + 200

    async def away_at_first(call: Call, arguments: Arguments) -> ToolResult:
        if made.clock.now() < back:
            raise TemporaryError("Slack answered 503")
        return await reading.act(call, arguments)

    tools = {**made.worker.services.tools, reading.name: replace(reading, act=away_at_first)}
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("winner", ["desk", "wide"])
async def test_event_that_cannot_be_read_yet_leaves_only_the_answer_of_the_winner(
    winner: str, order: tuple[str, ...]
) -> None:
    """Until the event was read, `desk` speaks for both. Its message is deleted if it does not win."""
    made = two_workflows("First.", "Second.")
    unreadable_at_first(made)
    event = happened(FIRST, "slack.mention")
    if winner == "wide":
        # The receiver did not know the channel, and the thread turns out to be in another one.
        event = replace(event, facts={})
    found = await play(made, event, order)
    ended = {name: status for name, (status, _) in found.items()}
    assert ended == {"desk": "ignored", "wide": "ignored", winner: "done"}
    assert [text for text in made.posted if text] == ["First."]
    assert len(made.posted) == 1 + (winner == "wide"), "desk posted no sign"


@pytest.mark.parametrize("order", ORDERS)
async def test_workflow_that_will_turn_the_person_away_announces_no_unread_event(order: tuple[str, ...]) -> None:
    made = two_workflows("First.", "Second.", who={"desk": "externals"})
    unreadable_at_first(made)
    found = await play(made, happened(FIRST, "slack.mention"), order)
    assert (made.posted, {status for status, _ in found.values()}) == ([], {"ignored"})
    assert [text.split(",")[0] for text in made.ephemeral] == ["Sorry"]
