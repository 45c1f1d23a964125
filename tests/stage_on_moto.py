"""A stage on AWS as a deploy leaves it, on moto: parameters, stores and a group of schedules."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gofer.bootstrap.shelf import S3Shelf
from moto_cloud import REGION, MotoCloud, aws, client, server
from stand_ins import SetClock

_numbers = itertools.count(1)
SCHEDULER = "arn:aws:iam::123456789012:role/scheduler"
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:gofer-schedule"


class Stage:
    """A stage of its own, empty."""

    def __init__(self, clock: SetClock) -> None:
        self.name = f"stage{next(_numbers)}"
        cloud = MotoCloud(clock)
        self.bucket, self.url, self.dead = cloud.bucket, cloud.url, cloud.dead
        self.table, self.store, self.blobs, self.queue = cloud.table, cloud.store, cloud.blobs, cloud.queue
        self.shelf = S3Shelf(aws(), client("s3"), self.bucket)
        client("scheduler").create_schedule_group(Name=self.name)
        for name, value in self.variables.items():
            client("ssm").put_parameter(Name=f"/gofer/{self.name}/{name}", Value=value, Type="String")

    @property
    def variables(self) -> Mapping[str, str]:
        """What a deploy says of the stage."""
        return {
            "GOFER_TABLE": self.table._name,
            "GOFER_BUCKET": self.bucket,
            "GOFER_QUEUE_URL": self.url,
            "GOFER_DEAD_LETTER_URL": self.dead,
            "GOFER_SCHEDULE_GROUP": self.name,
            "GOFER_SCHEDULE_ROLE": SCHEDULER,
            "GOFER_SCHEDULE_TARGET": FUNCTION,
        }

    def schedules(self) -> Mapping[str, Any]:
        """The schedules that stand in EventBridge, by the workflow each is for."""
        listed = client("scheduler").list_schedules(GroupName=self.name)["Schedules"]
        found = [client("scheduler").get_schedule(GroupName=self.name, Name=one["Name"]) for one in listed]
        return {json.loads(one["Target"]["Input"])["workflow"]: one for one in found}


def sign_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """An operator's terminal: a profile in AWS' own configuration, and nothing else of this machine."""
    (folder / "credentials").write_text("[ops]\naws_access_key_id = testing\naws_secret_access_key = testing\n")
    (folder / "config").write_text(f"[profile ops]\nregion = {REGION}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", server())
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
