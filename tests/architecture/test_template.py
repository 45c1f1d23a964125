"""The template of the stack: linter, and rules for permissions, alarms, state and throttling."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cfnlint.api import ManualArgs, lint_file

from support.aws.template import (
    TEMPLATE,
    Json,
    mentions,
    transformed,
    written,
)
from support.aws.template_rules import RULES

CLOUD = transformed()


def lint(path: Path) -> list[str]:
    return [str(match) for match in lint_file(path, ManualArgs(regions=["eu-west-1"]))]


def test_template_as_written_passes_the_linter() -> None:
    assert lint(TEMPLATE) == []


def test_transformed_template_passes_the_linter(tmp_path: Path) -> None:
    (tmp_path / "template.json").write_text(json.dumps(CLOUD))
    assert lint(tmp_path / "template.json") == []


RESTORED = {
    "ExistingTable": "gofer-test-table-restored",
    "ExistingKeysTable": "gofer-test-keys-restored",
    "ExistingBucket": "gofer-test-bucket-restored",
}


def test_template_with_restored_state_and_a_boundary_passes_the_linter(tmp_path: Path) -> None:
    template = transformed(None, "test", **RESTORED)
    boundary = "arn:aws:iam::123456789012:policy/gofer-test-github-Boundary"
    for name, value in {**RESTORED, "PermissionsBoundary": boundary}.items():
        template["Parameters"][name]["Default"] = value
    (tmp_path / "template.json").write_text(json.dumps(template))
    assert lint(tmp_path / "template.json") == []


@pytest.mark.parametrize("name", ["Table", "KeysTable", "Bucket"])
def test_only_the_setting_of_restored_state_depends_on_a_condition(name: str) -> None:
    condition = f"HasOwn{name}"
    assert CLOUD["Resources"][name]["Condition"] == condition
    assert CLOUD["Conditions"][condition] == {"Fn::Equals": [{"Ref": f"Existing{name}"}, ""]}
    value = CLOUD["Resources"][f"{name}Setting"]["Properties"]["Value"]
    assert value == {"Fn::If": [condition, {"Ref": name}, {"Ref": f"Existing{name}"}]}
    # A direct reference would fail to deploy without the stack's own, or would name it beside the restored one.
    others = {key: one for key, one in CLOUD["Resources"].items() if key != f"{name}Setting"}
    assert name not in mentions([others, CLOUD["Outputs"]])


def test_mistake_visible_only_after_the_transform_is_found(tmp_path: Path) -> None:
    template = written()
    template["Resources"]["WorkerFunction"]["Properties"]["Events"]["QueueMessages"]["Properties"]["Queue"] = {
        "Fn::GetAtt": ["Kueue", "Arn"]
    }
    (tmp_path / "template.json").write_text(json.dumps(transformed(template)))
    assert any("Kueue" in found for found in lint(tmp_path / "template.json"))


@pytest.mark.parametrize("rule", RULES)
def test_template_rule_holds(rule: str) -> None:
    assert RULES[rule](CLOUD) == []


def properties(name: str) -> Callable[[Json], Json]:
    return lambda template: template["Resources"][name]["Properties"]


def statements(name: str) -> Callable[[Json], list[Json]]:
    return lambda template: template["Resources"][name]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]


def trust(name: str) -> Callable[[Json], Json]:
    return lambda template: template["Resources"][name]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]


def resource(name: str) -> Callable[[Json], Json]:
    return lambda template: template["Resources"][name]


def setting(where: Callable[[Json], Json], key: str, value: object) -> Callable[[Json], object]:
    return lambda template: where(template).__setitem__(key, value)


def without(where: Callable[[Json], Json], key: str) -> Callable[[Json], object]:
    return lambda template: where(template).pop(key)


BROKEN: list[tuple[str, Callable[[Json], object]]] = [
    ("no_policy_has_a_wildcard", lambda t: statements("SlackRole")(t)[0].update(Resource="*")),
    ("no_policy_has_a_wildcard", lambda t: statements("WorkerRole")(t)[2].update(Action="sqs:*")),
    (
        "no_policy_has_a_wildcard",
        lambda t: statements("WorkerRole")(t)[2].update(Resource={"Fn::Sub": "${Table.Arn}*"}),
    ),
    ("no_policy_has_a_wildcard", lambda t: statements("JiraRole")(t)[1].update(NotAction=["s3:GetObject"])),
    (
        "roles_have_only_policies_of_the_template",
        setting(properties("WorkerRole"), "ManagedPolicyArns", ["arn:aws:iam::aws:policy/AdministratorAccess"]),
    ),
    (
        "each_function_has_a_role_and_a_log_group_of_its_own",
        setting(properties("JiraFunction"), "Role", {"Fn::GetAtt": ["SlackRole", "Arn"]}),
    ),
    ("each_function_has_a_role_and_a_log_group_of_its_own", without(properties("JiraFunction"), "LoggingConfig")),
    ("log_lines_are_deleted_in_time", without(properties("ApiLogs"), "RetentionInDays")),
    ("each_function_has_an_alarm_on_its_errors", lambda t: t["Resources"].pop("WorkerErrorsAlarm")),
    ("each_function_has_an_alarm_on_its_errors", lambda t: properties("IngressErrorsAlarm")(t)["Metrics"].pop()),
    ("each_alarm_notifies_the_topic_and_names_a_runbook_section", without(properties("CostAlarm"), "AlarmActions")),
    ("each_alarm_notifies_the_topic_and_names_a_runbook_section", without(properties("CostAlarm"), "TreatMissingData")),
    (
        "each_alarm_notifies_the_topic_and_names_a_runbook_section",
        setting(properties("CostAlarm"), "AlarmDescription", "Dear."),
    ),
    ("the_runbook_has_a_section_for_each_alarm", lambda t: t["Resources"].pop("CostAlarm")),
    ("state_is_kept", without(resource("Table"), "DeletionPolicy")),
    ("state_is_kept", setting(resource("Bucket"), "UpdateReplacePolicy", "Delete")),
    ("state_is_kept", without(properties("Table"), "PointInTimeRecoverySpecification")),
    ("state_is_kept", without(properties("Table"), "DeletionProtectionEnabled")),
    ("state_is_encrypted_and_closed", without(properties("Table"), "SSESpecification")),
    ("state_is_encrypted_and_closed", without(properties("Queue"), "SqsManagedSseEnabled")),
    ("state_is_encrypted_and_closed", without(properties("Bucket"), "PublicAccessBlockConfiguration")),
    ("state_is_encrypted_and_closed", lambda t: t["Resources"].pop("BucketPolicy")),
    ("asynchronous_work_has_a_dead_letter_destination", setting(properties("Queue"), "VisibilityTimeout", 900)),
    ("asynchronous_work_has_a_dead_letter_destination", without(properties("Queue"), "RedrivePolicy")),
    (
        "asynchronous_work_has_a_dead_letter_destination",
        setting(properties("DeadLetters"), "MessageRetentionPeriod", 60),
    ),
    ("asynchronous_work_has_a_dead_letter_destination", without(properties("ScheduleFunction"), "EventInvokeConfig")),
    (
        "asynchronous_work_has_a_dead_letter_destination",
        lambda t: properties("WorkerFunction")(t)["Events"]["QueueMessages"]["Properties"].pop("FunctionResponseTypes"),
    ),
    (
        "asynchronous_work_has_a_dead_letter_destination",
        lambda t: properties("WorkerFunction")(t)["Events"]["QueueMessages"]["Properties"].pop("ScalingConfig"),
    ),
    (
        "asynchronous_work_has_a_dead_letter_destination",
        lambda t: properties("WorkerFunction")(t)["Environment"]["Variables"].pop("GOFER_OFFERS_URL"),
    ),
    ("http_api_is_throttled_and_logs_no_contents", without(properties("Api"), "DefaultRouteSettings")),
    ("http_api_is_throttled_and_logs_no_contents", without(properties("Api"), "AccessLogSettings")),
    (
        "http_api_is_throttled_and_logs_no_contents",
        lambda t: properties("Api")(t)["AccessLogSettings"].update(Format="$context.path $context.identity.sourceIp"),
    ),
    (
        "functions_run_on_the_runtime_of_their_packages",
        setting(properties("SlackFunction"), "Architectures", ["x86_64"]),
    ),
    (
        "functions_run_on_the_runtime_of_their_packages",
        setting(properties("SlackFunction"), "ReservedConcurrentExecutions", 5),
    ),
    (
        "roles_are_assumed_only_by_intended_principals",
        lambda t: trust("PublishRole")(t)["Condition"].pop("StringEquals"),
    ),
    (
        "roles_are_assumed_only_by_intended_principals",
        lambda t: trust("WorkerRole")(t).update(Principal={"AWS": "*"}),
    ),
]


@pytest.mark.parametrize(("rule", "broken"), BROKEN)
def test_broken_template_rule_is_found(rule: str, broken: Callable[[Json], object]) -> None:
    template = written()
    broken(template)
    assert RULES[rule](transformed(template)) != []


def test_each_template_rule_has_a_broken_example() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)
