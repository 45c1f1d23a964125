"""A deployed stage on moto: parameters, stores and a group of schedules."""

import itertools
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gofer.app.aws.bundles import S3BundleStore
from support.aws.moto_server import ASKED, REGION, MotoCloud, aws, client, server
from support.aws.permissions import refused
from support.aws.template import permissions, transformed
from support.stand_ins import SetClock

_numbers = itertools.count(1)
SCHEDULER = "arn:aws:iam::123456789012:role/scheduler"
OPERATOR = "operator"
"""The access key of the operator."""
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:gofer-schedule"


class Stage:
    """An empty stage with resources of its own."""

    def __init__(self, clock: SetClock) -> None:
        self.name = f"stage{next(_numbers)}"
        cloud = MotoCloud(clock)
        self.bucket, self.url, self.dead = cloud.bucket, cloud.url, cloud.dead
        self.table, self.store, self.blobs, self.queue = cloud.table, cloud.store, cloud.blobs, cloud.queue
        self.bundles = S3BundleStore(aws(), client("s3"), self.bucket)
        client("scheduler").create_schedule_group(Name=self.name)
        for name, value in self.variables.items():
            client("ssm").put_parameter(Name=f"/gofer/{self.name}/{name}", Value=value, Type="String")

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the environment variables that name the stage."""
        return {
            "GOFER_TABLE": self.table._name,
            "GOFER_KEYS_TABLE": self.table._keys,
            "GOFER_BUCKET": self.bucket,
            "GOFER_QUEUE_URL": self.url,
            "GOFER_DEAD_LETTER_URL": self.dead,
            "GOFER_SCHEDULE_GROUP": self.name,
            "GOFER_SCHEDULE_ROLE": SCHEDULER,
            "GOFER_SCHEDULE_TARGET": FUNCTION,
        }

    def refused(self, policy: str) -> Sequence[str]:
        """Return the requests of commands that a policy of template.yaml does not allow."""
        names = {
            f"dynamodb:{self.table._name}": "Table.Arn",
            f"dynamodb:{self.table._keys}": "KeysTable.Arn",
            f"s3:{self.bucket}": "Bucket.Arn",
            f"sqs:{self.url}": "Queue.Arn",
            f"sqs:{self.dead}": "DeadLetters.Arn",
            f"ssm:/gofer/{self.name}/": "ssm:parameter/gofer/Stage/",
            f"scheduler:schedule/{self.name}/": "scheduler:schedule/ScheduleGroup/",
            f"iam:{SCHEDULER}": "SchedulerRole.Arn",
        }
        asked = [one for one in ASKED if one.key == OPERATOR]
        return [f"{one.action} {one.resource}" for one in asked if refused(one, _allowed(policy), names)]

    def schedules(self) -> Mapping[str, Any]:
        """Return the schedules in EventBridge by workflow."""
        listed = client("scheduler").list_schedules(GroupName=self.name)["Schedules"]
        found = [client("scheduler").get_schedule(GroupName=self.name, Name=one["Name"]) for one in listed]
        return {json.loads(one["Target"]["Input"])["workflow"]: one for one in found}


@cache
def _allowed(policy: str) -> Mapping[str, set[str]]:
    cloud = transformed()
    cloud["Resources"]["Somebody"] = {"Properties": {"ManagedPolicyArns": [{"Ref": policy}]}}
    return permissions(cloud, "Somebody")


def sign_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Set up an operator's AWS profile, without the AWS configuration of this machine."""
    (folder / "credentials").write_text(f"[ops]\naws_access_key_id = {OPERATOR}\naws_secret_access_key = testing\n")
    (folder / "config").write_text(f"[profile ops]\nregion = {REGION}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server())
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
