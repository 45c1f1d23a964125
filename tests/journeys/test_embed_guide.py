"""The programs of docs/embed.md, each executed as written."""

import ast
import asyncio
import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType

import httpx2
import pytest

from gofer.app.embedded.server import serve
from gofer.embed import scripted
from gofer.values.model_script import load_scripts
from gofer_simulators.offline_model import offline_model
from support.app.company import ROOT
from support.guides.checkout import FENCE

pytestmark = pytest.mark.anyio

GUIDE = (ROOT / "docs" / "embed.md").read_text()
FILES = {name: text for _, name, text in FENCE.findall(GUIDE) if name}
SAID = "[offline model] Warsaw."
SCRIPT = "- {name: capital, steps: [{text: Warsaw.}]}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped workflows and skills, as the current folder."""
    for name in ("agents", "skills", "subagents", "coordinators"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "evals" / "payloads", tmp_path / "evals" / "payloads")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def code(name: str, text: str = "") -> CodeType:
    """Compile a program of the guide; it may await at its top level, as a notebook cell does."""
    return compile(text or FILES[name], name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def names_of(name: str) -> Mapping[str, object]:
    """Return the names that a program of the guide defines."""
    names: dict[str, object] = {"__name__": "guide"}
    exec(code(name), names)
    return names


async def test_first_program_of_the_embed_guide_prints_status_and_answer(folder: Path) -> None:
    async with serve(offline_model(load_scripts(SCRIPT, "test"))) as url:
        key = '"OPENAI_API_KEY": "sk-…"'
        assert key in FILES["first.py"]
        program = FILES["first.py"].replace(key, f'"OPENAI_BASE_URL": "{url}/v1"')
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
    assert done.stdout == f"done {SAID}\n"


async def test_notebook_cell_of_the_embed_guide_prints_answer_and_journal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(offline_model(load_scripts(SCRIPT, "test"))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        waiting = eval(code("notebook.py"), {})
        assert inspect.isawaitable(waiting)
        await waiting
    answer, first, *_ = capsys.readouterr().out.splitlines()
    assert (answer, '"run.accepted"' in first) == (SAID, True)


async def test_test_file_of_the_embed_guide_passes(tmp_path: Path) -> None:
    for name in ("test_on_call.py", "agents/who-is-on-call.yaml", "agents/who-is-on-call.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(FILES[name])
    command = [sys.executable, "-m", "pytest", "-q", "-k", "asyncio", "test_on_call.py"]
    done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_eval_of_the_embed_guide_returns_one_answer_per_run(folder: Path) -> None:
    for name in ("src/gofer_simulators/worlds/demo.yaml", "tests/events/slack_app_mention.json"):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    answers = names_of("eval.py")["answers"]
    assert callable(answers)
    assert await answers(scripted("It does not block."), 3) == ["It does not block."] * 3


async def test_service_of_the_embed_guide_answers_and_stores_the_run(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    make = names_of("service.py")["service"]
    assert callable(make)
    async with serve(offline_model(load_scripts(SCRIPT, "test"))) as url:
        app = make(folder, state, {"OPENAI_BASE_URL": f"{url}/v1"})
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://service") as client,
        ):
            asked = {"question": "What is the capital of Poland?", "person": "Ada"}
            said = json.loads((await client.post("/questions", json=asked)).content)
    assert (said["status"], said["answer"], said["reason"]) == ("done", SAID, "")
    assert (state / "gofer.db").exists()
