"""template.yaml for tests: as written, as CloudFormation gets it, and the permissions of each function."""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "template.yaml"
Json = dict[str, Any]


@cache
def _written() -> Json:
    return yaml_parse(TEMPLATE.read_text())


def written() -> Json:
    """Return a copy of the template as written."""
    return copy.deepcopy(_written())


def transformed(template: Json | None = None, stage: str = "test", **parameters: str) -> Json:
    """Return a template as CloudFormation gets it; by default template.yaml of this repository."""
    if template is None:
        return json.loads(_transformed(stage, tuple(parameters.items())))
    return json.loads(_as_given(template, stage, parameters))


@cache
def _transformed(stage: str, parameters: tuple[tuple[str, str], ...]) -> str:
    return _as_given(written(), stage, dict(parameters))


def _as_given(source: Json, stage: str, parameters: Mapping[str, str]) -> str:
    source.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    for resource in source["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://artifacts/code.zip"
    values = {name: str(given.get("Default", "x")) for name, given in source["Parameters"].items()} | {"Stage": stage}
    values |= parameters
    session = boto3.Session(region_name="eu-west-1")
    made = Translator({}, Parser(), boto_session=session).translate(source, values)
    return json.dumps(made)


def of_type(template: Json, kind: str) -> dict[str, Json]:
    """Return the properties of all resources of one type by logical id."""
    resources = template["Resources"].items()
    return {name: resource.get("Properties", {}) for name, resource in resources if resource["Type"] == kind}


def mentions(value: object) -> set[str]:
    """Return every logical id that a value refers to."""
    found: set[str] = set()
    match value:
        case {"Ref": str(name)}:
            found.add(name)
        case {"Fn::GetAtt": [str(name), *_]}:
            found.add(name)
        case {"Fn::GetAtt": str(name)}:
            found.add(name.partition(".")[0])
        case {"Fn::Sub": str(text)}:
            found |= {name.partition(".")[0] for name in re.findall(r"\$\{([^}!]+)\}", text)}
        case dict():
            found = found.union(*map(mentions, value.values()))
        case list():
            found = found.union(*map(mentions, value))
        case _:
            pass
    return found


def spelled(value: object) -> str:
    """Return a value as one word: `Queue.Arn` for `{"Fn::GetAtt": ["Queue", "Arn"]}`.

    The table, the table of keys and the bucket have their logical ids, wherever the stack takes their names from.
    """
    match value:
        case {"Ref": str(name)}:
            return name
        case {"Fn::GetAtt": ["TableSetting" | "KeysTableSetting" | "BucketSetting" as setting, "Value"]}:
            return setting.removesuffix("Setting")
        case {"Fn::GetAtt": [*parts]}:
            return ".".join(map(str, parts))
        case {"Fn::Sub": str(text)}:
            text = re.sub(r"arn:\$\{AWS::Partition\}:(\w+):\$\{AWS::Region\}:\$\{AWS::AccountId\}:", r"\1:", text)
            text = re.sub(r"^dynamodb:table/\$\{(\w+)Setting\.Value\}", r"\1.Arn", text)
            text = re.sub(r"^arn:\$\{AWS::Partition\}:s3:::\$\{BucketSetting\.Value\}", "Bucket.Arn", text)
            return re.sub(r"\$\{([^}]+)\}", r"\1", text)
        case _:
            return str(value)


def listed(value: object) -> list[Any]:
    """Return a value as a list; a single value becomes a list of one."""
    return value if isinstance(value, list) else [value]


def documents(template: Json) -> Iterator[tuple[str, Json]]:
    """Yield every policy document of a template with the resource that contains it."""
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        for key in ("PolicyDocument", "AssumeRolePolicyDocument"):
            if key in properties:
                yield name, properties[key]
        for policy in properties.get("Policies", ()):
            yield name, policy["PolicyDocument"]


def permissions(template: Json, role: str) -> Mapping[str, set[str]]:
    """Return the permissions of a role: resources as words, by action."""
    resources = template["Resources"]
    properties = resources[role]["Properties"]
    attached = [spelled(policy) for policy in properties.get("ManagedPolicyArns", ())]
    found = [policy["PolicyDocument"] for policy in properties.get("Policies", ())]
    found += [resources[name]["Properties"]["PolicyDocument"] for name in attached]
    allowed: dict[str, set[str]] = {}
    for document in found:
        for statement in document["Statement"]:
            for action in listed(statement["Action"]):
                allowed.setdefault(action, set()).update(map(spelled, listed(statement["Resource"])))
    return allowed


MOTO_HAS_NOT = (
    *(
        "AWS::ApiGatewayV2::",
        "AWS::Scheduler::",
        "AWS::S3::BucketPolicy",
        "AWS::CloudWatch::Alarm",
        "AWS::SNS::TopicPolicy",
    ),
    "AWS::Lambda::EventInvokeConfig",
)


def for_moto(template: Json) -> Json:
    """Return a template that moto's CloudFormation can deploy: without unsupported resources and references to them.

    The event source mapping is removed too, because moto would call Docker; tests poll the queue themselves.
    """
    resources = template["Resources"]
    left_out = {name for name, resource in resources.items() if resource["Type"].startswith(MOTO_HAS_NOT)}
    left_out |= set(of_type(template, "AWS::Lambda::EventSourceMapping"))
    while also := {name for name, resource in resources.items() if mentions(resource) & left_out} - left_out:
        left_out |= also
    kept = {name: resource for name, resource in resources.items() if name not in left_out}
    # moto knows no attributes of parameters.
    text = re.sub(r'\{"Fn::GetAtt": \["(\w*(?:Table|Bucket))Setting", "Value"\]\}', r'{"Ref": "\1"}', json.dumps(kept))
    kept = json.loads(re.sub(r"\$\{(\w*(?:Table|Bucket))Setting\.Value\}", r"${\1}", text))
    return {**{key: value for key, value in template.items() if key != "Outputs"}, "Resources": kept}
