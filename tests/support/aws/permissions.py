"""The permissions that requests to AWS need: actions and resources as the policies of template.yaml name them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qs

_SIGNED = re.compile(r"Credential=([^/]+)/\d+/[a-z0-9-]+/([a-z0-9]+)/aws4_request")
_OF_OBJECTS = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "DELETE": "DeleteObject"}


@dataclass(frozen=True)
class Asked:
    """One permission that a request needs."""

    key: str
    """The access key that it was signed with."""
    action: str
    resource: str
    """As it is called there: `dynamodb:<table>/index/sweep`, `s3:<bucket>/blobs/…`, `sqs:<url>`, `ssm:<name>`,
    `scheduler:schedule/<group>/<name>`, `iam:<arn of a role>`."""


def permissions_of(environ: Mapping[str, Any], body: bytes) -> Iterator[Asked]:
    """Yield the permissions that a request needs, from its WSGI environment."""
    signed = _SIGNED.search(environ.get("HTTP_AUTHORIZATION", ""))
    if not signed:
        return
    key, service = signed.groups()
    if service == "s3":
        yield Asked(key, *_s3(environ))
        return
    if service == "scheduler":
        yield from (Asked(key, *one) for one in _scheduler(environ, body))
        return
    action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    told = json.loads(body) if action else {}
    if action == "TransactWriteItems":
        # There is no permission for transactions: each part needs its own.
        parts = [part for item in told["TransactItems"] for part in item.items()]
        for kind, part in parts:
            yield Asked(key, f"dynamodb:{kind}Item", f"dynamodb:{part['TableName']}")
        return
    match told:
        case {"RequestItems": dict(tables)}:
            resources = list(tables)
        case {"TableName": str(table)}:
            resources = [table + (f"/index/{told['IndexName']}" if "IndexName" in told else "")]
        case {"QueueUrl": str(name)} | {"Name": str(name)}:
            resources = [name]
        case {"Names": list(names)}:
            resources = names
        case _:
            resources = [""]
    # A batch of messages is no action of its own.
    named = action.removesuffix("Batch") if service == "sqs" else action
    for resource in resources:
        yield Asked(key, f"{service}:{named}", f"{service}:{resource}")


def _s3(environ: Mapping[str, Any]) -> tuple[str, str]:
    bucket, _, name = environ["PATH_INFO"].removeprefix("/").partition("/")
    if not name:
        several = "delete" in parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        return ("s3:DeleteObject", f"s3:{bucket}/blobs/") if several else ("s3:ListBucket", f"s3:{bucket}")
    method = environ["REQUEST_METHOD"]
    return f"s3:{_OF_OBJECTS.get(method, method)}", f"s3:{bucket}/{name}"


def _scheduler(environ: Mapping[str, Any], body: bytes) -> Iterator[tuple[str, str]]:
    told = json.loads(body) if body else {}
    _, kind, *names = environ["PATH_INFO"].split("/")
    action = {"POST": "Create", "PUT": "Update", "DELETE": "Delete"}.get(environ["REQUEST_METHOD"], "Get")
    if kind == "schedules" and not names:
        yield "scheduler:ListSchedules", "scheduler:schedule/*/*"
    elif kind == "schedules":
        group = told.get("GroupName") or parse_qs(environ["QUERY_STRING"])["groupName"][0]
        yield f"scheduler:{action}Schedule", f"scheduler:schedule/{group}/{names[0]}"
    if "Target" in told:
        yield "iam:PassRole", f"iam:{told['Target']['RoleArn']}"


def refused(asked: Asked, allowed: Mapping[str, set[str]], names: Mapping[str, str]) -> bool:
    """Return whether a policy refuses a permission; `names` maps resources to their names in the template."""
    known = next((name for name in sorted(names, key=len, reverse=True) if asked.resource.startswith(name)), "")
    spelled = names[known] + asked.resource.removeprefix(known) if known else asked.resource
    return not any(fnmatchcase(spelled, pattern) for pattern in allowed.get(asked.action, ()))
