"""Functions of the template: variables, permissions, routes, schedules, alarms and outputs."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from datetime import date

import pytest

from gofer.app.functions import dashboard, schedule, worker
from gofer.app.functions.dashboard import count_refusal
from gofer.app.functions.parameters import KEY, SYSTEMS
from gofer.app.functions.refused_deliveries import count_refused
from gofer.app.functions.schedule import measuring_tokens
from gofer.app.functions.worker import measure, measure_drift, measure_outage, measure_start
from gofer.app.functions.worker_batch import LEAVE
from gofer.app.pages.signed_in_readers import SIGN_OUT
from gofer.app.settings import read_settings
from gofer.app.source_template import source_resources
from gofer.engine.drift import Drift
from gofer.journal.check_entries import RunChecked, Verdict
from gofer.journal.entries import RunStarted
from gofer.journal.unlisted_ends import Ends
from gofer.projections.progress import Progress
from gofer.runtime.run_reports import Ended
from gofer.sources.receivers import BY_SOURCE, PATHS
from gofer.sources.slack import interactivity
from gofer.sources.slack.page_requests import SlackRefused
from gofer.stores.aws.journal import KEYS_TABLE, TABLE
from support.aws import moto_server
from support.aws.template import (
    ROOT,
    Json,
    for_moto,
    listed,
    mentions,
    of_type,
    permissions,
    spelled,
    transformed,
    written,
)
from support.aws.template_rules import functions, role

CLOUD = transformed()
HANDLERS = {*PATHS, "webhook", "schedule", "worker", "dashboard"}


def test_handlers_and_functions_of_the_template_match() -> None:
    there = {path.stem for path in (ROOT / "handlers").glob("*.py")} - {"__init__"}
    named = {function["Handler"] for function in functions(CLOUD).values()}
    assert there == HANDLERS
    assert named == {f"handlers/{name}.handler" for name in there}


@pytest.mark.parametrize("source", ["jira", "github"])
def test_printed_source_resources_occur_in_the_template(source: str) -> None:
    assert source_resources(BY_SOURCE[source]) in (ROOT / "template.yaml").read_text()


def test_function_is_built_by_a_make_target() -> None:
    built = {name for name, one in written()["Resources"].items() if one["Type"] == "AWS::Serverless::Function"}
    assert built == {f"{name.capitalize()}Function" for name in HANDLERS}
    for name in built:
        assert written()["Resources"][name]["Metadata"] == {"BuildMethod": "makefile"}
    assert "\nbuild-%:" in (ROOT / "Makefile").read_text()


def test_functions_have_the_same_variables_and_the_worker_its_slots() -> None:
    told = {
        "GOFER_STAGE": "Stage",
        "GOFER_PARAMETERS": "/gofer/Stage/",
        "GOFER_TABLE": "Table",
        "GOFER_KEYS_TABLE": "KeysTable",
        "GOFER_BUCKET": "Bucket",
        "GOFER_QUEUE_URL": "Queue",
        "GOFER_DEAD_LETTER_URL": "DeadLetters",
        "AGENT_LOG_LEVEL": "LogLevel",
        "POWERTOOLS_SERVICE_NAME": "gofer-Stage",
        "POWERTOOLS_METRICS_NAMESPACE": "Gofer",
    }
    # Transformed for one stage: its name replaces the parameter.
    for name, function in functions(CLOUD).items():
        own = {}
        if name == "WorkerFunction":
            own = {"GOFER_CONCURRENCY": "BatchSize", "GOFER_OFFERS_URL": "Offers"}
        variables = {name: spelled(value) for name, value in function["Environment"]["Variables"].items()}
        assert variables == {**told, **own}


ACCEPT: Mapping[str, set[str]] = {
    "dynamodb:GetItem": {"Table.Arn", "KeysTable.Arn"},
    "dynamodb:PutItem": {"Table.Arn", "KeysTable.Arn"},
    "dynamodb:Query": {"Table.Arn"},
    "sqs:SendMessage": {"Queue.Arn"},
    "s3:GetObject": {"Bucket.Arn/bundles/*"},
    "s3:ListBucket": {"Bucket.Arn"},
    "s3:PutObject": {"Bucket.Arn/blobs/*"},
}
BOTH = {"Bucket.Arn/blobs/*", "Bucket.Arn/bundles/*"}
QUERIED = {"Table.Arn", "Table.Arn/index/sweep"}
LET: Mapping[str, Mapping[str, set[str]]] = {
    **{f"{source.capitalize()}Function": ACCEPT for source in PATHS},
    "SlackFunction": {**ACCEPT, "dynamodb:Query": QUERIED, "dynamodb:BatchGetItem": {"Table.Arn"}},
    "WebhookFunction": {**ACCEPT, "s3:GetObject": BOTH},
    "ScheduleFunction": {
        **ACCEPT,
        "dynamodb:Query": QUERIED,
        **{f"dynamodb:{name}": {"Table.Arn"} for name in ("BatchGetItem", "BatchWriteItem", "UpdateItem")},
        "dynamodb:DeleteItem": {"Table.Arn", "KeysTable.Arn"},
        "s3:GetObject": BOTH,
        "s3:DeleteObject": {"Bucket.Arn/blobs/*"},
        "sqs:SendMessage": {"Queue.Arn", "ScheduleDeadLetters.Arn"},
        **{f"sqs:{name}Message": {"DeadLetters.Arn"} for name in ("Receive", "Delete")},
        "sqs:ChangeMessageVisibility": {"DeadLetters.Arn"},
    },
    "WorkerFunction": {
        **{f"dynamodb:{name}": {"Table.Arn"} for name in ("PutItem", "UpdateItem", "BatchGetItem", "BatchWriteItem")},
        **{f"dynamodb:{name}": {"Table.Arn", "KeysTable.Arn"} for name in ("GetItem", "DeleteItem")},
        "dynamodb:Query": QUERIED,
        **{f"sqs:{name}Message": {"Queue.Arn", "Offers.Arn"} for name in ("Receive", "Delete")},
        "sqs:ChangeMessageVisibility": {"Queue.Arn"},
        "sqs:GetQueueAttributes": {"Queue.Arn"},
        "sqs:SendMessage": {"Queue.Arn", "DeadLetters.Arn", "Offers.Arn"},
        "s3:GetObject": BOTH,
        "s3:PutObject": {"Bucket.Arn/blobs/*"},
        "s3:DeleteObject": {"Bucket.Arn/blobs/*"},
        "s3:ListBucket": {"Bucket.Arn"},
    },
    "DashboardFunction": {
        "dynamodb:BatchGetItem": {"Table.Arn"},
        "dynamodb:GetItem": {"Table.Arn", "KeysTable.Arn"},
        "dynamodb:PutItem": {"Table.Arn"},
        "dynamodb:UpdateItem": {"Table.Arn"},
        "dynamodb:Query": QUERIED,
        "sqs:SendMessage": {"Queue.Arn"},
        "s3:GetObject": BOTH,
        "s3:ListBucket": {"Bucket.Arn"},
    },
}


@pytest.mark.parametrize("function", sorted(functions(CLOUD)))
def test_function_role_has_exactly_the_needed_permissions(function: str) -> None:
    allowed = permissions(CLOUD, role(functions(CLOUD)[function]))
    assert {action: of for action, of in allowed.items() if not action.startswith(("logs:", "ssm:"))} == LET[function]


def granted(function: str) -> set[str]:
    """Return the settings that a function may read from Parameter Store."""
    allowed = permissions(CLOUD, role(functions(CLOUD)[function]))
    assert allowed["ssm:GetParameters"] == allowed["ssm:GetParameter"]
    return {one.removeprefix("ssm:parameter/gofer/Stage/") for one in allowed["ssm:GetParameters"]}


def test_receiver_reads_neither_worker_tokens_nor_secrets_of_other_receivers() -> None:
    for function in (f"{source.capitalize()}Function" for source in (*PATHS, "webhook")):
        own = function.removesuffix("Function").upper()
        others = {name for name in granted(function) if not name.startswith(own)} - {"INSTALLATION_KEY"}
        assert others == set()
        assert not any("TOKEN" in name or "OPENAI" in name for name in granted(function))


def asked_by(handler: str) -> set[str]:
    """Return the parameters that the code of a function reads."""
    match handler:
        case "worker":
            return {*SYSTEMS, "MODEL_KEY_*"}
        case "dashboard":
            return set(dashboard.NAMES)
        case "schedule":
            return set(schedule.NAMES)
        case "webhook":
            return {KEY, "WEBHOOK_SECRET", "WEBHOOK_SECRET_*"}
        case _:
            return {KEY, *(setting.name for setting in BY_SOURCE[handler].receives_with)}


@pytest.mark.parametrize("handler", sorted(HANDLERS))
def test_function_may_read_exactly_the_settings_in_use(handler: str) -> None:
    assert granted(f"{handler.capitalize()}Function") == asked_by(handler)


class Heard(dict[str, str]):
    """An environment that records the names that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.names.add(key)
        return super().get(key, default)


PROXIES = {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"}
ELSEWHERE = {
    "GOFER_ALARMS",
    "GOFER_CONCURRENCY",
    "GOFER_DATA",
    "SLACK_APP_TOKEN",
    "AGENT_LOG_LEVEL",
    "OTEL_SDK_DISABLED",
    *PROXIES,
}
"""Settings of one machine, and those that functions get as variables."""


def test_each_setting_is_readable_by_a_function() -> None:
    heard = Heard()
    read_settings(heard)
    reachable = set[str]().union(*map(granted, functions(CLOUD)))
    names = {name for name in heard.names - ELSEWHERE if not name.endswith("_PROTOCOL")}
    assert names - reachable == set()
    assert reachable - names == {KEY, "WEBHOOK_SECRET", "WEBHOOK_SECRET_*", "MODEL_KEY_*"}


# --- Routes and schedules -------------------------------------------------------------------------------------------


def routes() -> dict[str, str]:
    """Return the function behind each method and path of the API."""
    (api,) = of_type(CLOUD, "AWS::ApiGatewayV2::Api").values()
    return {
        f"{method.upper()} {path}": next(
            iter(mentions(told["x-amazon-apigateway-integration"]["uri"]) & {*functions(CLOUD)})
        )
        for path, methods in api["Body"]["paths"].items()
        for method, told in methods.items()
    }


HOOKS = "X-AMAZON-APIGATEWAY-ANY-METHOD /hooks/{name}"
"""The route of webhooks. Senders test an address with GET and HEAD too."""


def test_api_routes_on_aws_equal_the_paths_of_the_embedded_server() -> None:
    receivers = {f"POST {path}": f"{source.capitalize()}Function" for source, path in PATHS.items()}
    pages = {f"GET {path}": "DashboardFunction" for path in ("/", "/healthz", "/{proxy+}")}
    pages |= {f"POST {path}": "DashboardFunction" for path in (SIGN_OUT, "/runs/{run}/feedback")}
    others = {f"POST {interactivity.PATH}": "SlackFunction", HOOKS: "WebhookFunction"}
    assert routes() == receivers | others | pages


def test_sweep_and_purge_schedules_are_separate_from_published_ones() -> None:
    schedules = of_type(CLOUD, "AWS::Scheduler::Schedule").values()
    told = {one["Target"]["Input"]: one["ScheduleExpression"] for one in schedules}
    assert told == {'{"sweep": true}': "rate(1 minutes)", '{"purge": true}': "cron(17 3 * * ? *)"}
    assert {spelled(one["GroupName"]) for one in schedules} == {"OwnScheduleGroup"}
    assert spelled(CLOUD["Outputs"]["ScheduleGroup"]["Value"]) == "ScheduleGroup"
    allowed = permissions(CLOUD, "SchedulerRole")
    assert allowed == {
        "lambda:InvokeFunction": {"ScheduleFunction.Arn"},
        "sqs:SendMessage": {"ScheduleDeadLetters.Arn"},
    }


def test_worker_timeout_alarm_fires_only_after_the_hand_over_time() -> None:
    timeout = functions(CLOUD)["WorkerFunction"]["Timeout"]
    alarm = of_type(CLOUD, "AWS::CloudWatch::Alarm")["WorkerTimeoutsAlarm"]
    assert (timeout - LEAVE / 2) * 1000 < alarm["Threshold"] < timeout * 1000


def test_sqs_receive_limit_equals_that_of_the_worker() -> None:
    assert of_type(CLOUD, "AWS::SQS::Queue")["Queue"]["RedrivePolicy"]["maxReceiveCount"] == worker.RECEIVES


def test_template_tables_equal_the_table_schema_of_the_store() -> None:
    tables = of_type(CLOUD, "AWS::DynamoDB::Table")
    table = tables["Table"]
    assert {key: table[key] for key in TABLE} == TABLE
    assert {key: tables["KeysTable"][key] for key in KEYS_TABLE} == KEYS_TABLE
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_deployed_functions_name_the_deployed_tables_and_bucket() -> None:
    cloud, code = moto_server.client("cloudformation"), moto_server.new_bucket()
    archive = io.BytesIO()
    zipfile.ZipFile(archive, "w").close()
    moto_server.client("s3").put_object(Bucket=code, Key="code.zip", Body=archive.getvalue())
    body = json.dumps(for_moto(transformed(stage="moto"))).replace('"artifacts"', json.dumps(code))
    given = [{"ParameterKey": "Stage", "ParameterValue": "moto"}]
    cloud.create_stack(StackName="gofer-moto", TemplateBody=body, Parameters=given, Capabilities=["CAPABILITY_IAM"])
    found = moto_server.client("ssm").get_parameters_by_path(Path="/gofer/moto/")["Parameters"]
    named = {one["Name"].rpartition("/")[2]: one["Value"] for one in found}
    made = [
        one for one in moto_server.client("lambda").list_functions()["Functions"] if "gofer-moto" in one["FunctionName"]
    ]
    assert {one["Handler"] for one in made} == {f"handlers/{name}.handler" for name in HANDLERS}
    for one in made:
        told = one["Environment"]["Variables"]
        assert [name for name in named if told.get(name, named[name]) != named[name]] == []
        assert moto_server.client("dynamodb").describe_table(TableName=told["GOFER_TABLE"])
        assert moto_server.client("dynamodb").describe_table(TableName=told["GOFER_KEYS_TABLE"])
        assert moto_server.client("s3").head_bucket(Bucket=told["GOFER_BUCKET"])


def watched_by(alarm: Json) -> list[Json]:
    """Return the metrics that an alarm is paid for."""
    if "Metrics" not in alarm:
        return [alarm]
    return [one["MetricStat"]["Metric"] for one in alarm["Metrics"] if "MetricStat" in one]


def test_document_names_the_number_of_paid_metrics_of_alarms() -> None:
    alarms = of_type(CLOUD, "AWS::CloudWatch::Alarm").values()
    number = sum(len(watched_by(alarm)) for alarm in alarms)
    assert f"the {number} metrics that alarms watch" in (ROOT / "docs" / "deploy.md").read_text()


def test_run_alarms_use_the_emitted_metrics_and_dimensions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = spelled(functions(CLOUD)["WorkerFunction"]["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"])
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service)
    for trouble in ("poison", "corrupt"):
        progress = Progress(
            started=RunStarted("b", private=False),
            cost_usd=0.25,
            checked=RunChecked((Verdict("no-tool-loops", passed=False),)),
        )
        unlisted = Ends(0, "begin", "outage", "Slack", 1)
        measure(Ended("needs_attention", 1.0, progress, trouble, unlisted, is_private=False))
    measure(Ended("done", 1.0, Progress(cost_usd=None)))
    measure_start(1.0)
    measure_outage()
    count_refused(1)
    measure_drift(Drift("run1", "answer-here", "full", 0.93, 48_000, 0))
    measuring_tokens({"JIRA_API_TOKEN": date(2026, 12, 1)})(0.0)
    count_refusal(SlackRefused("users.info", "invalid_auth"))
    said: dict[str, dict[str, str]] = {}
    for line in map(json.loads, capsys.readouterr().out.splitlines()):
        (told,) = line["_aws"]["CloudWatchMetrics"]
        (dimensions,) = told["Dimensions"]
        said |= {one["Name"]: {name: line[name] for name in dimensions} for one in told["Metrics"]}
        assert told["Namespace"] == "Gofer"
    alarms = of_type(CLOUD, "AWS::CloudWatch::Alarm").values()
    watched = [metric for alarm in alarms for metric in watched_by(alarm)]
    heard = {metric["MetricName"]: metric["Dimensions"] for metric in watched if metric["Namespace"] == "Gofer"}
    assert set(heard) == {
        *("PoisonRuns", "CorruptRuns", "CheckErrors", "TokenExpiresInDays", "UnlistedEnds"),
        *("ContextDrift", "CostUsd", "SignInRefused", "NotContinued"),
        *("RunFailed", "RefusedDeliveries", "SecondsToBegin", "TokensWithoutCost"),
    }
    for name, dimensions in heard.items():
        assert {one["Name"]: spelled(one["Value"]) for one in dimensions} == said[name] == {"service": service}


# --- Outputs and parameters -----------------------------------------------------------------------------------------


def test_stack_outputs_for_operators_exist_with_descriptions() -> None:
    outputs = CLOUD["Outputs"]
    receivers = {"SlackEventsUrl", "SlackInteractivityUrl", "JiraWebhookUrl", "NotionWebhookUrl", "GithubWebhookUrl"}
    state = {
        "Table",
        "KeysTable",
        "Bucket",
        "QueueUrl",
        "DeadLetterUrl",
        "ScheduleDeadLetterUrl",
        "Parameters",
        "LogGroups",
    }
    others = {"Url", "DashboardUrl", "HooksUrl", "AlarmTopicArn", "ScheduleGroup", "ScheduleRole", "ScheduleTarget"}
    others |= {"PublishPolicyArn", "PublishRoleArn", "OperatorPolicyArn"}
    assert set(outputs) == receivers | state | others
    assert all(output.get("Description") for output in outputs.values())


def test_stage_settings_are_stored_under_the_parameter_prefix() -> None:
    names = {spelled(one["Name"]) for one in of_type(CLOUD, "AWS::SSM::Parameter").values()}
    own = {"STAGE", "TABLE", "KEYS_TABLE", "BUCKET", "QUEUE_URL", "DEAD_LETTER_URL", "URL"}
    own |= {"SCHEDULE_GROUP", "SCHEDULE_ROLE", "SCHEDULE_TARGET"}
    assert names == {f"/gofer/Stage/GOFER_{name}" for name in own}


def test_stack_parameters_are_described_and_not_named_like_secrets() -> None:
    for name, parameter in written()["Parameters"].items():
        assert parameter.get("Description"), name
        # A parameter may set how long something about keys takes, but holds none.
        words = set(re.findall("[A-Z][a-z]*", name))
        assert not {"Token", "Secret", "Password"} & words, name
        assert "Key" not in words or parameter["Type"] == "Number", name
    assert len(listed(written()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"])) == 5
