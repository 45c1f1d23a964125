"""The link to the page of a private run: who is shown it, when, and that nothing follows from it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from engine_room import says
from gofer.engine.private_link import LINK
from gofer.errors import TemporaryError, ToolError
from gofer.events import Event
from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted
from gofer.journal.log import Pen, claim
from gofer.tools.slack.aside import PostEphemeral
from gofer.tools.slack.read_thread import ReadThread
from gofer.tools.tool import Call, ToolResult
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults, Workflow
from office import Lost, Office, office
from stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio

Show = Callable[[Call, PostEphemeral], Awaitable[ToolResult]]


def private_office(*, private: bool = True, signs_in: bool = True, show: Show | None = None) -> Office:
    """An office whose thread is private, and whose pages know who looks."""
    made = office(says("Here you are."), says("Once more."))

    async def read(call: Call, arguments: ReadThread) -> ToolResult:
        return ToolResult("Thread", "read", {"private": private})

    services = made.worker.services
    tools = dict(services.tools)
    tools["slack_read_thread"] = replace(tools["slack_read_thread"], act=read)
    if show is not None:
        tools["slack_post_ephemeral"] = replace(tools["slack_post_ephemeral"], act=show)
    links = replace(services.links, base_url="https://gofer.test", signs_in=signs_in)
    made.worker = replace(made.worker, services=replace(services, tools=tools, links=links))
    return made


async def played(made: Office, event: Event | None = None) -> str:
    """The status of one run of an event."""
    event = event or mention()
    pen = Pen("ingress", make_outside())
    await claim("run1", RunAccepted(event, "answer-here"), pen, made.store, made.blobs)
    await made.store.create_head(Head("run1", "answer-here", event.conversation, 1))
    await made.queue.ring("run1")
    while await made.hear():
        pass
    return await made.status("run1")


async def test_the_asker_of_a_private_run_is_shown_its_page_after_the_first_notice() -> None:
    made = private_office()
    assert await played(made) == "done"
    assert len(made.aside) == 1
    assert "(https://gofer.test/runs/run1)" in made.aside[0]
    assert made.posted == ["Here you are."]


async def test_a_public_run_and_pages_without_readers_show_no_link() -> None:
    for made in (private_office(private=False), private_office(signs_in=False)):
        assert await played(made) == "done"
        assert made.aside == []


async def test_a_guest_who_could_not_sign_in_is_shown_no_link() -> None:
    made = private_office()
    made.kind = "guest"
    await played(made)
    assert not any("gofer.test" in text for text in made.aside)


def rewritten(made: Office, **fields: object) -> None:
    """Give the workflow of an office other fields."""
    loaded = made.worker.catalog.workflows["answer-here"]
    form = {"description": "x", "owner": "#o", "when": ["slack.mention"], **fields}
    catalog = Catalog({"answer-here": replace(loaded, workflow=Workflow.model_validate(form))}, Defaults())
    made.worker = replace(made.worker, catalog=catalog)


async def test_a_person_who_did_not_ask_is_shown_no_link() -> None:
    made = private_office()
    rewritten(made, when=[{"slack.message": {"channels": "any"}}])
    event = replace(mention(), kind="slack.message", facts={"reply": False, "channel_id": "C0DEPLOY0"})
    assert (await played(made, event), made.aside) == ("done", [])


async def test_a_workflow_that_writes_nothing_where_it_began_shows_no_link() -> None:
    made = private_office()
    rewritten(made, reply="none")
    assert (await played(made), made.aside, made.posted) == ("done", [], [])


@pytest.mark.parametrize(
    "error", [ToolError("no", code="user_not_in_channel"), ToolError("busy", retry_after=900), TemporaryError("away")]
)
async def test_a_link_that_cannot_be_shown_is_attempted_once_and_harms_nothing(error: Exception) -> None:
    attempts: list[str] = []

    async def show(call: Call, arguments: PostEphemeral) -> ToolResult:
        attempts.append(call.key)
        raise error

    made = private_office(show=show)
    assert await played(made) == "done"
    assert (made.posted, attempts) == (["Here you are."], [f"run1/{LINK}"])


async def test_a_link_that_may_have_been_shown_when_its_worker_was_lost_is_not_shown_again() -> None:
    shown: list[str] = []

    async def show(call: Call, arguments: PostEphemeral) -> ToolResult:
        shown.append(arguments.text)
        raise Lost

    made = private_office(show=show)
    event = mention()
    await claim("run1", RunAccepted(event, "answer-here"), Pen("ingress", make_outside()), made.store, made.blobs)
    await made.store.create_head(Head("run1", "answer-here", event.conversation, 1))
    await made.queue.ring("run1")
    await made.hear_lost()
    made.clock.advance(3_600)
    await made.queue.ring("run1")
    while await made.hear():
        pass
    assert (await made.status("run1"), len(shown), made.posted) == ("done", 1, ["Here you are."])
