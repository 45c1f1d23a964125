"""Rules for the template as CloudFormation gets it. Each rule returns its violations as sentences."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from support.aws.template import ROOT, Json, documents, listed, mentions, of_type, permissions, spelled

Rule = Callable[[Json], list[str]]
RUNBOOK = ROOT / "docs" / "runbook.md"
BELOW = re.compile(
    r"Bucket\.Arn/(blobs|bundles)/\*|ssm:parameter/gofer/Stage/(WEBHOOK_SECRET|MODEL_KEY)_\*|scheduler:schedule/(ScheduleGroup|\*)/\*"
)
"""The allowed wildcards: at the end of Gofer's own resources whose names a template cannot know."""
LOGGED = {"requestId", "requestTimeEpoch", "routeKey", "status", "integration.status", "responseLatency"}
"""The fields of the access log, none of which has contents of the sender."""
KEPT = {"AWS::DynamoDB::Table", "AWS::S3::Bucket"}


def functions(template: Json) -> dict[str, Json]:
    """Return the functions by logical id."""
    return of_type(template, "AWS::Lambda::Function")


def role(function: Json) -> str:
    """Return the logical id of a function's role."""
    return spelled(function["Role"]).removesuffix(".Arn")


def no_policy_has_a_wildcard(template: Json) -> list[str]:
    found: list[str] = []
    for name, document in documents(template):
        for statement in document["Statement"]:
            if statement["Effect"] != "Allow":
                continue
            if {"NotAction", "NotResource", "NotPrincipal"} & set(statement) or statement.get("Principal") == "*":
                found.append(f"{name} allows what it does not name")
            found += [f"{name} allows {action}" for action in listed(statement["Action"]) if "*" in action]
            resources = map(spelled, listed(statement.get("Resource", [])))
            found += [f"{name} allows {one}" for one in resources if "*" in one and not BELOW.fullmatch(one)]
    return found


def roles_have_only_policies_of_the_template(template: Json) -> list[str]:
    own = of_type(template, "AWS::IAM::ManagedPolicy")
    return [
        f"{name} has {policy}"
        for name, properties in of_type(template, "AWS::IAM::Role").items()
        for policy in properties.get("ManagedPolicyArns", ())
        if not isinstance(policy, dict) or spelled(policy) not in own
    ]


def each_function_has_a_role_and_a_log_group_of_its_own(template: Json) -> list[str]:
    groups, found = of_type(template, "AWS::Logs::LogGroup"), list[str]()
    roles = [role(properties) for properties in functions(template).values()]
    for name, properties in functions(template).items():
        group = spelled(properties.get("LoggingConfig", {}).get("LogGroup", "none"))
        allowed = permissions(template, role(properties))
        if roles.count(role(properties)) > 1:
            found.append(f"{name} shares its role")
        if "RetentionInDays" not in groups.get(group, {}):
            found.append(f"{name} has no log group with a retention")
        written = allowed.get("logs:PutLogEvents", set()) | allowed.get("logs:CreateLogStream", set())
        if written != {f"{group}.Arn"}:
            found.append(f"{name} writes to {written}")
    return found


def log_lines_are_deleted_in_time(template: Json) -> list[str]:
    groups = of_type(template, "AWS::Logs::LogGroup").items()
    return [f"{name} keeps its lines for ever" for name, group in groups if "RetentionInDays" not in group]


def each_function_has_an_alarm_on_its_errors(template: Json) -> list[str]:
    heard: set[str] = set()
    for properties in of_type(template, "AWS::CloudWatch::Alarm").values():
        metrics = [one.get("MetricStat", {}).get("Metric", {}) for one in properties.get("Metrics", ())]
        for metric in (properties, *metrics):
            if metric.get("Namespace") == "AWS/Lambda" and metric.get("MetricName") == "Errors":
                heard |= mentions(metric["Dimensions"])
    return sorted(set(functions(template)) - heard)


def each_alarm_notifies_the_topic_and_names_a_runbook_section(template: Json) -> list[str]:
    found: list[str] = []
    for name, alarm in of_type(template, "AWS::CloudWatch::Alarm").items():
        told = [*map(spelled, alarm.get("AlarmActions", ())), *map(spelled, alarm.get("OKActions", ()))]
        if told != ["AlarmTopic", "AlarmTopic"]:
            found.append(f"{name} tells nobody")
        if "TreatMissingData" not in alarm:
            found.append(f"{name} does not say what silence means")
        section = section_of(alarm)
        # A source may have an alarm of its own, which ends with its name.
        called = rf'"gofer-\$\{{Stage\}}-{section}(-[a-z]+)?"'
        if not section or not re.search(called, json.dumps(alarm["AlarmName"])):
            found.append(f"{name} names no section of the runbook, or is called otherwise")
    return found


def section_of(alarm: Json) -> str:
    """Return the section of the runbook that an alarm's description names."""
    found = re.search(r"See docs/runbook\.md#([a-z0-9-]+)\.$", alarm.get("AlarmDescription", ""))
    return found.group(1) if found else ""


def the_runbook_has_a_section_for_each_alarm(template: Json, runbook: Path = RUNBOOK) -> list[str]:
    written = re.findall(r"^## ([a-z0-9-]+)$", runbook.read_text(), re.MULTILINE)
    alarms = of_type(template, "AWS::CloudWatch::Alarm").values()
    named = sorted(section_of(alarm) for alarm in alarms)
    names = [json.dumps(alarm["AlarmName"]) for alarm in alarms]
    return sorted(set(named) ^ set(written)) + [name for name in set(names) if names.count(name) > 1]


def state_is_kept(template: Json) -> list[str]:
    found: list[str] = []
    for name, resource in template["Resources"].items():
        if resource["Type"] in KEPT and (
            resource.get("DeletionPolicy") != "Retain" or resource.get("UpdateReplacePolicy") != "Retain"
        ):
            found.append(f"{name} goes with the stack")
    for name, table in of_type(template, "AWS::DynamoDB::Table").items():
        if not table.get("PointInTimeRecoverySpecification", {}).get("PointInTimeRecoveryEnabled"):
            found.append(f"{name} cannot be set back")
        if not table.get("DeletionProtectionEnabled"):
            found.append(f"{name} can be deleted by hand")
    return found


def state_is_encrypted_and_closed(template: Json) -> list[str]:
    found = [
        f"{name} is not encrypted"
        for kind, key in (("AWS::DynamoDB::Table", "SSESpecification"), ("AWS::S3::Bucket", "BucketEncryption"))
        for name, properties in of_type(template, kind).items()
        if key not in properties
    ]
    for name, queue in of_type(template, "AWS::SQS::Queue").items():
        if not queue.get("SqsManagedSseEnabled"):
            found.append(f"{name} is not encrypted")
    policies = of_type(template, "AWS::S3::BucketPolicy").values()
    for name, bucket in of_type(template, "AWS::S3::Bucket").items():
        if list(bucket.get("PublicAccessBlockConfiguration", {}).values()) != [True] * 4:
            found.append(f"{name} is not closed to the public")
        statements = [one for policy in policies if spelled(policy["Bucket"]) == name for one in _statements(policy)]
        if not any(_denies_plain_http(statement, name) for statement in statements):
            found.append(f"{name} can be read without TLS")
    return found


def _statements(policy: Json) -> list[Json]:
    return policy["PolicyDocument"]["Statement"]


def _denies_plain_http(statement: Json, bucket: str) -> bool:
    whom = (statement["Effect"], statement["Principal"], statement["Action"])
    resources = {spelled(resource) for resource in listed(statement["Resource"])}
    plain = statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
    return whom == ("Deny", "*", "s3:*") and resources == {f"{bucket}.Arn", f"{bucket}.Arn/*"} and plain


def asynchronous_work_has_a_dead_letter_destination(template: Json) -> list[str]:
    """Require a dead-letter queue or failure destination of queues, mappings, schedules and asynchronous functions."""
    found: list[str] = []
    queues = of_type(template, "AWS::SQS::Queue")
    for name, mapping in of_type(template, "AWS::Lambda::EventSourceMapping").items():
        queue = queues[spelled(mapping["EventSourceArn"]).removesuffix(".Arn")]
        function = functions(template)[spelled(mapping["FunctionName"])]
        redrive = queue.get("RedrivePolicy", {})
        if redrive.get("maxReceiveCount") != 5 or spelled(redrive.get("deadLetterTargetArn")) != "DeadLetters.Arn":
            found.append(f"{name} has no limit of attempts")
        if queue.get("VisibilityTimeout", 30) < 6 * function["Timeout"]:
            found.append(f"{name} delivers again what is still at work")
        if mapping.get("FunctionResponseTypes") != ["ReportBatchItemFailures"]:
            found.append(f"{name} returns whole batches")
        if "MaximumConcurrency" not in mapping.get("ScalingConfig", {}):
            found.append(f"{name} has no bound")
        if "GOFER_OFFERS_URL" not in function["Environment"]["Variables"]:
            found.append(f"{name} pays for each conversation apart")
        if queues["DeadLetters"].get("MessageRetentionPeriod", 345600) <= queue["MessageRetentionPeriod"]:
            found.append(f"{name} drops abandoned invocations")
    asynchronous = {spelled(s["Target"]["Arn"]) for s in of_type(template, "AWS::Scheduler::Schedule").values()}
    configured = of_type(template, "AWS::Lambda::EventInvokeConfig").values()
    given = {f"{spelled(one['FunctionName'])}.Arn" for one in configured if "OnFailure" in json.dumps(one)}
    return found + [f"{name} forgets what it could not do" for name in asynchronous - given]


def http_api_is_throttled_and_logs_no_contents(template: Json) -> list[str]:
    found: list[str] = []
    for name, stage in of_type(template, "AWS::ApiGatewayV2::Stage").items():
        settings = stage.get("DefaultRouteSettings", {})
        if not {"ThrottlingRateLimit", "ThrottlingBurstLimit"} <= set(settings):
            found.append(f"{name} is not throttled")
        told = set(re.findall(r"\$context\.([a-zA-Z.]+)", stage.get("AccessLogSettings", {}).get("Format", "")))
        if not told or told - LOGGED:
            found.append(f"{name} logs {sorted(told - LOGGED) or 'nothing'}")
    return found


def functions_run_on_the_runtime_of_their_packages(template: Json) -> list[str]:
    return [
        name
        for name, properties in functions(template).items()
        if (properties["Runtime"], properties["Architectures"]) != ("python3.13", ["arm64"])
        # A new account has ten at once in all, and may reserve none.
        or "ReservedConcurrentExecutions" in properties
        or "VpcConfig" in properties
    ]


GITHUB = "token.actions.githubusercontent.com"


def roles_are_assumed_only_by_intended_principals(template: Json) -> list[str]:
    found: list[str] = []
    used = {role(function) for function in functions(template).values()}
    for name, properties in of_type(template, "AWS::IAM::Role").items():
        (statement,) = properties["AssumeRolePolicyDocument"]["Statement"]
        told = {key: spelled(value) for key, value in statement.get("Condition", {}).get("StringEquals", {}).items()}
        match statement["Principal"]:
            case {"Service": "lambda.amazonaws.com"} if name in used:
                good = True
            case {"Service": "scheduler.amazonaws.com"}:
                good = told == {"aws:SourceAccount": "AWS::AccountId"}
            case {"Federated": provider} if str(spelled(provider)).endswith(f":oidc-provider/{GITHUB}"):
                who = {f"{GITHUB}:aud": "sts.amazonaws.com", f"{GITHUB}:sub": "repo:Repository:environment:Stage"}
                good = told == who
            case _:
                good = False
        if not good:
            found.append(f"{name} can be taken by {statement['Principal']}")
    return found


RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        no_policy_has_a_wildcard,
        roles_have_only_policies_of_the_template,
        each_function_has_a_role_and_a_log_group_of_its_own,
        log_lines_are_deleted_in_time,
        each_function_has_an_alarm_on_its_errors,
        each_alarm_notifies_the_topic_and_names_a_runbook_section,
        the_runbook_has_a_section_for_each_alarm,
        state_is_kept,
        state_is_encrypted_and_closed,
        asynchronous_work_has_a_dead_letter_destination,
        http_api_is_throttled_and_logs_no_contents,
        functions_run_on_the_runtime_of_their_packages,
        roles_are_assumed_only_by_intended_principals,
    )
}
