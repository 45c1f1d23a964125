"""A webhook body too long for any window: stored whole before the 2xx, a file of the run afterwards."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.app.front import front
from gofer.app.pages.run_pages import Pages
from gofer.journal.entries import RunAccepted
from gofer.journal.log import read_journal
from gofer.projections import workspace
from gofer.sources.webhook.hook import Bearer, Hook, Pointer
from gofer.sources.webhook.receiver import webhook_receivers
from gofer.values.outside import SystemClock
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.app.company import Company, company
from support.http import loopback

pytestmark = pytest.mark.anyio
BODY = json.dumps({"id": "7", "orders": [{"number": n, "total": n * 1.25} for n in range(15_000)]}).encode()


async def call(made: Company, body: bytes) -> int:
    hook = Hook("orders", Bearer(), [Secret("s3cret")], Pointer("/id"))
    receivers, routes = webhook_receivers([hook]), read_routes({"webhook": [("answer-here", {})]})
    app = front(
        replace(made.embedded.ingress, receivers=receivers, routes=routes),
        Pages(made.embedded.state.stores, made.embedded.catalog, SystemClock()),
    )
    async with serve(app) as url, loopback.client() as client:
        headers = {"authorization": "Bearer s3cret", "content-type": "application/json"}
        return (await client.post(f"{url}/hooks/orders", content=body, headers=headers)).status_code


async def test_large_webhook_body_is_stored_whole_and_becomes_a_file_of_the_run(tmp_path: Path) -> None:
    assert 400_000 < len(BODY) < 1_000_000
    async with company(tmp_path) as made:
        assert await call(made, BODY) == 200
        state = made.embedded.state
        async with asyncio.timeout(60):
            while not (heads := [head for head in await state.store.heads(10) if head.ended]):
                await asyncio.sleep(0.05)
        journal = await read_journal(heads[0].run, state.store, state.blobs)
    accepted = journal[0].entry
    assert isinstance(accepted, RunAccepted)
    assert accepted.event.text == BODY.decode()
    (held,) = workspace.project(journal).files.values()
    assert (held.added.media_type, held.added.size) == ("application/json", len(BODY))
    # The model sees the number of orders instead of all 15,000.
    assert "15,000 in all" in next(text for text in map(shown, journal) if held.added.file in text)


async def test_repeated_large_webhook_body_is_one_run_and_a_changed_body_is_refused(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        assert [await call(made, BODY), await call(made, BODY)] == [200, 200]
        assert len(await made.embedded.state.store.heads(10)) == 1
        assert await call(made, BODY.replace(b"1.25", b"1.26")) == 409


def shown(recorded: object) -> str:
    return str(getattr(getattr(recorded, "entry", None), "text", ""))
