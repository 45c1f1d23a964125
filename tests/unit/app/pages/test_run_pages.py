from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2
import pytest
from starlette.applications import Starlette

from gofer.app.catalog import known_tools
from gofer.app.pages.run_pages import Pages
from gofer.journal.coordination import Head
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.tools.definition import AnyTool
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from gofer.workflows.script_source import Script
from support.models.served import served
from support.stand_ins import SetClock, claimed, memory_stores

pytestmark = pytest.mark.anyio

SCRIPT = "<script>alert(1)</script>"


@asynccontextmanager
async def browser(
    tools: Mapping[str, AnyTool] | None = None, worst_cases: Mapping[str, str] | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    store, blobs = memory_stores()
    await claimed(store, "run1")
    await store.create_head(Head("run1", SCRIPT, "c", 1, private=False, reason=SCRIPT))
    parked = Head(
        "run2", "w", "d", 2, "parked", private=False, reason="The model could not be reached.", wakes_at=9_000
    )
    await store.create_head(parked)
    workflow = Workflow(description=SCRIPT, owner="#o", when=("slack.mention",))
    script = Script("coordinators/s.py", {"s": SCRIPT})
    loaded = Loaded("w", workflow, SCRIPT, "agents/w.md", served("m"))
    scripted = replace(loaded, name="s", system="", prompt_file=script.file)
    catalog = Catalog(
        {"w": loaded, "s": scripted}, Defaults(), scripts={script.file: script}, worst_cases=worst_cases or {}
    )
    stores = Stores(store, blobs, MemoryQueue(SetClock()))
    app = Starlette(routes=Pages(stores, catalog, SetClock(), tools=known_tools() if tools is None else tools).routes())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gofer") as client:
        yield client


@pytest.mark.parametrize("path", ["/runs", "/prompts/w", "/prompts/s"])
async def test_page_shows_text_of_people_and_models_escaped(path: str) -> None:
    async with browser() as client:
        page = await client.get(path)
    assert page.status_code == 200
    assert SCRIPT not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text.replace("<pre>", "")


async def test_page_of_a_prompt_says_the_worst_that_its_workflow_could_do() -> None:
    async with browser() as client:
        page = await client.get("/prompts/w")
    assert "At worst, a text that it reads makes its answer false." in page.text


async def test_page_of_a_prompt_without_tools_shows_the_published_worst_case() -> None:
    async with browser({}, {"w": "It posts <anywhere>.", "s": "Another."}) as client:
        page = await client.get("/prompts/w")
    assert "<p>It posts &lt;anywhere&gt;.<p>" in page.text


async def test_list_of_runs_shows_until_when_a_run_waits() -> None:
    async with browser() as client:
        page = await client.get("/runs")
    assert "<td>until 1970-01-01T00:00:09.000Z: The model could not be reached." in page.text


@pytest.mark.parametrize("path", ["/runs/run1", "/runs/nobody", "/prompts/nobody"])
async def test_private_and_absent_pages_look_the_same(path: str) -> None:
    async with browser() as client:
        page = await client.get(path)
    assert (page.status_code, page.text) == (404, "This page does not exist, or you may not see it.\n")


@pytest.mark.parametrize("path", ["/runs/run1", "/runs/run1/trace", "/runs/nobody", "/runs/nobody/trace"])
async def test_private_and_absent_runs_are_the_same_json_for_programs(path: str) -> None:
    async with browser() as client:
        answer = await client.get(path, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()) == (404, {"error": "This page does not exist, or you may not see it."})
