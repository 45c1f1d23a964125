"""The Slack app manifest: only the scopes and events that the workflows need, in a form Slack accepts."""

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


def test_slack_manifest_lets_every_run_read_the_thread_and_post_the_answer() -> None:
    app = read_manifest(made(workflow()))
    assert app.events == {
        *("app_mention", "message.channels", "message.groups", "message.mpim", "reaction_added", "reaction_removed"),
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
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "usergroups:read",
        "users:read",
    }


def test_slack_manifest_adds_the_scopes_for_the_keys_of_a_workflow_file() -> None:
    before = needed([workflow()], TOOLS)
    plain = Workflow(description="d", owner="#o", when=("slack.mention",))

    def added(**changes: object) -> set[str]:
        changed = Workflow.model_validate({**plain.model_dump(exclude_unset=True), **changes})
        return set(needed([changed], TOOLS)) - set(before)

    assert added(who=["@leads"]) == set()
    assert added(reply="dm") == {"im:history", "im:write"}
    assert added(reply="ephemeral") == set()
    assert added(when=["slack.direct"]) == {"assistant:write", "im:history", "im:read"}


def test_slack_manifest_adds_the_scopes_of_known_tools_only() -> None:
    before = needed([workflow()], TOOLS)
    after = needed([workflow(), workflow("slack_add_reaction", "jira_search")], TOOLS)
    assert set(after) - set(before) == {"reactions:write"}
    assert "approvals" not in before["chat:write"]
    assert "approvals" in after["chat:write"]
    assert after["reactions:write"] == {"slack_add_reaction"}


def test_slack_manifest_has_request_urls_only_without_socket_mode() -> None:
    socket = made(workflow())["settings"]
    assert isinstance(socket, dict)
    assert (socket["socket_mode_enabled"], "request_url" in socket["event_subscriptions"]) == (True, False)
    http = made(workflow(), url="https://gofer.example.com", socket=False)
    read_manifest(http)
    settings = http["settings"]
    assert isinstance(settings, dict)
    assert settings["socket_mode_enabled"] is False
    assert settings["event_subscriptions"]["request_url"] == "https://gofer.example.com/slack/events"


def test_slack_manifest_with_sign_in_has_a_redirect_url_and_the_openid_scope(
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


def test_slack_manifest_with_sign_in_and_socket_mode_posts_nowhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    words = ["manifest", "--socket", "--url", "https://gofer.example.com/", "--json"]
    assert main([*words, "--sign-in"]) == 0
    app = json.loads(capsys.readouterr().out)
    read_manifest(app)
    assert app["oauth_config"]["redirect_urls"] == ["https://gofer.example.com/sign-in/callback"]
    assert app["settings"]["socket_mode_enabled"] is True
    assert "request_url" not in str(app["settings"])
    assert main(words) == 2
    assert "--socket for your own machine, or --url" in capsys.readouterr().err


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
def test_slack_manifest_enables_interactivity_where_a_workflow_may_ask(keys: dict[str, object], asks: bool) -> None:
    for url, socket in (("", True), ("https://gofer.example.com", False)):
        settings = made(asking(**keys), url=url, socket=socket)["settings"]
        assert isinstance(settings, dict)
        address = {"request_url": f"{url}/slack/interactivity"} if url else {}
        assert settings.get("interactivity") == ({"is_enabled": True, **address} if asks else None)
        read_manifest(made(asking(**keys), url=url, socket=socket))


@pytest.mark.parametrize(
    ("by", "groups"), [("requester", False), ("U0123ABCD", False), ("@leads", True), ("S0LEADS00", True)]
)
def test_slack_manifest_reads_members_of_groups_only_where_a_group_may_decide(by: str, groups: bool) -> None:
    workflow = asking(tools=["slack_add_reaction"], approve={"tools": ["slack_add_reaction"], "by": by})
    readers = needed([workflow], TOOLS)["usergroups:read"]
    assert readers - {"approvals"} == {"slack_read_thread"}
    assert ("approvals" in readers) is groups


def test_slack_manifest_without_a_slack_workflow_is_refused() -> None:
    with pytest.raises(ConfigError, match="No workflow is started by Slack"):
        made()


def test_slack_event_kinds_each_have_a_subscription() -> None:
    assert {kind for kind in KINDS if kind.startswith("slack.")} == set(SUBSCRIPTIONS)


def test_slack_methods_have_scopes_and_slack_tools_declare_some() -> None:
    assert set(SCOPES) == set(get_args(Method))
    assert [tool.name for tool in TOOLS if not tool.target.scopes] == []


def features(**fields: object) -> dict[str, object]:
    plain = {"description": "d", "owner": "#o", "when": ["slack.mention"]}
    found = made(Workflow.model_validate({**plain, **fields}))["features"]
    assert isinstance(found, dict)
    return found


def test_slack_manifest_for_direct_messages_has_a_messages_tab_and_agent_view() -> None:
    direct = features(when=["slack.mention", "slack.direct"])
    assert direct["app_home"] == {
        "home_tab_enabled": False,
        "messages_tab_enabled": True,
        "messages_tab_read_only_enabled": False,
    }
    assert direct["agent_view"] == {"agent_description": DESCRIPTION}


def test_slack_manifest_messages_tab_is_read_only_or_closed_without_direct_messages() -> None:
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


def test_slack_manifest_of_the_shipped_workflows_is_accepted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for words in (["--socket"], ["--url", "https://gofer.example.com"], ["--url", "https://g.example", "--sign-in"]):
        assert main(["manifest", *words, "--json"]) == 0
        app = read_manifest(json.loads(capsys.readouterr().out))
        assert app.messages == "open"
        assert {"message.im", "agent_session_stopped"} <= app.events


def test_slack_manifest_has_no_scopes_for_tools_of_other_vendors() -> None:
    other = replace(TOOLS[0], name="jira_search", target=Target(scopes=frozenset({"read:jira"})))
    assert "read:jira" not in needed([workflow("jira_search")], [*TOOLS, other])
