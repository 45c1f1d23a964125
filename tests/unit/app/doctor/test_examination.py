"""The examination of an installation over simulated systems: all is well, and each fault is found and named."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typing_extensions import override

from gofer.app.doctor.examination import examine
from gofer.app.doctor.finding import Finding
from gofer.app.embedded.server import serve
from gofer.app.not_set_up import check_complete
from gofer.app.settings import read_settings
from gofer.sources.github.settings import TOKEN as GITHUB_TOKEN
from gofer.sources.jira.settings import API_TOKEN as JIRA_TOKEN
from gofer.sources.settings import SourceSettings
from gofer.sources.slack.settings import BOT_TOKEN
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.model_script import Script, ScriptedCall, Step
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer.values.secret import Secret
from support.app.company import ROOT, Company, company
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio
CALLS_TOOLS = Script("doctor", (Step("", (ScriptedCall("report_status", {"status": "ok"}),)),))


@dataclass
class Answering(Http):
    """A network on which some addresses answer otherwise."""

    http: Http
    others: Mapping[str, HttpResponse | None]
    """By a part of the address: the answer, or None for a server that is away."""

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        for part, answer in self.others.items():
            if part in request.url:
                if answer is None:
                    raise TemporaryError("nobody is there")
                return answer
        return await self.http.send(request)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a copy of the shipped workflows."""
    for name in ("agents", "subagents", "skills", "coordinators"):
        shutil.copytree(ROOT / name, tmp_path / "repository" / name)
    return tmp_path / "repository"


async def examined(
    made: Company,
    root: Path,
    others: Mapping[str, HttpResponse | None] | None = None,
    *,
    ahead: float = 0.0,
    offline: bool = False,
    **changes: object,
) -> Mapping[str, Finding]:
    """Return the findings by their subjects."""
    settings = replace(made.embedded.settings, **changes)
    outside = made.embedded.worker.services.outside
    http = Answering(outside.http, others or {})
    clock = SetClock(outside.clock.now() + ahead)
    found = await examine(settings, root, http, made.http, clock, offline=offline)
    return {finding.subject: finding for finding in found}


def states(found: Mapping[str, Finding]) -> Mapping[str, Sequence[str]]:
    """Return the subjects by their states."""
    return {state: [one.subject for one in found.values() if one.state == state] for state in ("wrong", "away", "off")}


async def test_complete_installation_has_no_fault(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path, scripts=[CALLS_TOOLS]) as made:
        found = await examined(made, repository)
    assert states(found) == {"wrong": [], "away": [], "off": ["alarms", "pages"]}, found
    assert found["Slack"].text == "@gofer in Acme"
    assert found["Jira"].text == "JIRA_API_TOKEN is accepted"
    assert found["model gpt-5.4-mini"].text == "answers, and calls tools"
    assert found["clock"].state == "works"


async def test_offline_examination_asks_no_system(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path) as made:
        found = await examined(made, repository, {"": None}, offline=True)
    assert states(found) == {"wrong": [], "away": [], "off": ["alarms"]}
    assert "Slack" not in found


REFUSED = HttpResponse(401, {}, b"{}")
REVOKED = HttpResponse(200, {}, b'{"ok": false, "error": "token_revoked"}')
FEW_SCOPES = HttpResponse(200, {"x-oauth-scopes": "chat:write"}, b'{"ok": true}')


@pytest.mark.parametrize(
    ("others", "subject", "state", "words"),
    [
        (
            {"auth.test": REVOKED},
            "Slack",
            "wrong",
            "SLACK_BOT_TOKEN (token_revoked)",
        ),
        (
            {"auth.test": FEW_SCOPES},
            "Slack app",
            "wrong",
            "it lacks ",
        ),
        ({"auth.test": None}, "Slack", "away", "nobody is there"),
        ({"/myself": REFUSED}, "Jira", "wrong", "does not accept JIRA_API_TOKEN (HTTP 401)"),
        ({"/myself": HttpResponse(404, {}, b"")}, "Jira", "wrong", "no such system at this address"),
        ({"/myself": HttpResponse(503, {}, b"")}, "Jira", "away", "HTTP 503"),
        ({"/myself": HttpResponse(200, {}, b"<html>")}, "Jira", "wrong", "another server answers"),
        ({"/myself": HttpResponse(200, {}, b"{}")}, "Jira", "wrong", "the token has no account"),
        ({"/users/me": REFUSED}, "Notion", "wrong", "does not accept NOTION_TOKEN (HTTP 401)"),
    ],
)
async def test_fault_of_a_system_is_named(
    tmp_path: Path, repository: Path, others: Mapping[str, HttpResponse | None], subject: str, state: str, words: str
) -> None:
    async with company(tmp_path) as made:
        found = await examined(made, repository, others)
    assert (found[subject].state, words in found[subject].text) == (state, True), found[subject]


@pytest.mark.parametrize(("ahead", "words"), [(300.0, "300 s ahead"), (-300.0, "300 s behind")])
async def test_wrong_clock_is_named(tmp_path: Path, repository: Path, ahead: float, words: str) -> None:
    async with company(tmp_path) as made:
        found = await examined(made, repository, ahead=ahead)
    assert found["clock"].state == "wrong"
    assert words.partition(" ")[2] in found["clock"].text


async def test_missing_tokens_are_named_once_for_used_systems(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path) as made:
        sources = made.embedded.settings.sources
        none = [token.to(Secret("")) for token in (BOT_TOKEN, JIRA_TOKEN, GITHUB_TOKEN)]
        found = await examined(made, repository, sources=sources.but(*none))
    assert {"Jira", "GitHub"} <= {*states(found)["off"]}
    assert found["Slack"].state == "wrong"
    assert found["Slack"].text.startswith("SLACK_BOT_TOKEN is missing")
    assert found["Jira"].remedy == "Set JIRA_API_TOKEN in .env."


async def test_public_address_without_an_answer_is_named(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path) as made:
        others = {"gofer.example.com": None}
        found = await examined(made, repository, others, public_url="https://gofer.example.com")
        assert found["pages"].state == "away"
        others = {"gofer.example.com": HttpResponse(502, {}, b"")}
        found = await examined(made, repository, others, public_url="https://gofer.example.com")
        assert (found["pages"].state, found["pages"].remedy) == ("wrong", "Correct GOFER_URL, or its proxy.")
        found = await examined(made, repository, public_url="https://gofer.example.com:99999")
        assert (found["pages"].state, found["pages"].remedy) == ("wrong", "Correct GOFER_URL.")


async def test_mistake_of_a_workflow_is_named(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path) as made:
        (repository / "agents" / "new.md").write_text("")
        text = (repository / "agents" / "file-ticket.yaml").read_text()
        (repository / "agents" / "file-ticket.yaml").write_text(text.replace("jira_search", "jira_serch"))
        found = await examined(made, repository, offline=True)
    assert found["workflows"].state == "wrong"
    assert found["workflows"].remedy == "Run: gofer check"


async def test_model_without_tool_calls_is_wrong(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path, scripts=[Script("words", (Step("The status is ok.", ()),))]) as made:
        found = await examined(made, repository)
    assert found["model gpt-5.4"].state == "wrong"
    assert "did not call a tool" in found["model gpt-5.4"].text


@pytest.mark.parametrize(
    ("status", "body", "media_type"),
    [(200, "<html>Welcome</html>", "text/html"), (404, "404 page not found", "text/plain"), (200, "{}", "text/plain")],
)
async def test_server_without_a_model_is_wrong(
    tmp_path: Path, repository: Path, status: int, body: str, media_type: str
) -> None:
    async def answer(request: Request) -> Response:
        return Response(body, status, media_type=media_type)

    page = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
    async with company(tmp_path) as made, serve(page) as url:
        found = await examined(made, repository, openai_base_url=url, offline=False)
    assert found["model gpt-5.4"].state == "wrong"
    assert "OPENAI_BASE_URL" in found["model gpt-5.4"].text


async def test_settings_that_serve_needs_are_named(tmp_path: Path, repository: Path) -> None:
    async with company(tmp_path) as made:
        found = await examined(made, repository, sources=SourceSettings(), openai_base_url="", offline=True)
        catalog = made.embedded.catalog
    with pytest.raises(ConfigError) as refused:
        check_complete(read_settings({}), catalog)
    texts = [finding.text for finding in found.values() if finding.subject in ("Slack", "model")]
    assert len(texts) == 2
    assert all(text in str(refused.value) for text in texts)
