"""The review of changed files: the diff of a repository, the rules, and one request to the role `judge`."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from gofer.app.embedded.server import serve
from gofer.app.evals.changed_prompts import review_changes
from gofer.app.settings import read_settings

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("agents", "subagents", "skills", "coordinators"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    defaults = tmp_path / "agents" / "defaults.yaml"
    text = defaults.read_text()
    if "\n  judge:" not in text:
        defaults.write_text(text.replace("\nmodels:", "\nmodels:\n  judge: gpt-5.4  #", 1))
    (tmp_path / "AGENTS.md").write_text("Name the actor.\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Begin")
    prompt = tmp_path / "agents" / "answer-here.md"
    prompt.write_text(f"Be nice.\n{prompt.read_text()}")
    (tmp_path / "agents" / "link.md").symlink_to("/etc/hostname")
    return tmp_path


async def test_review_without_a_model_asks_for_one(repository: Path) -> None:
    found = await review_changes(repository, "main", read_settings({}))
    assert "it needs a model" in found.problem


async def test_changed_prompt_is_sent_with_the_rules_to_the_judge(repository: Path) -> None:
    requests: list[dict[str, object]] = []
    remark = {"file": "agents/answer-here.md", "line": 1, "rule": "name the actor", "suggestion": "Say to whom."}

    async def answer(request: Request) -> JSONResponse:
        requests.append(await request.json())
        message = {"role": "assistant", "content": json.dumps([remark])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        fields = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        return JSONResponse({**fields, "choices": [choice], "usage": usage})

    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    async with serve(app) as url:
        settings = read_settings({"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": f"{url}/v1"})
        found = await review_changes(repository, "main", settings)
    assert found.problem == ""
    assert [(one.file, one.line) for one in found.remarks] == [("agents/answer-here.md", 1)]
    (request,) = requests
    sent = json.loads(request["messages"][1]["content"])  # type: ignore[index]
    assert sent["rules"] == "Name the actor.\n"
    assert [(file["path"], file["changed"]) for file in sent["files"]] == [("agents/answer-here.md", [1])]


async def test_refusal_of_an_endpoint_is_shown_with_its_status_and_words(repository: Path) -> None:
    async def refuse(request: Request) -> JSONResponse:
        return JSONResponse({"error": {"message": "The budget of this team is spent."}}, 402)

    app = Starlette(routes=[Route("/v1/chat/completions", refuse, methods=["POST"])])
    async with serve(app) as url:
        settings = read_settings({"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": f"{url}/v1"})
        found = await review_changes(repository, "main", settings)
    assert "HTTP 402" in found.said
    assert found.said.endswith("The provider says: The budget of this team is spent.")
    assert found.exit_code == 4
