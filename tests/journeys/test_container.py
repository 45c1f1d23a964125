"""A company's container without Docker: the commands of its Dockerfile, as its user, on a tree without write access."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from support.app.company import ROOT
from support.app.composed import Composed
from support.app.image import Image, company_image, secrets
from support.app.serve_process import SECRET, OperatorFolder, operator_folder
from support.guides.checkout import shell_blocks
from support.http import loopback
from support.models.reviewing import is_review, review

pytestmark = pytest.mark.anyio
GUIDE = (ROOT / "docs" / "one-machine.md").read_text()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    with company_image(tmp_path_factory.mktemp("elsewhere")) as made:
        yield made


@asynccontextmanager
async def operated(image: Image, tmp_path: Path) -> AsyncIterator[OperatorFolder]:
    """Yield a simulated Slack and model for the image, with an empty volume."""
    for path in image.root.glob("data/*"):
        shutil.rmtree(path)
    async with operator_folder(tmp_path) as made:
        try:
            yield made
        finally:
            await image.end()


async def test_mention_is_answered_by_an_unprivileged_user_on_a_read_only_tree(image: Image, tmp_path: Path) -> None:
    before = image.tree()
    async with operated(image, tmp_path) as made, loopback.client() as http:
        assert await image.check_health() == 1
        running = await image.serve(**secrets(made, SLACK_SIGNING_SECRET=SECRET))
        await running.says("/runs")
        base = f"http://127.0.0.1:{image.port}"
        assert (await http.get(f"{base}/healthz")).text == "ok\n"
        ready = await http.get(f"{base}/readyz")
        assert (ready.status_code, ready.json()["problems"]) == (200, [])
        assert await image.check_health() == 0
        made.slack.subscribe(f"{base}/slack/events")
        answer = await made.answer(await made.ask("@Gofer hello"))
        for command in (["runs"], ["backup", "/data/backups/first"]):
            done = await image.start(["gofer", *command], GOFER_BACKUP_PASSPHRASE="long enough for a test")
            said = await done.communicate()
            assert done.returncode == 0, said
        written = await image.start(["sh", "-c", "touch /app/agents/new || touch /opt/gofer/new"])
        assert b"denied" in (await written.communicate())[1]
        image.stop(running)
        assert await running.ends() == 0
    assert "Hello" in answer.text
    assert image.tree() == before
    assert not list(image.root.rglob(".env"))
    assert (image.root / "data" / "gofer" / "gofer.db").exists()


@pytest.mark.rehearsal(
    "tests/journeys/test_container.py::test_mention_is_answered_by_an_unprivileged_user_on_a_read_only_tree",
    "tests/survival/test_killed.py::test_run_killed_at_every_journal_boundary_ends_with_exactly_one_answer",
)
async def test_run_under_way_at_a_stop_is_answered_by_the_next_container(image: Image, tmp_path: Path) -> None:
    asked_model, go_on = asyncio.Event(), asyncio.Event()

    async def answer(request: Request) -> Response:
        if is_review(await request.body()):
            return review()
        asked_model.set()
        await go_on.wait()
        message = {"role": "assistant", "content": "Said at last."}
        return JSONResponse({"model": "m", "choices": [{"message": message}], "usage": {}})

    model = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with operated(image, tmp_path) as made, serve(model) as url, loopback.client() as http:
        given = secrets(made, SLACK_APP_TOKEN="xapp-simulated", OPENAI_BASE_URL=f"{url}/v1")
        running = await image.serve(**given)
        await running.says("/runs")
        asked = await made.ask("@Gofer hello")
        await asyncio.wait_for(asked_model.wait(), 60)
        image.stop(running)
        await running.says("Stopping")
        unready = await http.get(f"http://127.0.0.1:{image.port}/readyz")
        go_on.set()
        assert await running.ends() == 0
        assert made.answers(asked)[0].edited_ts is None
        again = await image.serve(**given)
        await made.answer(asked)
        image.stop(again)
        assert await again.ends() == 0
        (said,) = made.answers(asked)
    assert said.text == "Said at last."
    assert unready.status_code == 503
    assert unready.json()["problems"] == ["Gofer is stopping, and hands running runs over to its next start."]


@pytest.mark.rehearsal(
    "tests/architecture/test_container.py::test_compose_file_fits_the_schema_of_compose",
    "tests/journeys/test_container.py::test_mention_is_answered_by_an_unprivileged_user_on_a_read_only_tree",
)
async def test_guide_of_compose_serves_backs_up_restores_and_replaces_the_key(image: Image, tmp_path: Path) -> None:
    (begin,) = shell_blocks(GUIDE, "Docker Compose")
    back_up, restore = shell_blocks(GUIDE, "Backups")
    (replace_key,) = shell_blocks(GUIDE, "Replace the installation key")
    async with operated(image, tmp_path) as made:
        given = secrets(made, SLACK_APP_TOKEN="xapp-simulated", GOFER_BACKUP_PASSPHRASE="long enough for a test")
        composed = Composed(image, tmp_path, given)
        await composed.type(begin)
        answer = await made.answer(await made.ask("@Gofer hello"))
        assert "answer-here" in await composed.type("docker compose exec gofer gofer runs\n")
        await composed.type(back_up)
        (backup,) = (tmp_path / "backups").iterdir()
        composed.secrets["GOFER_DATA"] = "/data/restored"
        await composed.type(restore.replace("2026-11-24", backup.name))
        assert "answer-here" in await composed.type("docker compose exec gofer gofer runs\n")
        old = (image.root / "data" / "restored" / "installation.key").read_text().strip()
        await composed.type(replace_key)
        new = (image.root / "data" / "restored" / "installation.key").read_text().strip()
        again = await made.answer(await made.ask("@Gofer hello again"))
        await composed.type("docker compose stop\n")
    assert "Hello" in answer.text
    assert "Hello" in again.text
    assert (new.split(",")[1], len(new.split(",")[0])) == (old, 64)
