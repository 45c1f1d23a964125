"""The template is what docs/deploy.md promises: linted as written and as CloudFormation gets it, and nobody may too much."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from cfnlint.api import ManualArgs, lint_file

from cloud_rules import RULES, functions, role
from cloud_template import ROOT, TEMPLATE, Json, listed, mentions, of_type, permissions, spelled, transformed, written
from gofer.bootstrap.doors import PATHS
from gofer.bootstrap.settings import read_settings
from gofer.triggers import slack_actions

CLOUD = transformed()


def lint(path: Path) -> list[str]:
    return [str(match) for match in lint_file(path, ManualArgs(regions=["eu-west-1"]))]


def test_the_template_is_clean_as_it_is_written() -> None:
    assert lint(TEMPLATE) == []


def test_the_template_is_clean_as_cloudformation_gets_it(tmp_path: Path) -> None:
    (tmp_path / "template.json").write_text(json.dumps(CLOUD))
    assert lint(tmp_path / "template.json") == []


def test_what_only_shows_after_the_transform_is_found(tmp_path: Path) -> None:
    template = written()
    template["Resources"]["WorkerFunction"]["Properties"]["Events"]["Doorbells"]["Properties"]["Queue"] = {
        "Fn::GetAtt": ["Kueue", "Arn"]
    }
    (tmp_path / "template.json").write_text(json.dumps(transformed(template)))
    assert any("Kueue" in found for found in lint(tmp_path / "template.json"))


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_holds(rule: str) -> None:
    assert RULES[rule](CLOUD) == []


def properties(name: str) -> Callable[[Json], Json]:
    return lambda template: template["Resources"][name]["Properties"]


def statements(name: str) -> Callable[[Json], list[Json]]:
    return lambda template: template["Resources"][name]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]


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
        "no_role_has_a_policy_of_somebody_else",
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
    ("each_alarm_tells_somebody_and_names_its_section", without(properties("CostAlarm"), "AlarmActions")),
    ("each_alarm_tells_somebody_and_names_its_section", without(properties("CostAlarm"), "TreatMissingData")),
    ("each_alarm_tells_somebody_and_names_its_section", setting(properties("CostAlarm"), "AlarmDescription", "Dear.")),
    ("the_runbook_has_a_section_for_each_alarm", lambda t: t["Resources"].pop("CostAlarm")),
    ("state_is_kept", without(resource("Table"), "DeletionPolicy")),
    ("state_is_kept", setting(resource("Bucket"), "UpdateReplacePolicy", "Delete")),
    ("state_is_kept", without(properties("Table"), "PointInTimeRecoverySpecification")),
    ("state_is_kept", without(properties("Table"), "DeletionProtectionEnabled")),
    ("state_is_encrypted_and_closed", without(properties("Table"), "SSESpecification")),
    ("state_is_encrypted_and_closed", without(properties("Queue"), "SqsManagedSseEnabled")),
    ("state_is_encrypted_and_closed", without(properties("Bucket"), "PublicAccessBlockConfiguration")),
    ("state_is_encrypted_and_closed", lambda t: t["Resources"].pop("BucketPolicy")),
    ("nothing_asynchronous_is_lost", setting(properties("Queue"), "VisibilityTimeout", 900)),
    ("nothing_asynchronous_is_lost", without(properties("Queue"), "RedrivePolicy")),
    ("nothing_asynchronous_is_lost", setting(properties("DeadLetters"), "MessageRetentionPeriod", 60)),
    ("nothing_asynchronous_is_lost", without(properties("ScheduleFunction"), "EventInvokeConfig")),
    (
        "nothing_asynchronous_is_lost",
        lambda t: properties("WorkerFunction")(t)["Events"]["Doorbells"]["Properties"].pop("FunctionResponseTypes"),
    ),
    (
        "nothing_asynchronous_is_lost",
        lambda t: properties("WorkerFunction")(t)["Events"]["Doorbells"]["Properties"].pop("ScalingConfig"),
    ),
    ("the_front_is_throttled_and_logs_no_words", without(properties("Api"), "DefaultRouteSettings")),
    ("the_front_is_throttled_and_logs_no_words", without(properties("Api"), "AccessLogSettings")),
    (
        "the_front_is_throttled_and_logs_no_words",
        lambda t: properties("Api")(t)["AccessLogSettings"].update(Format="$context.path $context.identity.sourceIp"),
    ),
    ("functions_run_where_they_were_built_for", setting(properties("SlackFunction"), "Architectures", ["x86_64"])),
    (
        "functions_run_where_they_were_built_for",
        setting(properties("SlackFunction"), "ReservedConcurrentExecutions", 5),
    ),
    (
        "only_the_services_that_are_meant_take_a_role",
        lambda t: properties("WorkerRole")(t)["AssumeRolePolicyDocument"]["Statement"][0].update(
            Principal={"AWS": "*"}
        ),
    ),
]


@pytest.mark.parametrize(("rule", "broken"), BROKEN)
def test_each_rule_finds_what_breaks_it(rule: str, broken: Callable[[Json], object]) -> None:
    template = written()
    broken(template)
    assert RULES[rule](transformed(template)) != []


def test_each_rule_is_tried() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)


# --- Which functions there are, and what each is told and let -------------------------------------------------------

HANDLERS = {"slack", "jira", "notion", "github", "webhook", "schedule", "worker", "dashboard"}


def test_each_handler_has_a_function_and_each_function_a_handler() -> None:
    there = {path.stem for path in (ROOT / "handlers").glob("*.py")} - {"__init__"}
    named = {function["Handler"] for function in functions(CLOUD).values()}
    assert there == HANDLERS
    assert named == {f"handlers/{name}.handler" for name in there}


def test_each_function_is_built_by_its_target_in_the_makefile() -> None:
    built = {name for name, one in written()["Resources"].items() if one["Type"] == "AWS::Serverless::Function"}
    assert built == {f"{name.capitalize()}Function" for name in HANDLERS}
    for name in built:
        assert written()["Resources"][name]["Metadata"] == {"BuildMethod": "makefile"}
    assert "\nbuild-%:" in (ROOT / "Makefile").read_text()


def test_the_same_variables_are_told_to_every_function() -> None:
    told = {
        "GOFER_STAGE": "Stage",
        "GOFER_PARAMETERS": "/gofer/Stage/",
        "GOFER_TABLE": "Table",
        "GOFER_BUCKET": "Bucket",
        "GOFER_QUEUE_URL": "Queue",
        "GOFER_DEAD_LETTER_URL": "DeadLetters",
        "AGENT_LOG_LEVEL": "LogLevel",
        "POWERTOOLS_SERVICE_NAME": "gofer-Stage",
        "POWERTOOLS_METRICS_NAMESPACE": "Gofer",
    }
    # Translated for one stage: its name stands where the parameter stood.
    for function in functions(CLOUD).values():
        variables = {name: spelled(value) for name, value in function["Environment"]["Variables"].items()}
        assert variables == told


ACCEPT: Mapping[str, set[str]] = {
    "dynamodb:GetItem": {"Table.Arn"},
    "dynamodb:PutItem": {"Table.Arn"},
    "dynamodb:Query": {"Table.Arn"},
    "sqs:SendMessage": {"Queue.Arn"},
    "s3:GetObject": {"Bucket.Arn/bundles/*"},
    "s3:ListBucket": {"Bucket.Arn"},
}
BOTH = {"Bucket.Arn/blobs/*", "Bucket.Arn/bundles/*"}
QUERIED = {"Table.Arn", "Table.Arn/index/sweep"}
LET: Mapping[str, Mapping[str, set[str]]] = {
    "SlackFunction": {**ACCEPT, "dynamodb:Query": QUERIED, "dynamodb:BatchGetItem": {"Table.Arn"}},
    "JiraFunction": ACCEPT,
    "NotionFunction": ACCEPT,
    "GithubFunction": ACCEPT,
    "WebhookFunction": ACCEPT,
    "ScheduleFunction": {
        **ACCEPT,
        "dynamodb:Query": QUERIED,
        **{
            f"dynamodb:{name}": {"Table.Arn"} for name in ("BatchGetItem", "BatchWriteItem", "DeleteItem", "UpdateItem")
        },
        "s3:GetObject": BOTH,
        "s3:DeleteObject": {"Bucket.Arn/blobs/*"},
        "sqs:SendMessage": {"Queue.Arn", "ScheduleDeadLetters.Arn"},
        **{f"sqs:{name}Message": {"DeadLetters.Arn"} for name in ("Receive", "Delete")},
        "sqs:ChangeMessageVisibility": {"DeadLetters.Arn"},
    },
    "WorkerFunction": {
        **{f"dynamodb:{name}": {"Table.Arn"} for name in ("GetItem", "PutItem", "UpdateItem", "DeleteItem")},
        **{f"dynamodb:{name}": {"Table.Arn"} for name in ("BatchGetItem", "BatchWriteItem")},
        "dynamodb:Query": QUERIED,
        **{f"sqs:{name}Message": {"Queue.Arn"} for name in ("Receive", "Delete")},
        "sqs:ChangeMessageVisibility": {"Queue.Arn"},
        "sqs:GetQueueAttributes": {"Queue.Arn"},
        "sqs:SendMessage": {"Queue.Arn", "DeadLetters.Arn"},
        "s3:GetObject": BOTH,
        "s3:PutObject": {"Bucket.Arn/blobs/*"},
        "s3:DeleteObject": {"Bucket.Arn/blobs/*"},
        "s3:ListBucket": {"Bucket.Arn"},
    },
    "DashboardFunction": {
        "dynamodb:BatchGetItem": {"Table.Arn"},
        "dynamodb:GetItem": {"Table.Arn"},
        "dynamodb:Query": QUERIED,
        "s3:GetObject": BOTH,
        "s3:ListBucket": {"Bucket.Arn"},
    },
}


@pytest.mark.parametrize("function", sorted(functions(CLOUD)))
def test_each_function_may_do_what_it_does_and_nothing_else(function: str) -> None:
    allowed = permissions(CLOUD, role(functions(CLOUD)[function]))
    assert {action: of for action, of in allowed.items() if not action.startswith(("logs:", "ssm:"))} == LET[function]


def granted(function: str) -> set[str]:
    """The settings that a function may read from Parameter Store."""
    allowed = permissions(CLOUD, role(functions(CLOUD)[function]))
    assert allowed["ssm:GetParameters"] == allowed["ssm:GetParameter"]
    return {one.removeprefix("ssm:parameter/gofer/Stage/") for one in allowed["ssm:GetParameters"]}


def test_no_door_reads_the_tokens_of_workers_or_the_secret_of_another_door() -> None:
    for function in ("SlackFunction", "JiraFunction", "NotionFunction", "GithubFunction", "WebhookFunction"):
        own = function.removesuffix("Function").upper()
        others = {name for name in granted(function) if not name.startswith(own)} - {"INSTALLATION_KEY"}
        assert others == set()
        assert not any("TOKEN" in name or "OPENAI" in name for name in granted(function))


class Heard(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.names.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(("WEBHOOK_SECRET",))

    def __getitem__(self, key: str) -> str:
        return "x"


ELSEWHERE = {"GOFER_DATA", "SLACK_APP_TOKEN", "AGENT_LOG_LEVEL"}
"""Settings of one machine, and what functions are told by variables."""


def test_every_setting_that_is_read_can_be_given_to_the_functions_that_need_it() -> None:
    heard = Heard()
    read_settings(heard)
    reachable = set[str]().union(*map(granted, functions(CLOUD)))
    assert heard.names - ELSEWHERE - reachable == set()
    # None of them may read the list: a name that is granted is one that is read.
    assert reachable - heard.names <= {"INSTALLATION_KEY", "WEBHOOK_SECRET", "WEBHOOK_SECRET_*"}


# --- The way in -----------------------------------------------------------------------------------------------------


def routes() -> dict[str, str]:
    """The function behind each method and path of the API."""
    (api,) = of_type(CLOUD, "AWS::ApiGatewayV2::Api").values()
    return {
        f"{method.upper()} {path}": next(
            iter(mentions(told["x-amazon-apigateway-integration"]["uri"]) & {*functions(CLOUD)})
        )
        for path, methods in api["Body"]["paths"].items()
        for method, told in methods.items()
    }


def test_each_source_reaches_its_door_where_it_would_on_one_machine() -> None:
    doors = {f"POST {path}": f"{source.capitalize()}Function" for source, path in PATHS.items()}
    pages = {f"GET {path}": "DashboardFunction" for path in ("/", "/healthz", "/{proxy+}")}
    others = {f"POST {slack_actions.PATH}": "SlackFunction", "POST /hooks/{name}": "WebhookFunction"}
    assert routes() == doors | others | pages


def test_sweeps_and_purges_are_begun_and_the_published_schedules_stand_apart() -> None:
    schedules = of_type(CLOUD, "AWS::Scheduler::Schedule").values()
    told = {one["Target"]["Input"]: one["ScheduleExpression"] for one in schedules}
    assert told == {'{"sweep": true}': "rate(1 minutes)", '{"purge": true}': "cron(17 3 * * ? *)"}
    assert {spelled(one["GroupName"]) for one in schedules} == {"HouseScheduleGroup"}
    assert spelled(CLOUD["Outputs"]["ScheduleGroup"]["Value"]) == "ScheduleGroup"
    allowed = permissions(CLOUD, "SchedulerRole")
    assert allowed == {
        "lambda:InvokeFunction": {"ScheduleFunction.Arn"},
        "sqs:SendMessage": {"ScheduleDeadLetters.Arn"},
    }


def test_the_worker_is_given_up_for_dead_only_after_it_had_to_hand_over() -> None:
    timeout = functions(CLOUD)["WorkerFunction"]["Timeout"]
    alarm = of_type(CLOUD, "AWS::CloudWatch::Alarm")["WorkerTimeoutsAlarm"]
    assert (timeout - 8) * 1000 < alarm["Threshold"] < timeout * 1000


def test_the_table_has_the_keys_of_the_store() -> None:
    (table,) = of_type(CLOUD, "AWS::DynamoDB::Table").values()
    keys = [[key["AttributeName"] for key in one["KeySchema"]] for one in (table, *table["GlobalSecondaryIndexes"])]
    assert keys == [["pk", "sk"], ["gsi_pk", "gsi_sk"]]
    assert table["GlobalSecondaryIndexes"][0]["IndexName"] == "sweep"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["BillingMode"] == "PAY_PER_REQUEST"


# --- What an operator gets ------------------------------------------------------------------------------------------


def test_every_output_that_an_operator_needs_is_there_and_described() -> None:
    outputs = CLOUD["Outputs"]
    doors = {"SlackEventsUrl", "SlackInteractivityUrl", "JiraWebhookUrl", "NotionWebhookUrl", "GithubWebhookUrl"}
    state = {"Table", "Bucket", "QueueUrl", "DeadLetterUrl", "ScheduleDeadLetterUrl", "Parameters", "LogGroups"}
    others = {"Url", "DashboardUrl", "HooksUrl", "AlarmTopicArn", "ScheduleGroup", "ScheduleRole", "ScheduleTarget"}
    assert set(outputs) == doors | state | others
    assert all(output.get("Description") for output in outputs.values())


def test_the_command_line_finds_everything_below_the_prefix_of_a_stage() -> None:
    names = {spelled(one["Name"]) for one in of_type(CLOUD, "AWS::SSM::Parameter").values()}
    own = {"STAGE", "TABLE", "BUCKET", "QUEUE_URL", "DEAD_LETTER_URL", "URL"}
    own |= {"SCHEDULE_GROUP", "SCHEDULE_ROLE", "SCHEDULE_TARGET"}
    assert names == {f"/gofer/Stage/GOFER_{name}" for name in own}


def test_no_secret_is_a_parameter_of_the_stack() -> None:
    for name, parameter in written()["Parameters"].items():
        assert parameter.get("Description"), name
        assert not {"token", "secret", "key", "password"} & set(name.lower().split("_"))
    assert len(listed(written()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"])) == 3
