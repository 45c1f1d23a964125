"""The boundary of the stack's roles: it allows all that template.yaml needs, and no role can be made without it."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest
from cfnlint.api import ManualArgs, lint_file
from samtranslator.yaml_helper import yaml_parse

from support.aws.template import ROOT, Json, listed, of_type, permissions, spelled, transformed

GITHUB = ROOT / "deploy" / "github.yaml"
CLOUD = transformed()
DEPLOY: Json = yaml_parse(GITHUB.read_text())
PSEUDO = {"Partition": "aws", "Region": "eu-west-1", "AccountId": "123456789012", "StackName": "gofer-test-github"}
PREFIXES = {
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:eu-west-1:123456789012:table/gofer-test-{}-1A2B",
    "AWS::SQS::Queue": "arn:aws:sqs:eu-west-1:123456789012:gofer-test-{}-1A2B",
    "AWS::S3::Bucket": "arn:aws:s3:::gofer-test-bucket-1a2b",
    "AWS::IAM::Role": "arn:aws:iam::123456789012:role/gofer-test-{}-1A2B",
    "AWS::Lambda::Function": "arn:aws:lambda:eu-west-1:123456789012:function:gofer-test-{}",
}
"""The ARNs that CloudFormation gives to the resources of the stack `gofer-test`."""


def filled(text: str) -> str:
    """Return a text of `Fn::Sub` with the values of the stage `test`."""
    text = text.replace("${Stage}", "test")
    return re.sub(r"\$\{AWS::(\w+)\}", lambda found: PSEUDO[found[1]], text)


def arn_of(resource: str) -> str:
    """Return the ARN of a resource as `spelled` writes it: `Table.Arn/index/sweep` or `ssm:parameter/...`."""
    name, _, rest = resource.partition(".Arn")
    if name in CLOUD["Resources"]:
        kind = CLOUD["Resources"][name]["Type"]
        if kind == "AWS::Logs::LogGroup":
            group = filled(CLOUD["Resources"][name]["Properties"]["LogGroupName"]["Fn::Sub"])
            return f"arn:aws:logs:eu-west-1:123456789012:log-group:{group}:*"
        return PREFIXES[kind].format(name) + rest
    service, _, path = resource.partition(":")
    path = path.replace("ScheduleGroup", "gofer-test").replace("/Stage", "/test")
    return f"arn:aws:{service}:eu-west-1:123456789012:{path}"


def allowed_by_boundary(action: str, arn: str) -> bool:
    statements = DEPLOY["Resources"]["Boundary"]["Properties"]["PolicyDocument"]["Statement"]
    return any(
        action in listed(statement["Action"])
        and any(fnmatchcase(arn, filled(one["Fn::Sub"])) for one in listed(statement["Resource"]))
        for statement in statements
    )


def needed() -> Iterator[tuple[str, str, str]]:
    """Yield the role, action and ARN of each permission of the template's roles."""
    for role in of_type(CLOUD, "AWS::IAM::Role"):
        for action, resources in permissions(CLOUD, role).items():
            for resource in sorted(resources):
                yield role, action, arn_of(resource)


def test_boundary_allows_every_permission_of_each_role_of_the_template() -> None:
    asked = list(needed())
    assert len(asked) > 100
    assert [one for one in asked if not allowed_by_boundary(*one[1:])] == []


@pytest.mark.parametrize(
    ("action", "arn"),
    [
        ("iam:CreateUser", "arn:aws:iam::123456789012:user/x"),
        ("iam:PassRole", "arn:aws:iam::123456789012:role/admin"),
        ("dynamodb:DeleteTable", "arn:aws:dynamodb:eu-west-1:123456789012:table/gofer-test-Table-1A2B"),
        ("dynamodb:GetItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/gofer-prod-Table-1A2B"),
        ("ssm:GetParameter", "arn:aws:ssm:eu-west-1:123456789012:parameter/gofer/prod/SLACK_BOT_TOKEN"),
        ("sts:AssumeRole", "arn:aws:iam::123456789012:role/gofer-test-WorkerRole-1A2B"),
    ],
)
def test_boundary_refuses_other_stages_administration_and_other_roles(action: str, arn: str) -> None:
    assert not allowed_by_boundary(action, arn)


def test_each_role_of_the_template_has_the_boundary() -> None:
    given = {
        name: properties.get("PermissionsBoundary") for name, properties in of_type(CLOUD, "AWS::IAM::Role").items()
    }
    expected = {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundary"}, {"Ref": "AWS::NoValue"}]}
    assert {name for name, boundary in given.items() if boundary != expected} == set()


GIVES = {"iam:AttachRolePolicy", "iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"}
"""The actions that give a role permissions, or its boundary."""


def test_stack_role_gives_permissions_only_to_roles_with_the_boundary() -> None:
    (policy,) = DEPLOY["Resources"]["StackRole"]["Properties"]["Policies"]
    statements = policy["PolicyDocument"]["Statement"]
    giving = [one for one in statements if one["Effect"] == "Allow" and GIVES & set(listed(one["Action"]))]
    assert [one["Condition"] for one in giving] == [{"StringEquals": {"iam:PermissionsBoundary": {"Ref": "Boundary"}}}]
    assert set(listed(giving[0]["Action"])) >= GIVES
    every = {action for one in statements if one["Effect"] == "Allow" for action in listed(one["Action"])}
    assert not {action for action in every if action in ("*", "iam:*") or "DeleteRolePermissionsBoundary" in action}


def test_stack_role_changes_neither_itself_nor_the_boundary() -> None:
    (policy,) = DEPLOY["Resources"]["StackRole"]["Properties"]["Policies"]
    (denied,) = [one for one in policy["PolicyDocument"]["Statement"] if one["Effect"] == "Deny"]
    patterns = [filled(one["Fn::Sub"]) for one in denied["Resource"]]
    assert (denied["Action"], "Condition" in denied) == ("iam:*", False)
    for own in ("role/gofer-test-github-StackRole-1A", "role/gofer-test-github-DeployRole-1A"):
        assert any(fnmatchcase(f"arn:aws:iam::123456789012:{own}", pattern) for pattern in patterns)
    boundary = "arn:aws:iam::123456789012:policy/gofer-test-github-Boundary-1A"
    assert any(fnmatchcase(boundary, pattern) for pattern in patterns)
    # The stack's own roles and policies stay changeable.
    assert not any(fnmatchcase(PREFIXES["AWS::IAM::Role"].format("WorkerRole"), pattern) for pattern in patterns)


def test_deploy_template_passes_the_linter() -> None:
    found = lint_file(GITHUB, ManualArgs(regions=["eu-west-1"]))
    assert list(map(str, found)) == []
    assert spelled(DEPLOY["Outputs"]["BoundaryArn"]["Value"]) == "Boundary"
