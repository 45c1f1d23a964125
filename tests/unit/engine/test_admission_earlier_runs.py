"""Earlier runs of a conversation: a run continues one only for a reply of a person."""

from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import Entry, MessageReceived, RunAccepted, RunFinished, RunOwned, RunStarted
from gofer.journal.log import Pen, claim, open_journal, read_journal
from gofer.journal.workspace_entries import FileAdded, PlanUpdated, Todo
from gofer.sources.triggers import KINDS
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values.events import Actor, Event
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import CATALOG, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog
from support.stand_ins import TOKENS

pytestmark = pytest.mark.anyio
REPLIES = {
    "slack.mention",
    "slack.message",
    "slack.direct",
    "jira.commented",
    "github.comment",
    "github.review",
    "notion.commented",
}
BY_HAND = "entered.by_hand"
"""A kind of event without a trigger."""


def happened(kind: str, number: str) -> Event:
    """Return an event that is complete, so that a run reads nothing more."""
    return Event("elsewhere", kind, (number,), "elsewhere:one", Actor("ada"), "Look at this.", {}, False)


async def accepted(made: MemoryWorker, run: str, event: Event, at: int) -> Pen:
    pen = Pen(run, made.worker.services.outside)
    await claim(run, RunAccepted(event, "answer-here"), pen, made.store, made.blobs)
    await made.store.create_head(Head(run, "answer-here", TOKENS.conversation(event.conversation), at, private=False))
    return pen


async def earlier_run(made: MemoryWorker, kind: str, *, private: bool = False) -> None:
    """Store an ended run with an unfinished plan and a file."""
    pen = await accepted(made, "run1", happened(kind, "1"), 1)
    journal, _ = await open_journal("run1", made.store, made.blobs, pen)
    left = FileAdded("text_1", "notes.txt", "text/plain", 3, "Slack", body="0" * 64)
    plan = PlanUpdated((Todo("1", "Write to all"),))
    for entry in [RunOwned(), RunStarted("b", private), left, plan, RunFinished("done")]:
        journal.add(entry)
    await journal.commit()
    head = await made.store.head("run1")
    assert head is not None
    await made.store.put_head(head.now("done", 2, frames=2))


def answering_nowhere() -> MemoryWorker:
    made = memory_worker(says("Done."))
    when = Workflow.model_validate({"description": "d", "owner": "#o", "when": ["slack.mention"], "reply": "none"})
    loaded = replace(CATALOG.workflows["answer-here"], workflow=when)
    made.worker = replace(made.worker, workflows=FixedCatalog(Catalog({"answer-here": loaded}, Defaults())))
    return made


async def following_run(made: MemoryWorker, kind: str) -> list[Entry]:
    """Let a run of the same conversation work, and return its entries."""
    await accepted(made, "run2", happened(kind, "2"), 3)
    await made.queue.enqueue("run2")
    await made.work_once()
    return [recorded.entry for recorded in await read_journal("run2", made.store, made.blobs)]


@pytest.mark.parametrize("kind", sorted(REPLIES))
async def test_public_run_inherits_no_text_file_or_plan_of_a_private_run(kind: str) -> None:
    made = answering_nowhere()
    await earlier_run(made, kind, private=True)
    entries = await following_run(made, kind)
    (started,) = [entry for entry in entries if isinstance(entry, RunStarted)]
    (first, *_) = [entry for entry in entries if isinstance(entry, MessageReceived)]
    assert started.continues == "run1"
    assert "run run1" not in first.text
    assert not [entry for entry in entries if isinstance(entry, FileAdded | PlanUpdated)]


@pytest.mark.parametrize("kind", [*KINDS, BY_HAND])
async def test_run_inherits_plan_and_files_of_an_earlier_run_only_for_a_reply_of_a_person(kind: str) -> None:
    made = answering_nowhere()
    await earlier_run(made, kind)
    entries = await following_run(made, kind)
    (started,) = [entry for entry in entries if isinstance(entry, RunStarted)]
    (first, *_) = [entry for entry in entries if isinstance(entry, MessageReceived)]
    inherited = [type(entry) for entry in entries if isinstance(entry, FileAdded | PlanUpdated)]
    assert started.continues == ("run1" if kind in REPLIES else "")
    assert inherited[:2] == ([FileAdded, PlanUpdated] if kind in REPLIES else [])
    assert ("run run1" in first.text) == (kind in REPLIES)
