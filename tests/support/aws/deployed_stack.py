"""A program `sam` that deploys a built template.yaml onto moto, which knows no Serverless transform, and deletes it.

`validate` and `build` are those of the real program. `deploy` makes what a guide or a worker names: tables, bucket,
queues, parameters, functions with their event source mapping, groups of schedules, and a stack with its parameters and
outputs. Whatever is there already stays, as in an update.
"""

import io
import json
import os
import re
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError
from samtranslator.yaml_helper import yaml_parse

from support.aws.template import ROOT, Json, of_type

ACCOUNT = "123456789012"
URL = "https://gofer.example.com"
_SUBSTITUTE = re.compile(r"\$\{([^}!]+)\}")
_TABLE = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode", "DeletionProtectionEnabled")


@dataclass(frozen=True)
class Stack:
    """A template with the values of its parameters."""

    name: str
    template: Json
    given: Mapping[str, str]

    def value(self, written: Any) -> Any:
        """Return a value of the template as CloudFormation computes it."""
        match written:
            case {"Ref": str(name)}:
                return self._named(name)
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                return self._named(f"{name}.{attribute}")
            case {"Fn::GetAtt": str(name)}:
                return self._named(name)
            case {"Fn::Sub": str(text)}:
                return _SUBSTITUTE.sub(lambda found: str(self._named(found[1])), text)
            case {"Fn::If": [str(condition), yes, no]}:
                return self.value(yes if self.holds(condition) else no)
            case {"Fn::Not": [one]}:
                return not self.value(one)
            case {"Fn::Equals": [one, other]}:
                return self.value(one) == self.value(other)
            case dict():
                return {key: self.value(one) for key, one in written.items()}
            case list():
                return [self.value(one) for one in written]
            case _:
                return written

    def holds(self, condition: str | None) -> bool:
        return condition is None or bool(self.value(self.template["Conditions"][condition]))

    def made(self, kind: str) -> Mapping[str, Json]:
        """Return the properties of all resources of a type whose condition holds, by logical id."""
        resources = self.template["Resources"]
        found = of_type(self.template, kind)
        return {name: found[name] for name in found if self.holds(resources[name].get("Condition"))}

    def _named(self, words: str) -> Any:
        name, _, attribute = words.partition(".")
        if name in self.given:
            return self.given[name]
        if name.startswith("AWS::"):
            return {"Region": _region(), "AccountId": ACCOUNT, "Partition": "aws"}.get(name[5:], name)
        resource = self.template["Resources"][name]
        properties = resource.get("Properties", {})
        own = properties.get("FunctionName", properties.get("Name"))
        physical = f"{self.name}-{name.lower()}" if own is None else self.value(own)
        match resource["Type"], attribute:
            case "AWS::SSM::Parameter", "Value":
                return self.value(properties["Value"])
            case "AWS::SQS::Queue", "":
                return _client("sqs").get_queue_url(QueueName=physical)["QueueUrl"]
            case "AWS::SQS::Queue", "Arn":
                return f"arn:aws:sqs:{_region()}:{ACCOUNT}:{physical}"
            case "AWS::Serverless::Function", "Arn":
                return f"arn:aws:lambda:{_region()}:{ACCOUNT}:function:{physical}"
            case ("AWS::IAM::Role", "Arn") | ("AWS::IAM::ManagedPolicy", ""):
                return f"arn:aws:iam::{ACCOUNT}:{resource['Type'].rpartition('::')[2].lower()}/{physical}"
            case _:
                return physical


def deploy(stack: Stack) -> None:
    """Make or update what the template names."""
    queues = stack.made("AWS::SQS::Queue")
    for name in queues:
        _client("sqs").create_queue(QueueName=f"{stack.name}-{name.lower()}")
    for name, written in queues.items():
        if redrive := stack.value(written.get("RedrivePolicy", {})):
            place = {"QueueUrl": stack.value({"Ref": name}), "Attributes": {"RedrivePolicy": json.dumps(redrive)}}
            _client("sqs").set_queue_attributes(**place)
    for name, written in stack.made("AWS::DynamoDB::Table").items():
        _once(_table, name=stack.value({"Ref": name}), given=stack.value(written))
    for name in stack.made("AWS::S3::Bucket"):
        _once(_bucket, name=stack.value({"Ref": name}))
    for written in stack.made("AWS::Scheduler::ScheduleGroup").values():
        _once(_client("scheduler").create_schedule_group, Name=stack.value(written["Name"]))
    for written in map(stack.value, stack.made("AWS::SSM::Parameter").values()):
        _client("ssm").put_parameter(**{key: str(written[key]) for key in ("Name", "Type", "Value")}, Overwrite=True)
    for name, written in stack.made("AWS::IAM::Role").items():
        trust = json.dumps(stack.value(written["AssumeRolePolicyDocument"]))
        _once(_client("iam").create_role, RoleName=stack.value({"Ref": name}), AssumeRolePolicyDocument=trust)
    for written in stack.made("AWS::Serverless::Function").values():
        _function(stack, written)
    _record(stack)


def _table(name: str, given: Json) -> None:
    table = _client("dynamodb")
    table.create_table(TableName=name, **{key: given[key] for key in _TABLE if key in given})
    if lifetime := given.get("TimeToLiveSpecification"):
        table.update_time_to_live(TableName=name, TimeToLiveSpecification=lifetime)
    recovery = given["PointInTimeRecoverySpecification"]
    recovery = {**recovery, "RecoveryPeriodInDays": int(recovery["RecoveryPeriodInDays"])}
    table.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)


def _bucket(name: str) -> None:
    _client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": _region()})
    _client("s3").put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})


def _function(stack: Stack, written: Json) -> None:
    shared = stack.template["Globals"]["Function"]
    own = stack.value(written)
    variables = stack.value(shared["Environment"]["Variables"]) | own.get("Environment", {}).get("Variables", {})
    given = {
        "FunctionName": own["FunctionName"],
        "Handler": own["Handler"],
        "Timeout": int(own.get("Timeout", shared["Timeout"])),
        "Environment": {"Variables": {key: str(one) for key, one in variables.items()}},
    }
    archive = io.BytesIO()
    zipfile.ZipFile(archive, "w").close()
    code = {"Runtime": shared["Runtime"], "Role": own["Role"], "Code": {"ZipFile": archive.getvalue()}}
    made = _once(_client("lambda").create_function, **given, **code)
    if not made:
        _client("lambda").update_function_configuration(**given)
    for event in own.get("Events", {}).values():
        if made and event["Type"] == "SQS":
            asked = {"EventSourceArn": event["Properties"]["Queue"], "FunctionName": own["FunctionName"]}
            _client("lambda").create_event_source_mapping(**asked)


def _record(stack: Stack) -> None:
    """Record the stack with literal outputs; moto wants a resource."""
    outputs = {
        name: {"Value": stack.value(one["Value"])}
        for name, one in stack.template["Outputs"].items()
        if stack.holds(one.get("Condition"))
    }
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": f"{stack.name}-recorded"}}
    declared = {name: {"Type": "String"} for name in stack.given}
    body = {"Parameters": declared, "Resources": {"Recorded": topic}, "Outputs": outputs}
    parameters = [{"ParameterKey": key, "ParameterValue": one} for key, one in stack.given.items()]
    asked = {"StackName": stack.name, "TemplateBody": json.dumps(body), "Parameters": parameters}
    if not _once(_client("cloudformation").create_stack, **asked):
        _once(_client("cloudformation").update_stack, **asked)
    for name, one in outputs.items():
        sys.stdout.write(f"{name}\t{one['Value']}\n")


def delete(stack: Stack) -> None:
    """Delete all but the tables and the bucket, which template.yaml keeps."""
    for mapping in _client("lambda").list_event_source_mappings()["EventSourceMappings"]:
        if f":{stack.name}-" in mapping["FunctionArn"]:
            _client("lambda").delete_event_source_mapping(UUID=mapping["UUID"])
    for written in stack.made("AWS::Serverless::Function").values():
        _client("lambda").delete_function(FunctionName=stack.value(written["FunctionName"]))
    for name in stack.made("AWS::IAM::Role"):
        _client("iam").delete_role(RoleName=stack.value({"Ref": name}))
    for written in stack.made("AWS::SSM::Parameter").values():
        _client("ssm").delete_parameter(Name=stack.value(written["Name"]))
    for name in stack.made("AWS::SQS::Queue"):
        _client("sqs").delete_queue(QueueUrl=stack.value({"Ref": name}))
    for written in stack.made("AWS::Scheduler::ScheduleGroup").values():
        _client("scheduler").delete_schedule_group(Name=stack.value(written["Name"]))
    _client("cloudformation").delete_stack(StackName=stack.name)


def _once(make: Callable[..., object], **given: Any) -> bool:
    """Make a resource; return whether there was something to do."""
    try:
        make(**given)
    except ClientError as error:
        is_there = re.search("Exist|InUse|Conflict|AlreadyOwned", error.response["Error"]["Code"])
        if not is_there and "No updates" not in str(error):
            raise
        return False
    return True


def _client(name: str) -> Any:
    return boto3.client(name)


def _region() -> str:
    return os.environ["AWS_REGION"]


def _defaults(template: Json) -> Mapping[str, str]:
    return {name: str(one.get("Default", "")) for name, one in template["Parameters"].items()}


def main(words: Sequence[str]) -> None:
    """Run the command in the words of a person."""
    built = Path(".aws-sam/build/template.yaml")
    match words:
        case ["deploy", "--config-file", file]:
            given = tomllib.loads(Path(file).read_text())["default"]["deploy"]["parameters"]
            template = yaml_parse(built.read_text())
            parameters = dict(one.split("=", 1) for one in given["parameter_overrides"])
            deploy(Stack(given["stack_name"], template, {**_defaults(template), **parameters}))
        case ["delete", "--stack-name", name, "--region", _]:
            stack = _client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
            parameters = {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}
            delete(Stack(name, yaml_parse(built.read_text()), parameters))
        case _:
            program = ROOT / ".venv" / "sam" / "bin" / "sam"
            # `make` starts the Gofer that the company installed, not that of the tests.
            del os.environ["PYTHONPATH"]
            os.execv(program, [str(program), *words])


if __name__ == "__main__":
    main(sys.argv[1:])
