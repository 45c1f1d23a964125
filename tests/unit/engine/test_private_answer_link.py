"""The link to the page of a private run: who sees it, when, and that failures do not affect the run."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.journal.purposes import PRIVATE_LINK
from gofer.sources.slack.read_thread import ReadThread
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.events import Event
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio


@dataclass
class PrivateWorker:
    """A worker with a private thread, and the messages shown only to the requester."""

    memory_worker: MemoryWorker
    shown: list[str]

    async def play(self, event: Event | None = None) -> str:
        """Return the status of one run of an event."""
        await self.accept(event or mention())
        while await self.memory_worker.work_once():
            pass
        return await self.memory_worker.status("run1")

    async def accept(self, event: Event) -> None:
        made = self.memory_worker
        pen = Pen("ingress", make_outside())
        await claim("run1", RunAccepted(event, "answer-here"), pen, made.store, made.blobs)
        await made.store.create_head(Head("run1", "answer-here", event.conversation, 1))
        await made.queue.enqueue("run1")


def private_worker(*, private: bool = True, signs_in: bool = True, error: BaseException | None = None) -> PrivateWorker:
    """Return a worker whose pages have sign-in. Showing a message to one person raises `error`."""
    made = memory_worker(says("Here you are."), says("Once more."))
    shown: list[str] = []

    async def read(call: Call, arguments: ReadThread) -> ToolResult:
        return ToolResult("Thread", "read", {"private": private})

    async def show(call: Call, arguments: Any) -> ToolResult:
        shown.append(f"{call.key} {arguments.text}")
        if error is not None:
            raise error
        return ToolResult("Shown", "shown")

    services = made.worker.services
    tools = dict(services.tools)
    tools["slack_read_thread"] = replace(tools["slack_read_thread"], act=read)
    tools["slack_post_ephemeral"] = replace(tools["slack_post_ephemeral"], act=show)
    links = replace(services.links, base_url="https://gofer.test", signs_in=signs_in)
    made.worker = replace(made.worker, services=replace(services, tools=tools, links=links))
    return PrivateWorker(made, shown)


def rewritten(made: MemoryWorker, **fields: object) -> None:
    """Give the workflow of a worker other fields."""
    loaded = catalog_of(made.worker).workflows["answer-here"]
    form = {"description": "x", "owner": "#o", "when": ["slack.mention"], **fields}
    catalog = Catalog({"answer-here": replace(loaded, workflow=Workflow.model_validate(form))}, Defaults())
    made.worker = replace(made.worker, workflows=FixedCatalog(catalog))


async def test_requester_of_a_private_run_is_shown_the_page_link() -> None:
    made = private_worker()
    assert await made.play() == "done"
    (link,) = made.shown
    assert link.startswith(f"run1/{PRIVATE_LINK} ")
    assert "(https://gofer.test/runs/run1)" in link
    assert made.memory_worker.posted == ["Here you are."]


async def test_page_link_is_not_shown_for_public_runs_or_pages_without_sign_in() -> None:
    for made in (private_worker(private=False), private_worker(signs_in=False)):
        assert (await made.play(), made.shown) == ("done", [])


async def test_page_link_is_not_shown_to_a_guest() -> None:
    made = private_worker()
    made.memory_worker.kind = "guest"
    await made.play()
    assert not any(PRIVATE_LINK in text for text in made.shown)


async def test_page_link_is_not_shown_for_a_message_without_a_request() -> None:
    made = private_worker()
    rewritten(made.memory_worker, when=[{"slack.message": {"channels": "any"}}])
    event = replace(mention(), kind="slack.message", facts={"reply": False, "channel_id": "C0DEPLOY0"})
    assert (await made.play(event), made.shown) == ("done", [])


async def test_page_link_is_not_shown_for_a_workflow_without_reply() -> None:
    made = private_worker()
    rewritten(made.memory_worker, reply="none")
    assert (await made.play(), made.shown, made.memory_worker.posted) == ("done", [], [])


@pytest.mark.parametrize(
    "error", [ToolError("no", code="user_not_in_channel"), ToolError("busy", retry_after=900), TemporaryError("away")]
)
async def test_failed_page_link_is_attempted_once_and_does_not_affect_the_answer(error: Exception) -> None:
    made = private_worker(error=error)
    assert await made.play() == "done"
    assert (made.memory_worker.posted, len(made.shown)) == (["Here you are."], 1)


async def test_page_link_in_doubt_after_a_crash_is_not_shown_again() -> None:
    made = private_worker(error=Crashed())
    await made.accept(mention())
    await made.memory_worker.work_once_or_crash()
    made.memory_worker.clock.advance(3_600)
    await made.memory_worker.queue.enqueue("run1")
    while await made.memory_worker.work_once():
        pass
    assert (await made.memory_worker.status("run1"), len(made.shown)) == ("done", 1)
    assert made.memory_worker.posted == ["Here you are."]
