"""Gofer's own accounts: looked up once at startup, with a warning where the look-up fails."""

import asyncio
import json
import logging

import pytest

from gofer.app.own_accounts import with_own_accounts
from gofer.app.settings import Settings, read_settings
from gofer.sources.github import settings as github
from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.jira import settings as jira
from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.notion import settings as notion
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.receivers import PATHS, receivers
from gofer.sources.registry import own_hosts
from gofer.sources.slack import settings as slack
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import HttpResponse
from support.stand_ins import AnsweringHttp

BOT = "0b1e6c1a-0000-4000-8000-000000000001"
ENVIRONMENT = {
    "JIRA_BASE_URL": "http://jira", "JIRA_EMAIL": "g@acme.example", "JIRA_API_TOKEN": "hunter2",
    "NOTION_BASE_URL": "http://notion", "NOTION_TOKEN": "hunter2",
    "GITHUB_API_URL": "http://github", "GITHUB_TOKEN": "hunter2",
}  # fmt: skip
NAMED = {"JIRA_ACCOUNT_ID": "557058:gofer", "NOTION_BOT_ID": BOT.replace("-", "").upper(), "GITHUB_LOGIN": "@Gofer"}
SECRETS = {f"{system}_WEBHOOK_SECRET": "s" for system in ("JIRA", "NOTION", "GITHUB")}


def asked(http: AnsweringHttp, **environment: str) -> Settings:
    return asyncio.run(with_own_accounts(read_settings(environment), http))


def found(settings: Settings) -> tuple[str, str, str]:
    return settings.sources[jira.ACCOUNT_ID], settings.sources[notion.BOT_ID], settings.sources[github.LOGIN]


def test_own_account_is_looked_up_in_each_system() -> None:
    answers = {
        "http://jira/rest/api/3/myself": {"accountId": "557058:gofer"},
        "http://notion/v1/users/me": {"id": BOT, "type": "bot"},
        "http://github/user": {"login": "gofer-machine"},
    }
    http = AnsweringHttp(lambda url, content: answers[url])
    assert found(asked(http, **ENVIRONMENT)) == ("557058:gofer", BOT, "gofer-machine")
    assert len(http.requests) == 3


def test_own_workspace_and_organisation_are_looked_up_in_slack() -> None:
    known = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_API_URL": "http://slack/api"}
    answer = {"ok": True, "team_id": "T0ACME000", "enterprise_id": "E0ACME000"}
    http = AnsweringHttp(lambda url, content: {"http://slack/api/auth.test": answer}[url])
    assert asked(http, **known).sources[slack.TEAM_IDS] == {"T0ACME000", "E0ACME000"}
    assert asked(http, **known, SLACK_TEAM_ID="T1").sources[slack.TEAM_IDS] == {"T1"}
    assert asked(http, **known, SLACK_TEAM_ID="T1").sources[slack.WORKSPACE_URL] == ""
    named = asked(http, **known, SLACK_TEAM_ID="T1", SLACK_WORKSPACE_URL="https://acme.slack.com/")
    assert own_hosts(named.sources) == {"acme.slack.com"}
    assert len(http.requests) == 4


def test_pages_of_the_own_workspace_are_pages_of_the_company() -> None:
    answer = {"ok": True, "team_id": "T0ACME000", "url": "https://acme.slack.com/"}
    http = AnsweringHttp(lambda url, content: {"http://slack/api/auth.test": answer}[url])
    known = asked(http, SLACK_BOT_TOKEN="xoxb-1", SLACK_API_URL="http://slack/api")
    assert own_hosts(known.sources) == {"acme.slack.com"}


@pytest.mark.parametrize("body", [b"<html>", b'{"ok": false, "error": "invalid_auth"}', b'{"team_id": 7}'])
def test_own_workspace_stays_unknown_without_a_valid_answer_of_slack(body: bytes) -> None:
    http = AnsweringHttp(lambda *_: HttpResponse(200, {}, body))
    assert asked(http, SLACK_BOT_TOKEN="xoxb-hunter2").sources[slack.TEAM_IDS] == frozenset()


def test_own_account_is_not_looked_up_when_set_or_without_a_token() -> None:
    http = AnsweringHttp(lambda url, content: {})
    assert found(asked(http, **ENVIRONMENT, **NAMED)) == ("557058:gofer", BOT, "Gofer")
    assert found(asked(http)) == ("", "", "")
    assert http.requests == []


@pytest.mark.parametrize("status", [200, 401, 403, 500])
@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"id": 5, "accountId": null, "login": []}', b"[]"])
def test_invalid_look_up_answer_logs_a_warning_with_the_setting(
    status: int, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert found(asked(AnsweringHttp(lambda *_: HttpResponse(status, {}, body)), **ENVIRONMENT)) == ("", "", "")
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert all(any(f"or set {name}." in line for line in said) for name in NAMED)
    assert "hunter2" not in caplog.text


def test_unreachable_system_does_not_block_the_look_up_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def answer(url: str, content: bytes) -> HttpResponse:
        if "notion" in url:
            raise TemporaryError("no answer within 5 seconds")
        return HttpResponse(200, {}, json.dumps({"accountId": "a", "login": "g"}).encode())

    assert found(asked(AnsweringHttp(answer), **ENVIRONMENT)) == ("a", "", "g")
    (warning,) = caplog.records
    assert "Notion did not name the account of Gofer's token (no answer within 5 seconds)" in warning.getMessage()


def test_receivers_get_their_own_accounts_from_the_settings() -> None:
    made = receivers(read_settings(SECRETS | NAMED).sources)
    jira, notion, github = (made[PATHS[name]] for name in ("jira", "notion", "github"))
    assert isinstance(jira, JiraReceiver)
    assert list(jira.own_accounts) == ["557058:gofer"]
    assert isinstance(notion, NotionReceiver)
    assert list(notion.own_bots) == [BOT]
    assert isinstance(github, GitHubReceiver)
    assert github.own_logins == {"gofer"}
    with pytest.raises(ConfigError, match="NOTION_BOT_ID is not an id of Notion"):
        read_settings({"NOTION_BOT_ID": "Gofer"})
