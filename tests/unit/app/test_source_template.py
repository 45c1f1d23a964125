"""`gofer template`: parts of template.yaml for a new source, in their places."""

from dataclasses import replace
from pathlib import Path

import pytest
from cfnlint.api import ManualArgs, lint_file
from samtranslator.yaml_helper import yaml_parse

from gofer.app.source_template import add_source, logical_name, source_template
from gofer.sources.receivers import BY_SOURCE
from gofer.sources.settings import credential_setting
from gofer.values.errors import ConfigError
from support.aws.template import TEMPLATE, permissions, transformed

TRACKER = replace(
    BY_SOURCE["jira"], source="issue_tracker", system="Tracker", path="/tracker/webhook", acts_with=(), account=None
)


def test_added_source_has_an_alarm_log_access_and_a_url() -> None:
    added = yaml_parse(add_source(TRACKER, TEMPLATE.read_text()))
    assert "IssueTrackerErrorsAlarm" in added["Resources"]
    assert added["Outputs"]["IssueTrackerWebhookUrl"]["Value"] == {"Fn::Sub": "${UrlSetting.Value}/tracker/webhook"}
    (policy,) = [one for name, one in added["Resources"].items() if name == "OperatorPolicy"]
    (reading,) = [one for one in policy["Properties"]["PolicyDocument"]["Statement"] if one["Sid"] == "ReadLogs"]
    assert {"Fn::GetAtt": ["IssueTrackerLogs", "Arn"]} in reading["Resource"]


def test_added_source_gives_the_worker_access_to_the_tool_parameters() -> None:
    spec = replace(TRACKER, acts_with=(credential_setting("TRACKER_TOKEN"),))
    added = transformed(yaml_parse(add_source(spec, TEMPLATE.read_text())))
    assert any("TRACKER_TOKEN" in resource for resource in permissions(added, "WorkerRole")["ssm:GetParameters"])


def test_template_with_an_added_source_passes_the_linter(tmp_path: Path) -> None:
    made = tmp_path / "template.yaml"
    made.write_text(add_source(TRACKER, TEMPLATE.read_text()))
    assert [str(found) for found in lint_file(made, ManualArgs(regions=["eu-west-1"]))] == []


@pytest.mark.parametrize(("source", "name"), [("github", "Github"), ("issue_tracker", "IssueTracker")])
def test_logical_ids_have_letters_and_digits_only(source: str, name: str) -> None:
    assert logical_name(source) == name


def test_printed_template_parts_name_their_places() -> None:
    printed = source_template(TRACKER)
    for place in ("Resources", "ReadLogs of", "Outputs"):
        assert f"# Below {place}" in printed


def test_source_is_not_added_to_the_template_twice() -> None:
    added = add_source(TRACKER, TEMPLATE.read_text())
    with pytest.raises(ConfigError, match="has parts of Tracker already: IssueTrackerFunction"):
        add_source(TRACKER, added)


def test_template_without_a_place_for_a_part_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no Resources; add this by hand"):
        add_source(TRACKER, "Outputs:\n")


def test_source_with_leftover_template_parts_is_not_added() -> None:
    added = add_source(TRACKER, TEMPLATE.read_text())
    with pytest.raises(ConfigError, match=r"has parts of Tracker already: IssueTrackerRole, .*WebhookUrl\."):
        add_source(TRACKER, added.replace("\n  IssueTrackerFunction:\n", "\n  AnotherFunction:\n"))
