import asyncio
import logging
from dataclasses import replace

import httpx2
import pytest
from starlette.applications import Starlette

from gofer.app.embedded.readiness import PATH, TRUSTED, Readiness
from gofer.journal.coordination import Head
from gofer.runtime.backlog import BacklogWatch
from gofer.sources.workflow_files import load_catalog
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import TemporaryError
from gofer.values.supervisor import Supervisor
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.app.company import ROOT
from support.stand_ins import NOON, SetClock

pytestmark = pytest.mark.anyio
FILE = "/var/secret-place/gofer.db"


class Disk(MemoryStore):
    """A store that counts writes, and refuses or delays them on request."""

    full = False
    stuck = False
    writes = 0

    async def put_memo(self, key: str, value: str, at: int) -> None:
        self.writes += 1
        if self.stuck:
            await asyncio.Event().wait()
        if self.full:
            raise TemporaryError(f"{FILE}: the disk is full")
        await super().put_memo(key, value, at)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(ROOT / "agents")


def serving(store: Disk, clock: SetClock) -> Readiness:
    return Readiness(store, clock, Supervisor(clock), BacklogWatch(store, clock), "serving")


async def ask(ready: Readiness, catalog: Catalog, notice: str = "") -> httpx2.Response:
    app = Starlette(routes=[ready.route(catalog, notice)])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://gofer") as client:
        return await client.get(PATH)


async def test_serving_process_with_a_writable_store_and_workflows_is_ready(catalog: Catalog) -> None:
    answer = await ask(serving(Disk(), SetClock()), catalog)
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "problems": [],
        "settings": "The settings were read.",
        "store": "The store can be written.",
        "parts": "Every part works.",
        "backlog": "No run waits.",
        "tools": "The tools can be used.",
        "workflows": f"{len(catalog.workflows)} workflows are loaded.",
    }


async def test_process_with_a_backlog_is_ready_and_counts_the_waiting_runs(catalog: Catalog) -> None:
    store = Disk()
    for number in range(3):
        await store.create_head(Head(f"run{number}", "secret-project", "c", int(NOON * 1000) + number))
    answer = await ask(serving(store, SetClock()), catalog)
    assert answer.status_code == 200
    assert answer.json()["backlog"] == "3 runs wait for a free worker, the oldest since 12:00 UTC."
    assert "secret-project" not in answer.text


async def test_process_with_unusable_tools_is_ready_and_counts_these_tools(catalog: Catalog) -> None:
    answer = await ask(replace(serving(Disk(), SetClock()), unusable_tools=2), catalog)
    assert answer.status_code == 200
    assert answer.json()["tools"].startswith("2 tools cannot be used, and no run that needs them begins.")


async def test_process_is_not_ready_before_and_after_its_service(catalog: Catalog) -> None:
    ready = Readiness(Disk(), SetClock(), Supervisor(SetClock()), BacklogWatch(Disk(), SetClock()))
    starting = await ask(ready, catalog)
    task = asyncio.create_task(ready.serve())
    await asyncio.sleep(0)
    between = await ask(ready, catalog)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    stopping = await ask(ready, catalog)
    assert (starting.status_code, between.status_code, stopping.status_code) == (503, 200, 503)
    assert starting.json()["problems"] == ["Gofer is starting, and does not work on runs yet."]
    assert stopping.json()["problems"] == ["Gofer is stopping, and hands running runs over to its next start."]


async def test_refused_write_is_told_to_the_log_and_not_to_strangers(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    store = Disk()
    store.full = True
    with caplog.at_level(logging.ERROR):
        answer = await ask(serving(store, SetClock()), catalog)
    assert answer.status_code == 503
    assert answer.json()["problems"] == ["The store cannot be written. The reason is in Gofer's log."]
    assert FILE not in answer.text
    assert FILE in caplog.text


async def test_write_without_an_end_is_a_problem(catalog: Catalog) -> None:
    store = Disk()
    store.stuck = True
    answer = await ask(replace(serving(store, SetClock()), patience=0.01), catalog)
    assert answer.json()["problems"] == ["The store did not finish a write within 0.01 seconds."]


async def test_many_probes_write_once_until_the_result_is_old(catalog: Catalog) -> None:
    store, clock = Disk(), SetClock()
    ready = serving(store, clock)
    await asyncio.gather(*(ask(ready, catalog) for _ in range(20)))
    assert store.writes == 1
    clock.advance(TRUSTED)
    store.full = True
    assert (await ask(ready, catalog)).status_code == 503
    assert store.writes == 2


async def test_no_workflow_is_a_problem_and_a_mistake_in_newer_files_is_none(catalog: Catalog) -> None:
    none = await ask(serving(Disk(), SetClock()), Catalog({}, Defaults()))
    assert none.json()["problems"] == ["No workflow is loaded."]
    edited = await ask(serving(Disk(), SetClock()), catalog, "agents/secret.yaml has a mistake")
    assert edited.status_code == 200
    assert "runs use the previous ones" in edited.json()["workflows"]
    assert "secret" not in edited.text
