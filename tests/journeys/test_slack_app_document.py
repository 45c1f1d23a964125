"""docs/slack-app.md is followed to the letter: its commands, its `.env`, its tables; docs/slack.md lists the scopes."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from gofer.app.not_set_up import check_complete
from gofer.app.settings import read_dotenv, read_settings
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.manifest import needed
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.sources.workflow_files import load_catalog
from gofer.tools.declare import bind_all
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from support.app.company import ROOT
from support.app.serve_process import SECRET, OperatorFolder, free_port, operator_folder

pytestmark = pytest.mark.anyio
TEXT = (ROOT / "docs" / "slack-app.md").read_text()
REFERENCE = (ROOT / "docs" / "slack.md").read_text()
FENCES = re.findall(r"```(\S*)(?: (\S+))?\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [
    shlex.split(line)[1:]
    for kind, name, body in FENCES
    if kind == "sh" and not name
    for line in body.split("\n")
    if line
]
SOCKET_ENV, HTTP_ENV, ROTATED_ENV = (body for kind, name, body in FENCES if (kind, name) == ("sh", ".env"))
PUBLIC = "https://gofer.example.com"


def table(heading: str, text: str = TEXT) -> list[list[str]]:
    """The cells of the first table after a heading, without its head."""
    rows = text.split(heading, 1)[1].split("\n|", 1)[1].split("\n\n", 1)[0].split("\n")[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def write_env(made: OperatorFolder, fence: str, **real: str) -> None:
    """Write the lines of the document with real values in place of the ellipses."""
    values = {line.split("=", 1)[0]: line.split("=", 1)[1] for line in fence.split("\n") if line}
    assert set(real) == {name for name, value in values.items() if "…" in value}
    made.write_env(**{**values, **real})


def test_slack_app_document_has_exactly_three_commands() -> None:
    assert [shlex.join(words) for words in COMMANDS] == ["manifest --socket", f"manifest --url {PUBLIC}", "serve"]


async def test_following_the_document_for_socket_mode_ends_with_an_answer(tmp_path: Path) -> None:
    manifest, _, serve = COMMANDS
    async with operator_folder(tmp_path) as made:
        made.slack.install(yaml.safe_load(await made.read(*manifest)))
        write_env(
            made, SOCKET_ENV, SLACK_BOT_TOKEN="xoxb-simulated", SLACK_APP_TOKEN="xapp-simulated", OPENAI_API_KEY="k"
        )
        running = await made.start(*serve, "--port", "0")
        await running.says("/runs")
        answer = await made.answer(await made.ask("@Gofer hello, what can you do for me here?"))
        run = (await made.read("runs")).split()[0]
        assert "✓ slack_read_thread" in await made.read("trace", run)
        # The messages tab that the manifest opens accepts messages.
        direct = await made.answer(await made.ask("hello", made.slack.workspace.direct("U0CAPTN0").id))
        assert await running.stop() == 0
    shown = next(body for kind, _, body in FENCES if not kind)
    # The document shows the printed lines, with another port and another model.
    labels = [line.split()[0] for line in shown.splitlines()]
    said = [line.split()[0] for line in running.lines if not line.startswith(("{", "Stopping"))]
    # A line is repeated for each workflow that cannot start.
    assert list(dict.fromkeys(said)) == labels
    assert shown.splitlines()[0] == running.lines[0]
    assert "Hello" in answer.text
    assert "Hello" in direct.text


async def test_following_the_document_for_http_answers_before_and_after_secret_rotation(tmp_path: Path) -> None:
    _, manifest, serve = COMMANDS
    port = free_port()
    async with operator_folder(tmp_path) as made:
        made.slack.install(yaml.safe_load(await made.read(*manifest)))
        values = {"SLACK_BOT_TOKEN": "xoxb-simulated", "OPENAI_API_KEY": "k"}
        write_env(made, HTTP_ENV, SLACK_SIGNING_SECRET=SECRET, **values)
        made.slack.subscribe(f"http://127.0.0.1:{port}/slack/events")
        for secret in (SECRET, ROTATED_ENV.strip().split("=", 1)[1].replace("old-secret", SECRET)):
            write_env(made, HTTP_ENV, SLACK_SIGNING_SECRET=secret, **values)
            running = await made.start(*serve, "--port", str(port))
            await running.says("/runs")
            answer = await made.answer(await made.ask("@Gofer hello"))
            assert f"{PUBLIC}/runs/" in str(answer.blocks)
            assert await running.stop() == 0


def test_scope_table_lists_every_scope_with_the_features_that_need_that_scope() -> None:
    tools = bind_all(SLACK_TOOLS, SlackApi("", Secret("")))
    when = [
        "slack.mention",
        "slack.direct",
        {"slack.message": {"channels": "any"}},
        {"slack.reaction": {"emoji": "jira"}},
        "slack.channel_created",
        "slack.member_joined",
    ]
    names = [tool.name for tool in tools if not tool.internal]
    fields = {"when": when, "tools": names, "approve": {"tools": ["slack_post_message"], "by": "@leads"}}
    everything = Workflow.model_validate({"description": "d", "owner": "#o", **fields})
    documented = {row[0].strip("`"): set(re.findall(r"`([^`]+)`", row[2])) for row in table("## Scopes", REFERENCE)}
    assert documented == {scope: set(users) for scope, users in needed([everything], tools).items()}


def test_every_setting_of_a_real_slack_is_listed(tmp_path: Path) -> None:
    listed = {name for row in table("## 2. Write the settings") for name in re.findall(r"`([^`]+)`", row[0])}
    files = ("app/settings.py", "app/proxy_settings.py", "sources/slack/settings.py")
    source = "".join((ROOT / "src/gofer" / file).read_text() for file in files)
    assert listed == set(re.findall(r'"((?:SLACK|OPENAI|GOFER|AGENT)_[A-Z_]+|[A-Z]+_PROXY)"', source))
    for fence in (SOCKET_ENV, HTTP_ENV):
        (tmp_path / ".env").write_text(fence.replace("…", "1"))
        check_complete(read_settings(read_dotenv(tmp_path / ".env")), load_catalog(ROOT / "agents"))


def test_troubleshooting_table_quotes_sentences_of_the_source() -> None:
    said = "".join(path.read_text() for path in (ROOT / "src" / "gofer").rglob("*.py"))
    phrases = [phrase for row in table("## When it does not start") for phrase in re.findall(r"`([^`]+)`", row[0])]
    assert len(phrases) > 10
    # The code fills in the name of the system at run time.
    said = said.replace("{app.spec.system}", "Slack").replace("{spec.system}", "Slack")
    assert [phrase for phrase in phrases if phrase not in said] == []


def test_document_names_every_setting_that_can_be_missing() -> None:
    with pytest.raises(ConfigError) as refused:
        check_complete(read_settings({}), load_catalog(ROOT / "agents"))
    named = [line.split(":")[0] for line in str(refused.value).splitlines()[:-1]]
    assert [name for name in named if f"`{name}`" not in TEXT] == []
