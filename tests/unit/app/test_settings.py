from pathlib import Path

import pytest

from gofer.app.settings import read_settings
from gofer.sources.github import settings as github
from gofer.sources.jira import settings as jira
from gofer.sources.notion import settings as notion
from gofer.sources.slack import settings as slack
from gofer.values.errors import ConfigError

URLS = ["OPENAI_BASE_URL", "SLACK_API_URL", "GITHUB_API_URL", "NOTION_BASE_URL", "JIRA_BASE_URL"]
CREDENTIALS = ["OPENAI_API_KEY", "SLACK_BOT_TOKEN", "GITHUB_TOKEN", "NOTION_TOKEN", "JIRA_API_TOKEN"]


def test_settings_of_an_empty_environment_are_the_defaults() -> None:
    settings = read_settings({})
    assert settings.data == Path(".gofer")
    assert settings.sources[slack.API_URL] == "https://slack.com/api/"
    assert settings.sources[notion.BASE_URL] == "https://api.notion.com"
    assert not settings.has_model
    assert settings.sources[slack.SIGNING_SECRETS] == ()


def test_concurrency_is_a_whole_number_from_1_to_999() -> None:
    assert read_settings({}).concurrency == 0
    assert read_settings({"GOFER_CONCURRENCY": " 12 "}).concurrency == 12
    for wrong in ("0", "-1", "1000", "ten", "1.5", "\u0661"):
        with pytest.raises(ConfigError, match=r"GOFER_CONCURRENCY is .* from 1 to 999"):
            read_settings({"GOFER_CONCURRENCY": wrong})


def test_signing_secrets_hold_two_values_during_rotation() -> None:
    secrets = read_settings({"SLACK_SIGNING_SECRET": "new, old,"}).sources[slack.SIGNING_SECRETS]
    assert [secret.reveal() for secret in secrets] == ["new", "old"]
    tokens = read_settings({"NOTION_WEBHOOK_SECRET": "secret_new,secret_old"}).sources[notion.WEBHOOK_SECRETS]
    assert [token.reveal() for token in tokens] == ["secret_new", "secret_old"]


def test_webhook_secrets_are_found_by_their_names() -> None:
    environment = {"WEBHOOK_SECRET": "all", "WEBHOOK_SECRET_NEW_HIRE": "new, old", "WEBHOOK_SECRETS": "no"}
    found = read_settings({**environment, "MY_WEBHOOK_SECRET_X": "no"}).webhook_secrets
    revealed = {name: [secret.reveal() for secret in secrets] for name, secrets in found.items()}
    assert revealed == {"": ["all"], "new-hire": ["new", "old"]}


def test_jira_settings_are_site_account_token_and_webhook_secrets() -> None:
    given = {"JIRA_BASE_URL": "https://acme.atlassian.net/", "JIRA_EMAIL": " g@acme.example", "JIRA_API_TOKEN": "t"}
    settings = read_settings(given | {"JIRA_WEBHOOK_SECRET": "new,old", "JIRA_ACCOUNT_ID": "712020:gofer"})
    assert settings.sources[jira.ACCOUNT_ID] == "712020:gofer"
    assert (settings.sources[jira.BASE_URL], settings.sources[jira.EMAIL]) == (
        "https://acme.atlassian.net",
        "g@acme.example",
    )
    assert settings.sources[jira.API_TOKEN].reveal() == "t"
    assert [secret.reveal() for secret in settings.sources[jira.WEBHOOK_SECRETS]] == ["new", "old"]


def test_openai_key_or_base_url_counts_as_a_model() -> None:
    assert read_settings({"OPENAI_API_KEY": "k"}).has_model
    assert read_settings({"OPENAI_BASE_URL": "http://127.0.0.1/v1"}).has_model


def test_base_urls_are_normalized() -> None:
    for given in ("https://slack.example", "https://slack.example/"):
        assert read_settings({"SLACK_API_URL": given}).sources[slack.API_URL] == "https://slack.example/"
    assert read_settings({"SLACK_API_URL": "", "GOFER_DATA": ""}).sources[slack.API_URL] == "https://slack.com/api/"
    assert read_settings({"GOFER_DATA": ""}).data == Path(".gofer")


@pytest.mark.parametrize("value", ["localhost:1", "http://[", "ftp://x", "https://", "http://127.0.0.1:99999/v1"])
@pytest.mark.parametrize(
    "name", ["OPENAI_BASE_URL", "SLACK_API_URL", "GITHUB_API_URL", "NOTION_BASE_URL", "JIRA_BASE_URL"]
)
def test_invalid_url_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is not a URL"):
        read_settings({name: value})


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "SLACK_BOT_TOKEN", "GITHUB_TOKEN", "NOTION_TOKEN", "JIRA_API_TOKEN"]
)
def test_credential_with_invalid_header_characters_is_named(name: str) -> None:
    for value in ("kéy", "two words", "tab\tbed"):
        with pytest.raises(ConfigError, match=f"{name} contains characters"):
            read_settings({name: value})
    assert read_settings({"SLACK_BOT_TOKEN": " xoxb-1\n"}).sources[slack.BOT_TOKEN].reveal() == "xoxb-1"


def test_settings_do_not_print_secrets() -> None:
    secret = "hunter2"
    names = [f"{system}_{what}" for system in ("GITHUB", "NOTION") for what in ("TOKEN", "WEBHOOK_SECRET")]
    names += ["OPENAI_API_KEY", "SLACK_SIGNING_SECRET", "SLACK_BOT_TOKEN"]
    assert secret not in repr(read_settings(dict.fromkeys(names, secret)))


def test_github_settings_have_an_api_url_and_one_or_two_secrets() -> None:
    assert read_settings({}).sources[github.API_URL] == "https://api.github.com"
    assert (
        read_settings({"GITHUB_API_URL": "https://git.acme.example/api/v3/"})
        .sources[github.API_URL]
        .endswith("/api/v3")
    )
    secrets = read_settings({"GITHUB_WEBHOOK_SECRET": "new, old,"}).sources[github.WEBHOOK_SECRETS]
    assert [secret.reveal() for secret in secrets] == ["new", "old"]
    assert read_settings({}).sources[github.WEBHOOK_SECRETS] == ()
