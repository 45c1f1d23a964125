"""Settings of sources: each is read by its own rule, and written so that another process reads the same."""

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


def test_a_setting_that_is_not_set_is_what_its_empty_text_is_read_as() -> None:
    assert SourceSettings()[API_URL] == "https://slack.com/api/"
    assert not SourceSettings()[BOT_TOKEN]
    assert all(read_source_settings(SETTINGS, {})[one] == SourceSettings()[one] for one in SETTINGS if one is API_URL)


def test_settings_reach_another_process_as_they_were() -> None:
    settings = read_source_settings(SETTINGS, TEXTS)
    written = settings.texts(SETTINGS)
    assert {name: written[name] for name in TEXTS} == TEXTS
    assert read_source_settings(SETTINGS, written).texts(SETTINGS) == written


def test_changed_settings_leave_the_others_as_they_are() -> None:
    settings = read_source_settings(SETTINGS, TEXTS).but(BOT_TOKEN.to(Secret("xoxb-1")))
    assert settings[BOT_TOKEN].reveal() == "xoxb-1"
    assert settings[API_URL] == TEXTS["SLACK_API_URL"]


def test_no_secret_is_printed() -> None:
    assert "hunter2" not in repr(read_source_settings(SETTINGS, {"SLACK_BOT_TOKEN": "hunter2"}))


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(ConfigError, match="GITHUB_API_URL is not a URL"):
        read_source_settings(SETTINGS, {"GITHUB_API_URL": "github"})


def test_no_two_sources_share_a_setting_or_a_path() -> None:
    names = [setting.name for setting in SETTINGS]
    paths = [path for spec in RECEIVERS for path in spec.paths]
    assert len(names) == len(set(names))
    assert len(paths) == len(set(paths))


def test_each_source_can_act_with_its_token_and_proves_its_deliveries() -> None:
    for spec in RECEIVERS:
        assert spec.token.name in {setting.name for setting in spec.acts_with}
        assert spec.secret.name in {setting.name for setting in spec.settings}


def test_a_text_has_no_space_around_it() -> None:
    setting = text_setting("TRACKER_NAME")
    assert read_source_settings([setting], {"TRACKER_NAME": " shop "})[setting] == "shop"
