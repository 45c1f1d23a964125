"""Missing settings: all of them are named at once."""

import pytest

from gofer.app.not_set_up import check_complete
from gofer.app.settings import read_settings
from gofer.values.errors import ConfigError

BOT = {"SLACK_BOT_TOKEN": "xoxb-1"}
MODEL = {"OPENAI_API_KEY": "k"}


def wrong(**environment: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        check_complete(read_settings(environment))
    return str(refused.value).splitlines()


def test_missing_settings_are_named_with_where_to_find_the_values() -> None:
    bot, way, model, where = wrong()
    assert bot.startswith("SLACK_BOT_TOKEN is missing: copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions")
    assert way.startswith("SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is missing: under Basic Information")
    assert model.startswith("OPENAI_API_KEY is missing")
    assert ".env" in where


def test_settings_already_set_are_not_named_as_missing() -> None:
    (way, _) = wrong(**BOT, **MODEL)
    assert "SLACK_SIGNING_SECRET" in way
    (bot, model, _) = wrong(SLACK_SIGNING_SECRET="s")
    assert bot.startswith("SLACK_BOT_TOKEN")
    assert model.startswith("OPENAI_API_KEY")


@pytest.mark.parametrize("way", [{"SLACK_SIGNING_SECRET": "s"}, {"SLACK_APP_TOKEN": "xapp-1"}])
def test_slack_app_token_or_signing_secret_is_enough(way: dict[str, str]) -> None:
    check_complete(read_settings({**BOT, **way, "OPENAI_BASE_URL": "http://127.0.0.1/v1"}))


def test_swapped_slack_tokens_are_named_and_not_shown() -> None:
    lines = wrong(SLACK_BOT_TOKEN="xapp-hunter2", SLACK_APP_TOKEN="xoxb-hunter2", **MODEL)
    assert lines[0].startswith("SLACK_BOT_TOKEN holds another kind of token")
    assert lines[1].startswith("SLACK_APP_TOKEN holds another kind of token")
    assert "hunter2" not in "".join(lines)
