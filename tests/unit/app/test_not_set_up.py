"""Workflows that cannot start because a setting is missing."""

from pathlib import Path

import pytest

from gofer.app.not_set_up import out_of_reach
from gofer.app.settings import read_settings
from gofer.sources.workflow_files import load_catalog


def workflow(folder: Path, when: str) -> None:
    (folder / "w.yaml").write_text(f'description: d\nowner: "#o"\nwhen: {when}\n')
    (folder / "w.md").write_text("Do it.")


@pytest.mark.parametrize(
    ("when", "lacks"),
    [
        ("[slack.mention]", "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET"),
        ("[jira.issue_created]", "JIRA_WEBHOOK_SECRET"),
        ("[notion.page_created]", "NOTION_WEBHOOK_SECRET"),
        ("[github.push]", "GITHUB_WEBHOOK_SECRET"),
        ("[{webhook: {name: new-hire}}]", "WEBHOOK_SECRET_NEW_HIRE"),
    ],
)
def test_workflow_is_out_of_reach_until_the_secret_of_the_source_is_set(tmp_path: Path, when: str, lacks: str) -> None:
    workflow(tmp_path, when)
    catalog = load_catalog(tmp_path)
    assert out_of_reach(read_settings({}), catalog) == {"w": lacks}
    for setting in lacks.split(" or "):
        assert out_of_reach(read_settings({setting: "secret"}), catalog) == {}


def test_workflow_with_one_configured_trigger_is_in_reach(tmp_path: Path) -> None:
    workflow(tmp_path, "[jira.issue_created, {schedule: {every: 1 hour}}]")
    assert out_of_reach(read_settings({}), load_catalog(tmp_path)) == {}


def test_slack_workflow_is_in_reach_with_an_app_token(tmp_path: Path) -> None:
    workflow(tmp_path, "[slack.mention]")
    assert out_of_reach(read_settings({"SLACK_APP_TOKEN": "xapp-1"}), load_catalog(tmp_path)) == {}
