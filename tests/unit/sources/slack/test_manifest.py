"""The manifest asks for what runs do and for nothing else, in the form that Slack takes."""

import json
from dataclasses import replace
from typing import get_args

import pytest

from gofer.cli.main import main
from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.manifest import DESCRIPTION, manifest, needed
from gofer.sources.slack.scopes import SCOPES, Method
from gofer.sources.slack.subscriptions import SUBSCRIPTIONS
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.sources.triggers import KINDS
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.tools.declare import bind_all
from gofer.tools.definition import Target
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from gofer_simulators.slack.manifest import read_manifest
from support.app.company import ROOT

TOOLS = bind_all(SLACK_TOOLS, SlackApi("", Secret("")))


def workflow(*tools: str) -> Workflow:
    return Workflow(description="d", owner="#o", when=("slack.mention",), tools=tools)


def made(*workflows: Workflow, url: str = "", socket: bool = True) -> dict[str, object]:
    return manifest(workflows, TOOLS, name="Gofer", url=url, socket=socket)


def test_every_run_reads_its_thread_and_posts_its_answer() -> None:
    app = read_manifest(made(workflow()))
    assert app.events == {
        *("app_mention", "message.channels", "message.groups", "reaction_added"),
        *("app_uninstalled", "tokens_revoked"),
    }
    assert app.scopes == {
        "app_mentions:read",
        "channels:history",
        "channels:read",
        "chat:write",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "reactions:read",
        "users:read",
    }


def test_what_a_workflow_file_says_adds_what_its_runs_need_for_it() -> None:
    before = needed([workflow()], TOOLS)
    plain = Workflow(description="d", owner="#o", when=("slack.mention",))

    def added(**changes: object) -> set[str]:
        changed = Workflow.model_validate({**plain.model_dump(exclude_unset=True), **changes})
        return set(needed([changed], TOOLS)) - set(before)

    assert added(who=["@leads"]) == {"usergroups:read"}
    assert added(reply="dm") == {"im:history", "im:write"}
    assert added(reply="ephemeral") == set()
    assert added(when=["slack.direct"]) == {"assistant:write", "im:history", "im:read"}


def test_a_tool_of_any_workflow_adds_its_scopes_and_an_unknown_one_adds_none() -> None:
    before = needed([workflow()], TOOLS)
    after = needed([workflow(), workflow("slack_add_reaction", "jira_search")], TOOLS)
    assert set(after) - set(before) == {"reactions:write"}
    assert "approvals" not in before["chat:write"]
    assert "approvals" in after["chat:write"]
    assert after["reactions:write"] == {"slack_add_reaction"}


def test_socket_mode_needs_no_address_and_http_needs_one() -> None:
    socket = made(workflow())["settings"]
    assert isinstance(socket, dict)
    assert (socket["socket_mode_enabled"], "request_url" in socket["event_subscriptions"]) == (True, False)
    http = made(workflow(), url="https://gofer.example.com", socket=False)
    read_manifest(http)
    settings = http["settings"]
    assert isinstance(settings, dict)
    assert settings["socket_mode_enabled"] is False
    assert settings["event_subscriptions"]["request_url"] == "https://gofer.example.com/slack/events"


def test_where_people_sign_in_slack_may_send_them_back_and_say_who_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = ("manifest", "--url", "https://gofer.example.com", "--json")
    assert main([*words, "--sign-in"]) == 0
    app = json.loads(capsys.readouterr().out)
    read_manifest(app)
    assert app["oauth_config"]["redirect_urls"] == ["https://gofer.example.com/sign-in/callback"]
    assert app["oauth_config"]["scopes"]["user"] == ["openid"]
    assert main(list(words)) == 0
    assert set(json.loads(capsys.readouterr().out)["oauth_config"]) == {"scopes"}
    assert main(["manifest", "--socket", "--sign-in"]) == 2
    assert "--sign-in needs --url" in capsys.readouterr().err


def asking(**keys: object) -> Workflow:
    return Workflow.model_validate({"description": "d", "owner": "#o", "when": ["slack.mention"], **keys})


@pytest.mark.parametrize(
    ("keys", "asks"),
    [
        ({"tools": ["slack_read_thread"]}, False),
        ({"tools": ["slack_add_reaction"]}, True),
        ({"tools": ["slack_add_reaction"], "private_channels": "allow"}, True),
        ({"tools": ["slack_add_reaction"], "private_channels": "refuse"}, True),
        ({"tools": ["slack_read_thread"], "approve": {"tools": ["slack_read_thread"], "by": "requester"}}, True),
    ],
)
def test_presses_of_buttons_are_wanted_where_a_workflow_may_ask(keys: dict[str, object], asks: bool) -> None:
    for url, socket in (("", True), ("https://gofer.example.com", False)):
        settings = made(asking(**keys), url=url, socket=socket)["settings"]
        assert isinstance(settings, dict)
        address = {"request_url": f"{url}/slack/interactivity"} if url else {}
        assert settings.get("interactivity") == ({"is_enabled": True, **address} if asks else None)
        read_manifest(made(asking(**keys), url=url, socket=socket))


@pytest.mark.parametrize(
    ("by", "groups"), [("requester", False), ("U0123ABCD", False), ("@leads", True), ("S0LEADS00", True)]
)
def test_groups_are_read_only_where_one_may_decide(by: str, groups: bool) -> None:
    workflow = asking(tools=["slack_add_reaction"], approve={"tools": ["slack_add_reaction"], "by": by})
    assert ("usergroups:read" in needed([workflow], TOOLS)) is groups


def test_without_a_workflow_for_slack_there_is_no_app() -> None:
    with pytest.raises(ConfigError, match="No workflow is started by Slack"):
        made()


def test_everything_that_slack_starts_has_its_subscription() -> None:
    assert {kind for kind in KINDS if kind.startswith("slack.")} == set(SUBSCRIPTIONS)


def test_every_method_has_its_scopes_and_every_tool_of_slack_declares_some() -> None:
    assert set(SCOPES) == set(get_args(Method))
    assert [tool.name for tool in TOOLS if not tool.target.scopes] == []


def features(**fields: object) -> dict[str, object]:
    plain = {"description": "d", "owner": "#o", "when": ["slack.mention"]}
    found = made(Workflow.model_validate({**plain, **fields}))["features"]
    assert isinstance(found, dict)
    return found


def test_who_may_write_directly_gets_a_messages_tab_and_the_pane_of_agents() -> None:
    direct = features(when=["slack.mention", "slack.direct"])
    assert direct["app_home"] == {
        "home_tab_enabled": False,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }
    assert direct["agent_view"] == {"agent_description": DESCRIPTION}


def test_where_gofer_only_writes_directly_the_tab_is_for_reading_and_otherwise_closed() -> None:
    for fields in ({"reply": "dm"}, {"tools": ["slack_post_direct"]}):
        written = features(**fields)
        assert "agent_view" not in written
        assert written["app_home"] == {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": True,
        }
    closed = features()["app_home"]
    assert isinstance(closed, dict)
    assert closed["messages_tab_enabled"] is False


def test_the_shipped_workflows_print_a_manifest_that_slack_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for words in (["--socket"], ["--url", "https://gofer.example.com"], ["--url", "https://g.example", "--sign-in"]):
        assert main(["manifest", *words, "--json"]) == 0
        app = read_manifest(json.loads(capsys.readouterr().out))
        assert app.messages == "open"
        assert {"message.im", "agent_session_stopped"} <= app.events


def test_a_tool_of_another_vendor_asks_slack_for_nothing() -> None:
    other = replace(TOOLS[0], name="jira_search", target=Target(scopes=frozenset({"read:jira"})))
    assert "read:jira" not in needed([workflow("jira_search")], [*TOOLS, other])
