"""Registration with Notion: the verification token is taken in a short window and verifies deliveries from then on."""

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.app.embedded.server import serve
from gofer.values.outside import SystemClock
from gofer_simulators.notion.simulator import NotionSimulator
from support.app.serve_process import OperatorFolder, Running, free_port, operator_folder
from support.http import loopback
from support.vendors.notion import ADA, WORLD

pytestmark = pytest.mark.anyio
TOKEN = "secret_of_this_subscription"
FILE = Path(".gofer") / "notion-verification-token"


@asynccontextmanager
async def notion(folder: Path) -> AsyncIterator[tuple[OperatorFolder, NotionSimulator]]:
    """An operator's folder with one workflow that a simulated Notion triggers."""
    async with operator_folder(folder) as made, loopback.client() as http:
        (folder / "agents" / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [notion.commented]\n')
        (folder / "agents" / "w.md").write_text("Help.")
        simulator = NotionSimulator(copy.deepcopy(WORLD), clock=SystemClock().now, http=http, secret=TOKEN)
        async with serve(simulator.app) as url:
            made.write_env(
                SLACK_BOT_TOKEN="xoxb-simulated",
                SLACK_APP_TOKEN="xapp-simulated",
                NOTION_BASE_URL=url,
                NOTION_TOKEN="ntn_simulated",
            )
            yield made, simulator
            await simulator.close()


async def answered(simulator: NotionSimulator, running: Running) -> None:
    """Comment in Notion and wait until the run ended."""
    before = len(running.lines)
    simulator.people.comment("Cache", "Please look at it.", by=ADA)
    await simulator.settled()
    await running.says("a run ended", before)


async def test_notion_token_is_taken_in_the_registration_window_and_used_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    front = f"http://127.0.0.1:{port}/notion/webhook"
    async with notion(tmp_path) as (made, simulator):
        running = await made.start("serve", "--port", str(port), "--register-notion")
        await running.says("accepts one verification token within 10 minutes")
        assert await simulator.register(front) == 200
        await running.says("Notion sent a verification token; it is stored in .gofer/notion-verification-token")
        assert simulator.confirm((tmp_path / FILE).read_text())
        await answered(simulator, running)
        # A token of a stranger, offered after the window closed.
        async with loopback.client() as http:
            token = "secret_of_a_stranger"
            other = NotionSimulator(WORLD, clock=SystemClock().now, http=http, secret=token)
            assert await other.register(front) == 200
        assert await running.stop() == 0
        assert (tmp_path / FILE).read_text() == TOKEN
        again = await made.start("serve", "--port", str(port))
        await again.says("/runs")
        await answered(simulator, again)
        assert await again.stop() == 0
    said = "\n".join(running.lines + again.lines)
    assert TOKEN not in said
    assert "stranger" not in said
    assert "Traceback" not in said


async def test_serve_without_register_notion_takes_no_token(tmp_path: Path) -> None:
    port = free_port()
    async with notion(tmp_path) as (made, simulator):
        running = await made.start("serve", "--port", str(port))
        await running.says("/runs")
        assert await simulator.register(f"http://127.0.0.1:{port}/notion/webhook") == 404
        assert await running.stop() == 0
    assert not (tmp_path / FILE).exists()
