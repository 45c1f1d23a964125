"""Settings of sources: parsing, and writing them so that another process reads the same values."""

from collections.abc import Mapping

import pytest

from gofer.sources.receivers import RECEIVERS, SETTINGS
from gofer.sources.settings import SourceSettings, read_source_settings, text_setting
from gofer.sources.slack.settings import API_URL, BOT_TOKEN
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret

TEXTS: Mapping[str, str] = {
    "SLACK_SIGNING_SECRET": "new,old",
    "SLACK_TEAM_ID": "E0123ABCD,T0123ABCD",
    "SLACK_API_URL": "https://slack.example/",
    "NOTION_BOT_ID": "0b1e6c1a-0000-4000-8000-000000000001",
    "JIRA_BASE_URL": "https://acme.atlassian.net",
    "GITHUB_LOGIN": "gofer",
}


def test_absent_source_setting_has_the_value_of_an_empty_text() -> None:
    assert SourceSettings()[API_URL] == "https://slack.com/api/"
    assert not SourceSettings()[BOT_TOKEN]
    assert all(read_source_settings(SETTINGS, {})[one] == SourceSettings()[one] for one in SETTINGS if one is API_URL)


def test_source_settings_survive_writing_and_reading() -> None:
    settings = read_source_settings(SETTINGS, TEXTS)
    written = settings.texts(SETTINGS)
    assert {name: written[name] for name in TEXTS} == TEXTS
    assert read_source_settings(SETTINGS, written).texts(SETTINGS) == written


def test_source_settings_changed_in_one_value_keep_the_others() -> None:
    settings = read_source_settings(SETTINGS, TEXTS).but(BOT_TOKEN.to(Secret("xoxb-1")))
    assert settings[BOT_TOKEN].reveal() == "xoxb-1"
    assert settings[API_URL] == TEXTS["SLACK_API_URL"]


def test_source_settings_do_not_print_secrets() -> None:
    assert "hunter2" not in repr(read_source_settings(SETTINGS, {"SLACK_BOT_TOKEN": "hunter2"}))


def test_source_setting_with_a_wrong_value_is_named() -> None:
    with pytest.raises(ConfigError, match="GITHUB_API_URL is not a URL"):
        read_source_settings(SETTINGS, {"GITHUB_API_URL": "github"})


def test_sources_share_no_setting_and_no_path() -> None:
    names = [setting.name for setting in SETTINGS]
    paths = [path for spec in RECEIVERS for path in spec.paths]
    assert len(names) == len(set(names))
    assert len(paths) == len(set(paths))


def test_sources_declare_token_and_secret_among_their_settings() -> None:
    for spec in RECEIVERS:
        assert spec.token.name in {setting.name for setting in spec.acts_with}
        assert spec.secret.name in {setting.name for setting in spec.settings}


def test_text_setting_is_stripped() -> None:
    setting = text_setting("TRACKER_NAME")
    assert read_source_settings([setting], {"TRACKER_NAME": " shop "})[setting] == "shop"
