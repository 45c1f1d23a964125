"""The readers on one machine: the pages ask whether the channel of a public run became private."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2
import pytest
from starlette.applications import Starlette

from gofer.app.front import unreadable
from gofer.app.pages.readers import LocalReaders
from gofer.app.pages.run_pages import Pages
from gofer.sources.serving import Members
from gofer.sources.slack.page_requests import SlackWeb
from gofer.sources.slack.people import SlackPeople
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import TemporaryError
from gofer.values.secret import Secret
from support.app.page_browser import GENERAL, NO_WORKFLOWS, Browser, browser

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def local(made: Browser, members: Members | None) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a browser on the machine of Gofer, over the runs of a browser on AWS."""
    stores = Stores(made.store, MemoryBlobs(), MemoryQueue(made.clock))
    pages = Pages(stores, NO_WORKFLOWS, made.clock, LocalReaders(members))
    app = Starlette(routes=pages.routes(), exception_handlers={TemporaryError: unreadable})
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gofer") as client:
        yield client


def people(made: Browser) -> SlackPeople:
    return SlackPeople(SlackWeb("https://slack.test/api/", Secret("xoxb-simulated"), made.http))


async def test_local_page_of_a_run_is_hidden_for_good_after_its_channel_became_private() -> None:
    async with browser() as made, local(made, people(made)) as client:
        before = await client.get("/runs/run1")
        channels = made.slack.workspace.channels
        channels[GENERAL] = replace(channels[GENERAL], kind="group")
        after = [
            (await client.get(path)).status_code for path in ("/runs/run1", "/runs/run1/trace", "/runs/run1/prompt")
        ]
        listed = (await client.get("/runs")).text
    async with local(made, None) as client:
        without_slack = await client.get("/runs/run1")
    assert (before.status_code, after, without_slack.status_code) == (200, [404, 404, 404], 404)
    assert "run1" not in listed
    assert "same1" not in listed


async def test_local_page_is_not_shown_while_slack_cannot_say_whether_the_channel_is_public() -> None:
    async with browser() as made, local(made, people(made)) as client:
        made.http.away = True
        away = await client.get("/runs/run1")
        made.http.away = False
        back = await client.get("/runs/run1")
    assert (away.status_code, back.status_code) == (503, 200)
    assert "so it is not known whether the channel of this run is still public." in away.text
    assert "`gofer trace run1 --full` shows the run at a terminal." in away.text


async def test_local_page_of_a_run_of_another_source_asks_no_person() -> None:
    async with browser() as made, local(made, people(made)) as client:
        made.http.asked.clear()
        shown = await client.get("/runs/hub2")
    assert (shown.status_code, made.http.asked) == (200, [])
