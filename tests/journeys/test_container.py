"""A company's container without Docker: the commands of its Dockerfile, as its user, on a tree without write access."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.server import serve
from support.app.image import Image, build
from support.app.installed import environment, wheel
from support.app.serve_process import SECRET, OperatorFolder, free_port, operator_folder
from support.http import loopback
from support.models.reviewing import is_review, review

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder that other users can enter, as those of pytest cannot."""
    made = Path(tempfile.mkdtemp(prefix="gofer-image-"))
    made.chmod(0o755)
    yield made
    for path in made.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def image(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return the image of a repository that `gofer init` wrote with the built wheel."""
    elsewhere = tmp_path_factory.mktemp("wheel")
    built = wheel(elsewhere / "dist")
    programs = environment(elsewhere / "venv", built)
    repository = elsewhere / "acme"
    os.spawnv(os.P_WAIT, str(programs / "gofer"), ["gofer", "init", str(repository)])
    (repository / ".env").write_text("OPENAI_API_KEY=never-in-the-image\n")
    return build(folder, repository, built, free_port())


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


def secrets(made: OperatorFolder, **values: str) -> dict[str, str]:
    return {"SLACK_API_URL": made.api, "OPENAI_BASE_URL": made.model, "SLACK_BOT_TOKEN": "xoxb-simulated", **values}


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
        written = await image.start(["sh", "-c", "touch /app/agents/new || touch /opt/gofer/new"])
        assert b"denied" in (await written.communicate())[1]
        image.stop(running)
        assert await running.ends() == 0
    assert "Hello" in answer.text
    assert image.tree() == before
    assert not list(image.root.rglob(".env"))
    assert (image.root / "data" / "gofer" / "gofer.db").exists()


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
