"""Missing settings: all of them are named at once."""

from pathlib import Path

import pytest

from gofer.app.not_set_up import check_complete
from gofer.app.settings import read_settings
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.load import Catalog
from support.app.company import ROOT

BOT = {"SLACK_BOT_TOKEN": "xoxb-1"}
MODEL = {"OPENAI_API_KEY": "k"}
SHIPPED = load_catalog(ROOT / "agents")


def wrong(**environment: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        check_complete(read_settings(environment), SHIPPED)
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
    check_complete(read_settings({**BOT, **way, "OPENAI_BASE_URL": "http://127.0.0.1/v1"}), SHIPPED)


def test_swapped_slack_tokens_are_named_and_not_shown() -> None:
    lines = wrong(SLACK_BOT_TOKEN="xapp-hunter2", SLACK_APP_TOKEN="xoxb-hunter2", **MODEL)
    assert lines[0].startswith("SLACK_BOT_TOKEN holds another kind of token")
    assert lines[1].startswith("SLACK_APP_TOKEN holds another kind of token")
    assert "hunter2" not in "".join(lines)


def catalog(folder: Path, **keys: str) -> Catalog:
    """Return a folder with one workflow that needs no Slack, unless `keys` do."""
    written = {"description": "d", "owner": "ada@example.com", "when": "[jira.issue_created]", **keys}
    (folder / "w.yaml").write_text("".join(f"{key}: {value}\n" for key, value in written.items()))
    (folder / "w.md").write_text("Do it.")
    return load_catalog(folder)


def test_folder_without_use_of_slack_is_complete_without_tokens(tmp_path: Path) -> None:
    check_complete(read_settings(MODEL), catalog(tmp_path))


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("when", "[slack.mention]", "slack.mention"),
        ("tools", "[slack_post_message]", "slack_post_message"),
        ("owner", '"#ops"', "owner: #ops"),
        ("approve", "{tools: [jira_create_issue], by: requester}", "approve"),
    ],
)
def test_missing_slack_token_names_its_use(tmp_path: Path, key: str, value: str, part: str) -> None:
    with pytest.raises(ConfigError, match=f"It is needed for `{part}` of agents/w.yaml"):
        check_complete(read_settings(MODEL), catalog(tmp_path, **{key: value}))
