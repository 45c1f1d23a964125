"""A company's own tool in a run: it calls its service on real systems and its mock in a simulated world."""

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gofer.app.embedded.run_once import Outcome, run_once
from gofer.app.embedded.server import serve
from gofer.cli.main import main
from gofer.values.events import Actor, Event
from gofer.values.model_script import Script, load_scripts
from support.app.company import ROOT, company, settings
from support.guides.checkout import FENCE
from support.models.deciding_provider import Said, Sent, deciding

pytestmark = pytest.mark.anyio
GUIDE = {name: text for _, name, text in FENCE.findall((ROOT / "docs" / "write-a-tool.md").read_text())}
PAGE = {"team": "payments", "text": "Checkout answers 500 since 14:05."}


@dataclass
class Oncall:
    pages: list[dict[str, str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def page(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer simulated"
        # Only models learn which trace a request belongs to.
        assert "traceparent" not in request.headers
        self.keys.append(request.headers["idempotency-key"])
        self.pages.append(await request.json())
        return JSONResponse({"name": "Ada"}, 201)


@asynccontextmanager
async def oncall() -> AsyncIterator[tuple[Oncall, str]]:
    service = Oncall()
    async with serve(Starlette(routes=[Route("/pages", service.page, methods=["POST"])])) as url:
        yield service, url


def repository(folder: Path) -> Path:
    """Write a company's folder as the guide describes it."""
    for name in ("tools/oncall.py", "agents/page-oncall.yaml", "agents/page-oncall.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(GUIDE[name])
    return folder


async def run(
    root: Path, world: dict[str, object] | None, scripts: Sequence[Script] | None, **environment: str
) -> Outcome:
    body = GUIDE["alert.json"]
    event = Event(
        source="webhook",
        kind="webhook",
        identity=("alert",),
        conversation="webhook:alert",
        actor=Actor("webhook:alert", "bot"),
        text=body,
        place={"hook": "alert"},
        private=False,
        facts={"name": "alert"},
    )
    return await run_once(settings(root, **environment), root, "page-oncall", event, body.encode(), world, scripts)


def ended(outcome: Outcome) -> str:
    assert outcome.done.finished is not None
    return outcome.done.finished.status


async def test_company_tool_reaches_the_service_with_an_idempotency_key_of_the_run(tmp_path: Path) -> None:
    def decide(sent: Sent) -> Said:
        return "I paged Ada." if sent.results else [("oncall_page", PAGE)]

    async with oncall() as (service, url), deciding(decide) as (_, model):
        outcome = await run(
            repository(tmp_path), None, None, OPENAI_BASE_URL=model, ONCALL_URL=url, ONCALL_TOKEN="simulated"
        )
    assert ended(outcome) == "done"
    assert [page["text"] for page in service.pages] == [PAGE["text"]]
    assert service.keys[0].startswith(outcome.run)


async def test_company_tool_without_environment_variables_is_refused_to_the_model(tmp_path: Path) -> None:
    told: list[str] = []

    def decide(sent: Sent) -> Said:
        told.extend(sent.results)
        return "I could not page." if sent.results else [("oncall_page", PAGE)]

    async with deciding(decide) as (_, model):
        outcome = await run(repository(tmp_path), None, None, OPENAI_BASE_URL=model)
    assert ended(outcome) == "done"
    assert "ONCALL_TOKEN is not set, so this tool cannot reach its system" in told[0]


async def test_company_tool_answers_with_a_mock_in_a_simulated_world(tmp_path: Path) -> None:
    scripts = load_scripts(GUIDE["page-payments.yaml"], "page-payments.yaml")
    async with oncall() as (service, url):
        outcome = await run(repository(tmp_path), {}, scripts, ONCALL_URL=url, ONCALL_TOKEN="simulated")
    assert ended(outcome) == "done"
    assert service.pages == []


def test_tool_guide_shows_the_alert_that_these_tests_send() -> None:
    assert json.loads(GUIDE["alert.json"]) == PAGE


BROKEN = "tools/oncall.py:5: ModuleNotFoundError: No module named 'oncall_client'"
MENTIONED = """description: Answer.
owner: "#ops"
when: [slack.mention: {channels: CHANNEL}]
model: gpt-5
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A repository with a module of `tools/` that cannot be imported, a workflow that needs it, and one that does not.

    The library of the module is declared and not installed.
    """
    root = tmp_path / "repository"
    root.mkdir()
    (repository(root) / "pyproject.toml").write_text('[project]\nname = "ops"\ndependencies = ["oncall_client"]\n')
    (root / "tools" / "oncall.py").write_text(
        GUIDE["tools/oncall.py"].replace("from urllib.parse import quote", "\nimport oncall_client", 1)
    )
    (root / "agents" / "answer.yaml").write_text(MENTIONED.replace("CHANNEL", '"#deploys"'))
    (root / "agents" / "answer.md").write_text("Answer.\n")
    paging = MENTIONED.replace("CHANNEL", '"#incidents"') + "tools: [oncall_who, oncall_page]\n"
    (root / "agents" / "page-oncall.yaml").write_text(paging)
    return root


async def test_bad_import_costs_only_runs_of_workflows_with_its_tools(
    tmp_path: Path, broken: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scripts = load_scripts("- name: answer\n  steps:\n    - text: It rains.\n", "answer.yaml")
    async with company(tmp_path, root=broken, scripts=scripts) as made:
        asked = await made.ask("@Gofer how is the weather?")
        paged = await made.ask("@Gofer wake the engineer", "incidents")
        ended_runs = {head.workflow: head for head in await made.ended(4) if head.status != "ignored"}
        ready = (await made.get("/readyz")).json()
        texts = [made.answers(message)[-1].text for message in (asked, paged)]
    assert {name: head.status for name, head in ended_runs.items()} == {"answer": "done", "page-oncall": "failed"}
    assert ended_runs["page-oncall"].reason == f"the tool oncall_who cannot be used: {BROKEN}"
    assert "It rains." in texts[0]
    assert "I could not begin, because a tool of this workflow cannot be used." in texts[1]
    assert ready["tools"].startswith("2 tools cannot be used")
    logged = [record.getMessage() for record in caplog.records if "cannot be used" in record.getMessage()]
    assert logged == [f"tools that cannot be used: oncall_who, oncall_page ({BROKEN})"]


def test_check_publish_and_package_refuse_a_bad_import(
    broken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(broken)
    assert main(["check"]) == 1
    said = capsys.readouterr().out
    assert said == (
        "tools/oncall.py:5:1: The module cannot be imported: ModuleNotFoundError: No module named 'oncall_client'. "
        "Correct the line, or install requirements.lock, which `gofer upgrade` makes from pyproject.toml.\n"
    )
    monkeypatch.setenv("GOFER_BUCKET", "ops")
    shutil.copytree(ROOT / "handlers", "handlers")
    for command in (["publish", "--dry-run"], ["package", "--here", "out"]):
        assert main(command) == 2
        assert "No module named 'oncall_client'" in capsys.readouterr().err
